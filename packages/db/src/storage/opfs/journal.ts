/**
 * One file of records (frames), of which the first is the base: the whole state of a database, to which the others add.
 *
 *     0  u32  checksum (xxHash32) of the bytes from 4 to the end of the body
 *     4  u32  bytes of the body
 *     8  u32  magic, kind in its lowest byte
 *    12  u32  up to here the file was known to be flushed when this frame was written
 *    16       body, then zeros up to a multiple of 8
 *
 * The checksum is seeded with the place of the frame and, but for the base, with the checksum of the base; so what an earlier
 * life of the file has left behind is never taken for a frame.
 *
 * Reading ends at the first frame that is not whole. That is the end of the journal if what follows was never flushed: power was lost,
 * or a process died while it wrote. But a frame behind it that says that this place had been flushed proves that it was whole
 * once: PANNIER_CORRUPT.
 *
 * What the frames of a journal hold. Numbers are varints, and so is the length before each run of bytes; of what is not there the
 * length is 0.
 *
 * - base: version, epoch (of two journals that with the higher one counts), identity (16 bytes), a change that leads from nothing
 *   to the state, keyring, then as a commit
 * - commit: a change, log seal (if it is another one), the number of records, for each its sequence, bytes
 * - append: log seal (if it is another one), sequence, then the record to the end
 * - keyring: the keyring
 * - replacement: a change that puts pages that exist elsewhere
 * - a change: generation (0: the meta record is not changed), sequence, meta record; pages that are put: count, then for each its
 *   id (less that of the one before, less 1), block, bytes; pages that are freed: count, ids likewise
 */
import { corruptBytes, readU32, writeU32, type ByteReader, ByteWriter } from '../../codec/bytes.ts'
import { checksum } from '../../codec/checksum.ts'
import { readRange, type RawFile } from './access-files.ts'
import type { CommitSequence, Generation, PageId } from '../../base/brand.ts'
import type { LogRecord, MetaRecord } from '../page-store.ts'
import type { Extent } from './block-map.ts'

const BASE = 1
export const APPEND = 2
export const COMMIT = 3
export const KEYRING = 4
export const REPLACE = 5

export interface Frame {
  readonly kind: number
  readonly body: Uint8Array
  /** The position of the body in the file. */
  readonly at: number
}

/** Where the body of a frame begins. */
export const FRAME_BYTES = 16
const MAGIC = 0x504a7200
const ALIGNMENT = 8

/** Room that is kept for small frames when there is no other: deletions, and commits that give room back. */
const RESERVE_BYTES = 256 * 1024
/** Frames up to this size may use it: those of deletions, a thousand at a time. */
const RESERVED_FRAME_BYTES_MAX = 64 * 1024
/** The file grows by so much beyond what is needed. */
const GROWTH_BYTES = 256 * 1024

export class Journal {
  readonly file: RawFile
  /** The end: the next frame is written here. */
  end = 0
  /** The end of the base. */
  baseEnd = 0
  #salt = 0
  #flushed = 0
  /** The content of the file when it was recovered. */
  #found: Uint8Array | undefined
  /** There is something behind the end. */
  #isTorn = false

  constructor(file: RawFile) {
    this.file = file
  }

  /** The frames that are whole, the base first; none where there is no whole base. Changes nothing. */
  recover(): Frame[] {
    const { file } = this
    const bytes = readRange(file, 0, file.size())
    const frames: Frame[] = []
    this.end = this.#salt = this.#flushed = 0
    for (;;) {
      const frame = this.#frameAt(bytes, this.end)
      if (frame === undefined || (frame.kind === BASE) !== (this.end === 0)) break
      frames.push(frame)
      if (this.end === 0) this.#salt = readU32(bytes, 0) | 1
      this.end = align(frame.at + frame.body.length)
      if (frames.length === 1) this.baseEnd = this.end
    }
    this.#found = bytes
    return frames
  }

  /** After `recover` of the current journal: looks at what is behind its end. Changes nothing. */
  checkEnd(): void {
    const bytes = this.#found!
    this.#found = undefined
    // By words, as most of a file is the reserve, and no engine has compiled this yet. Fewer bytes than a word are no frame.
    const words = new Int32Array(bytes.buffer, 0, bytes.length >>> 2)
    let end = words.length
    while (end * 4 > this.end && words[end - 1] === 0) end--
    this.#isTorn = end * 4 > this.end
    for (let at = this.end; at < end * 4; at += ALIGNMENT) {
      if (this.#frameAt(bytes, at) !== undefined && readU32(bytes, at + 12) > this.end)
        throw corruptBytes(`what was flushed to the journal at ${this.end} is not there`)
    }
  }

  /**
   * After `checkEnd`, before any write. Durably cuts what is behind the end, because it may hold frames that would fit
   * in again. Flushes what a killed process has written: from now on it counts.
   */
  resume(): void {
    if (this.#isTorn) this.file.truncate(this.end)
    this.flush()
  }

  /** Durably replaces the content of the file by a base. Nobody else uses it meanwhile. */
  begin(body: Uint8Array): void {
    this.end = this.#salt = this.#flushed = 0
    const frame = this.#frame(BASE, body)
    this.file.truncate(0)
    this.file.write(frame, 0)
    this.file.flush()
    this.#salt = readU32(frame, 0) | 1
    this.end = this.baseEnd = this.#flushed = frame.length
    try {
      this.file.truncate(this.end + RESERVE_BYTES + GROWTH_BYTES)
    } catch {
      // Without a reserve, for now.
    }
  }

  /** Gives the place of the body in the file. */
  append(kind: number, body: Uint8Array): number {
    const frame = this.#frame(kind, body)
    this.file.write(frame, this.end)
    const at = this.end + FRAME_BYTES
    this.end += frame.length
    return at
  }

  /** Ensures room for a frame; if it fails, nothing has been written. */
  makeRoom(bodyBytes: number): void {
    const end = this.end + align(FRAME_BYTES + bodyBytes)
    const size = this.file.size()
    if (end + RESERVE_BYTES <= size) return
    try {
      this.file.truncate(end + RESERVE_BYTES + GROWTH_BYTES)
    } catch (error) {
      if (end > size || bodyBytes > RESERVED_FRAME_BYTES_MAX) throw error
    }
  }

  flush(): void {
    this.file.flush()
    this.#flushed = this.end
  }

  /** Makes it a file that holds nothing, durably. */
  clear(): void {
    this.file.truncate(0)
    this.file.flush()
  }

  #frame(kind: number, body: Uint8Array): Uint8Array {
    const bytes = new Uint8Array(align(FRAME_BYTES + body.length))
    writeU32(bytes, 4, body.length)
    writeU32(bytes, 8, MAGIC | kind)
    writeU32(bytes, 12, this.#flushed)
    bytes.set(body, FRAME_BYTES)
    writeU32(bytes, 0, checksum(bytes, 4, FRAME_BYTES + body.length, this.#salt + this.end))
    return bytes
  }

  #frameAt(bytes: Uint8Array, at: number): Frame | undefined {
    if (at + FRAME_BYTES > bytes.length || (readU32(bytes, at + 8) & ~255) !== MAGIC) return undefined
    const end = at + FRAME_BYTES + readU32(bytes, at + 4)
    if (end > bytes.length || checksum(bytes, at + 4, end, this.#salt + at) !== readU32(bytes, at)) return undefined
    return { kind: bytes[at + 8]!, body: bytes.subarray(at + FRAME_BYTES, end), at: at + FRAME_BYTES }
  }
}

function align(bytes: number): number {
  return Math.ceil(bytes / ALIGNMENT) * ALIGNMENT
}

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
  readonly keyring: Uint8Array | undefined
}

/** Records of the log, and the log seal if it is another one. */
export interface LogEnd {
  readonly logSeal: Uint8Array | undefined
  readonly records: readonly LogRecord[]
}

export function encodeBase(base: Base, end: LogEnd): Uint8Array {
  const writer = new ByteWriter()
  writer.varint(FILE_VERSION)
  writer.varint(base.epoch)
  writer.raw(base.identity)
  writeChange(writer, base)
  writeBytes(writer, base.keyring)
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

export function encodeAppend({ sequence, bytes }: LogRecord, logSeal: Uint8Array | undefined): Uint8Array {
  const writer = new ByteWriter(bytes.length + (logSeal?.length ?? 0) + 16)
  writeBytes(writer, logSeal)
  writer.varint(sequence)
  writer.raw(bytes)
  return writer.finish()
}

/** The version is looked at first, and by the caller: of a newer one nothing else is known. */
export function decodeBase(reader: ByteReader): Base {
  const epoch = reader.varint()
  const identity = reader.raw(IDENTITY_BYTES).slice()
  return { epoch, identity, ...readChange(reader), keyring: readBytes(reader) }
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

function writeEnd(writer: ByteWriter, { logSeal, records }: LogEnd): void {
  writeBytes(writer, logSeal)
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

/** Undefined for an empty field. */
export function readBytes(reader: ByteReader): Uint8Array | undefined {
  const length = reader.varint()
  return length === 0 ? undefined : reader.raw(length).slice()
}
