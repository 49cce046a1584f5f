/**
 * What the frames of a journal hold. Numbers are varints, and so is the length before each run of bytes; of what is not there the
 * length is 0.
 *
 * - base: version, epoch (of two journals that with the higher one counts), identity (16 bytes), a change that leads from nothing
 *   to the state, header, then as a commit
 * - commit: a change, head (if it is another one), the number of records, for each its sequence, bytes
 * - append: head (if it is another one), sequence, then the record to the end
 * - header: the header
 * - replacement: a change that puts pages that exist elsewhere
 * - a change: generation (0: the meta record is not changed), sequence, meta record; pages that are put: count, then for each its
 *   id (less that of the one before, less 1), block, bytes; pages that are freed: count, ids likewise
 */
import type { CommitSequence, Generation, PageId } from '../../base/brand.ts'
import { type ByteReader, ByteWriter } from '../../codec/bytes.ts'
import type { LogRecord, MetaRecord } from '../page-store.ts'
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
  /** Undefined where it is not changed. */
  readonly meta: MetaRecord | undefined
  readonly placed: Iterable<readonly [PageId, Extent]>
  readonly freed: readonly PageId[]
}

interface Base extends Change {
  readonly epoch: number
  readonly identity: Uint8Array
  readonly header: Uint8Array | undefined
}

/** Records of the log, and the head if it is another one. */
export interface LogEnd {
  readonly head: Uint8Array | undefined
  readonly records: readonly LogRecord[]
}

export function encodeBase(base: Base, end: LogEnd): Uint8Array {
  const writer = new ByteWriter()
  writer.varint(FILE_VERSION)
  writer.varint(base.epoch)
  writer.raw(base.identity)
  writeChange(writer, base)
  writeBytes(writer, base.header)
  writeEnd(writer, end)
  return writer.finish()
}

export function encodeCommit(change: Change, end: LogEnd): Uint8Array {
  const writer = new ByteWriter()
  writeChange(writer, change)
  writeEnd(writer, end)
  return writer.finish()
}

export function encodeReplacement(change: Change): Uint8Array {
  const writer = new ByteWriter()
  writeChange(writer, change)
  return writer.finish()
}

export function encodeAppend({ sequence, bytes }: LogRecord, head: Uint8Array | undefined): Uint8Array {
  const writer = new ByteWriter(bytes.length + (head?.length ?? 0) + 16)
  writeBytes(writer, head)
  writer.varint(sequence)
  writer.raw(bytes)
  return writer.finish()
}

/** The version is looked at first, and by the caller: of a newer one nothing else is known. */
export function decodeBase(reader: ByteReader): Base {
  const epoch = reader.varint()
  const identity = reader.raw(IDENTITY_BYTES).slice()
  return { epoch, identity, ...readChange(reader), header: readBytes(reader) }
}

export function readChange(reader: ByteReader): Change {
  const generation = reader.varint() as Generation
  const sequence = reader.varint() as CommitSequence
  const bytes = readBytes(reader) ?? new Uint8Array(0)
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
  writeBytes(writer, meta?.bytes)
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

function writeEnd(writer: ByteWriter, { head, records }: LogEnd): void {
  writeBytes(writer, head)
  writer.varint(records.length)
  for (const { sequence, bytes } of records) {
    writer.varint(sequence)
    writeBytes(writer, bytes)
  }
}

function writeBytes(writer: ByteWriter, bytes: Uint8Array | undefined): void {
  writer.varint(bytes?.length ?? 0)
  if (bytes !== undefined) writer.raw(bytes)
}

/** Undefined where there are none. */
export function readBytes(reader: ByteReader): Uint8Array | undefined {
  const length = reader.varint()
  return length === 0 ? undefined : reader.raw(length).slice()
}
