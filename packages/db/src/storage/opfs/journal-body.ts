/**
 * What the frames of a journal hold. Numbers are varints.
 *
 * - the base: version, epoch (of two journals that with the higher one counts), identity (16 bytes), a change that leads from
 *   nothing to the state, header (its bytes and one more, or 0), records of the log: count, then for each its sequence, bytes
 * - a commit: a change, the number of records that come with it (0 or 1), for each its sequence, bytes
 * - an append: sequence, then the record
 * - a header: the header
 * - a change: generation, sequence, meta record; pages that are new: count, then for each its id (less that of the one before,
 *   less 1), block, bytes; pages that are freed: count, ids likewise
 */
import type { CommitSequence, Generation, PageId } from '../../base/brand.ts'
import { ByteReader, ByteWriter } from '../../codec/bytes.ts'
import type { MetaRecord } from '../page-store.ts'
import type { Extent } from './block-map.ts'

export const FILE_VERSION = 1
const IDENTITY_BYTES = 16

/** A part of the log, in the journal. */
export interface PlacedRecord {
  readonly sequence: CommitSequence
  readonly at: number
  readonly length: number
}

export interface Change {
  /** Undefined where nothing was ever committed. */
  readonly meta: MetaRecord | undefined
  readonly placed: Iterable<readonly [PageId, Extent]>
  readonly freed: readonly PageId[]
}

export interface Base extends Change {
  readonly epoch: number
  readonly identity: Uint8Array
  readonly header: Uint8Array | undefined
}

export type RecordBytes = readonly (readonly [sequence: number, bytes: Uint8Array])[]

export function encodeBase(base: Base, records: RecordBytes): Uint8Array {
  const writer = new ByteWriter()
  writer.varint(FILE_VERSION)
  writer.varint(base.epoch)
  writer.raw(base.identity)
  writeChange(writer, base)
  writer.varint(base.header === undefined ? 0 : base.header.length + 1)
  if (base.header !== undefined) writer.raw(base.header)
  writeRecords(writer, records)
  return writer.finish()
}

export function encodeCommit(change: Change, records: RecordBytes): Uint8Array {
  const writer = new ByteWriter()
  writeChange(writer, change)
  writeRecords(writer, records)
  return writer.finish()
}

export function encodeAppend(sequence: number, bytes: Uint8Array): Uint8Array {
  const writer = new ByteWriter(bytes.length + 8)
  writer.varint(sequence)
  writer.raw(bytes)
  return writer.finish()
}

/** The version is looked at first, and by the caller: of a newer one nothing else is known. */
export function decodeBase(reader: ByteReader): Base {
  const epoch = reader.varint()
  const identity = reader.raw(IDENTITY_BYTES).slice()
  const change = readChange(reader)
  const headerBytes = reader.varint()
  const header = headerBytes === 0 ? undefined : reader.raw(headerBytes - 1).slice()
  return { ...change, epoch, identity, header }
}

export function readChange(reader: ByteReader): Change {
  const generation = reader.varint() as Generation
  const sequence = reader.varint() as CommitSequence
  const bytes = reader.raw(reader.varint()).slice()
  const placed: [PageId, Extent][] = []
  readIds(reader, (id) => placed.push([id, { block: reader.varint(), length: reader.varint() }]))
  const freed: PageId[] = []
  readIds(reader, (id) => freed.push(id))
  return { meta: generation === 0 ? undefined : { generation, sequence, bytes }, placed, freed }
}

/** The records at the reader; `at` is where what it reads stands in the journal. */
export function readRecords(reader: ByteReader, at: number): PlacedRecord[] {
  return Array.from({ length: reader.varint() }, () => {
    const sequence = reader.varint() as CommitSequence
    const length = reader.varint()
    const placed = { sequence, at: at + reader.at, length }
    reader.raw(length)
    return placed
  })
}

function writeChange(writer: ByteWriter, { meta, placed, freed }: Change): void {
  writer.varint(meta?.generation ?? 0)
  writer.varint(meta?.sequence ?? 0)
  writer.varint(meta?.bytes.length ?? 0)
  if (meta !== undefined) writer.raw(meta.bytes)
  const pages = [...placed].sort(([a], [b]) => a - b)
  let before = -1
  const writeId = (id: number): void => {
    writer.varint(id - before - 1)
    before = id
  }
  writer.varint(pages.length)
  for (const [id, { block, length }] of pages) {
    writeId(id)
    writer.varint(block)
    writer.varint(length)
  }
  before = -1
  writer.varint(freed.length)
  for (const id of freed.toSorted((a, b) => a - b)) writeId(id)
}

function readIds(reader: ByteReader, take: (id: PageId) => void): void {
  let id = -1
  for (let count = reader.varint(); count > 0; count--) take((id += reader.varint() + 1) as PageId)
}

function writeRecords(writer: ByteWriter, records: RecordBytes): void {
  writer.varint(records.length)
  for (const [sequence, bytes] of records) {
    writer.varint(sequence)
    writer.varint(bytes.length)
    writer.raw(bytes)
  }
}
