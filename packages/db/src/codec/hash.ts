/**
 * Hashes of content, which name revisions. The function is MurmurHash3 x86 128 (Austin Appleby, public domain;
 * https://github.com/aappleby/smhasher/blob/master/src/MurmurHash3.cpp). It is not cryptographic.
 */
import { ByteReader } from './bytes.ts'
import { rotate } from './checksum.ts'
import { LOCAL_SHAPE, readShapeNames, type Shape, type ShapeDictionary } from './shape.ts'

export const HASH_BYTES = 16

/** Views of larger buffers are not kept. */
const VIEWED_BYTES_MAX: number = 1024 * 1024

const C1 = 0x239b961b
const C2 = 0xab0e9789
const C3 = 0x38b34ae5
const C4 = 0xa1e38b93

/**
 * Takes bytes in pieces, which hash like their concatenation.
 *
 * @example
 * hash.reset()
 * hash.update(parent)
 * hash.update(bytes, start, end)
 * hash.digest(revision, 0)
 */
export class Hash128 {
  #h1 = 0
  #h2 = 0
  #h3 = 0
  #h4 = 0
  #length = 0
  /** The bytes of a block that is not whole yet; what lies beyond them means nothing. */
  readonly #tail = new Uint8Array(HASH_BYTES)
  readonly #tailView = new DataView(this.#tail.buffer)
  /** A view of the buffer hashed last. Documents that are written together share one buffer. */
  #view: DataView = this.#tailView

  reset(seed: number = 0): void {
    this.#h1 = this.#h2 = this.#h3 = this.#h4 = seed | 0
    this.#length = 0
  }

  update(bytes: Uint8Array, start: number = 0, end: number = bytes.length): void {
    const tail = this.#tail
    let at = start
    let filled = this.#length % HASH_BYTES
    this.#length += end - start
    if (filled > 0) {
      while (filled < HASH_BYTES && at < end) tail[filled++] = bytes[at++]!
      if (filled < HASH_BYTES) return
      this.#blocks(this.#tailView, 0, HASH_BYTES)
    }
    const whole = end - ((end - at) % HASH_BYTES)
    if (at < whole) {
      const { buffer, byteOffset } = bytes
      if (this.#view.buffer !== buffer) this.#view = new DataView(buffer)
      this.#blocks(this.#view, byteOffset + at, byteOffset + whole)
      // A large document must not keep its memory.
      if (buffer.byteLength > VIEWED_BYTES_MAX) this.#view = this.#tailView
    }
    for (let i = whole; i < end; i++) tail[i - whole] = bytes[i]!
  }

  /** Writes `HASH_BYTES` bytes. Keeps its state, so more may follow. */
  digest(target: Uint8Array, at: number = 0): void {
    const tail = this.#tail
    const words = this.#tailView
    const length = this.#length
    // Missing bytes are zero, and mixing in a zero word changes nothing.
    for (let at = length % HASH_BYTES; at < HASH_BYTES; at++) tail[at] = 0
    let h1 = this.#h1 ^ mix(words.getInt32(0, true), C1, 15, C2) ^ length
    let h2 = this.#h2 ^ mix(words.getInt32(4, true), C2, 16, C3) ^ length
    let h3 = this.#h3 ^ mix(words.getInt32(8, true), C3, 17, C4) ^ length
    let h4 = this.#h4 ^ mix(words.getInt32(12, true), C4, 18, C1) ^ length
    h1 = (h1 + h2 + h3 + h4) | 0
    h2 = finish((h2 + h1) | 0)
    h3 = finish((h3 + h1) | 0)
    h4 = finish((h4 + h1) | 0)
    h1 = finish(h1)
    h1 = (h1 + h2 + h3 + h4) | 0
    writeWord(target, at, h1)
    writeWord(target, at + 4, h2 + h1)
    writeWord(target, at + 8, h3 + h1)
    writeWord(target, at + 12, h4 + h1)
  }

  #blocks(view: DataView, start: number, end: number): void {
    let h1 = this.#h1
    let h2 = this.#h2
    let h3 = this.#h3
    let h4 = this.#h4
    for (let at = start; at < end; at += HASH_BYTES) {
      h1 ^= mix(view.getInt32(at, true), C1, 15, C2)
      h1 = (Math.imul((rotate(h1, 19) + h2) | 0, 5) + 0x561ccd1b) | 0
      h2 ^= mix(view.getInt32(at + 4, true), C2, 16, C3)
      h2 = (Math.imul((rotate(h2, 17) + h3) | 0, 5) + 0x0bcaa747) | 0
      h3 ^= mix(view.getInt32(at + 8, true), C3, 17, C4)
      h3 = (Math.imul((rotate(h3, 15) + h4) | 0, 5) + 0x96cd1c35) | 0
      h4 ^= mix(view.getInt32(at + 12, true), C4, 18, C1)
      h4 = (Math.imul((rotate(h4, 13) + h1) | 0, 5) + 0x32ac3b17) | 0
    }
    this.#h1 = h1
    this.#h2 = h2
    this.#h3 = h3
    this.#h4 = h4
  }
}

/** The hash of one piece. */
export function hash128(bytes: Uint8Array, start: number = 0, end: number = bytes.length): Uint8Array {
  const target = new Uint8Array(HASH_BYTES)
  shared.reset()
  shared.update(bytes, start, end)
  shared.digest(target)
  return target
}

const shared: Hash128 = new Hash128()

function mix(word: number, before: number, bits: number, after: number): number {
  return Math.imul(rotate(Math.imul(word, before), bits), after)
}

function finish(value: number): number {
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b)
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35)
  return value ^ (value >>> 16)
}

function writeWord(bytes: Uint8Array, at: number, word: number): void {
  bytes[at] = word
  bytes[at + 1] = word >>> 8
  bytes[at + 2] = word >>> 16
  bytes[at + 3] = word >>> 24
}

/**
 * Hashes a document's content: the names in each shape and the stream. So equal content (with fields in equal order)
 * has an equal hash, whatever the dictionary.
 */
export function hashContent(
  hash: Hash128,
  bytes: Uint8Array,
  start: number,
  end: number,
  shapes: ShapeDictionary,
): void {
  // Most documents are of one shape, whose number is small.
  const only = bytes[start] === 1 && start + 1 < end ? bytes[start + 1]! - 1 : LOCAL_SHAPE
  if (only !== LOCAL_SHAPE && only < 127) {
    hash.update(hashOf(shapes.get(only)))
    hash.update(bytes, start + 2, end)
    return
  }
  const header = new ByteReader(bytes, start, end)
  for (let count = header.varint(); count > 0; count--) {
    const id = header.varint() - 1
    if (id === LOCAL_SHAPE) {
      const { at } = header
      readShapeNames(header)
      hash.update(hash128(bytes, at, header.at))
    } else hash.update(hashOf(shapes.get(id)))
  }
  hash.update(bytes, header.at, end)
}

function hashOf(shape: Shape): Uint8Array {
  return (shape.hash ??= hash128(shape.encoded))
}
