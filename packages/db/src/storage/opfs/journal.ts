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
 */
import { corruptBytes, readU32, writeU32 } from '../../codec/bytes.ts'
import { checksum } from '../../codec/checksum.ts'
import { readRange, type RawFile } from './raw-file.ts'

const BASE = 1
export const APPEND = 2
export const COMMIT = 3
export const HEADER = 4
export const REPLACE = 5

export interface Frame {
  readonly kind: number
  readonly body: Uint8Array
  /** Of the body in the file. */
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
  /** The next frame is written here. */
  end = 0
  /** The end of the base. */
  baseEnd = 0
  #salt = 0
  #flushed = 0
  /** What the file held when it was recovered. */
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

  /** After `recover` of the journal that is to go on: looks at what is behind its end. Changes nothing. */
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
   * After `checkEnd`, before anything is written: what is behind the end goes, durably, as it may hold frames that would fit in again;
   * and what a process that was killed has written may not be flushed yet; from now on it counts.
   */
  resume(): void {
    if (this.#isTorn) this.file.truncate(this.end)
    this.flush()
  }

  /** Replaces whatever the file holds by a base, durably. It is nobody's while this goes on. */
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

  /** Sees to it that there is room for a frame; whatever else fails, nothing has been written then. */
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
