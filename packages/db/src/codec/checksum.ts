/**
 * xxHash32 (Yann Collet, https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md), the checksum of pages and log
 * records. It detects damage; it does not authenticate.
 */
const PRIME_1 = 0x9e3779b1
const PRIME_2 = 0x85ebca77
const PRIME_3 = 0xc2b2ae3d
const PRIME_4 = 0x27d4eb2f
const PRIME_5 = 0x165667b1

/** Words of memory are those of the algorithm. Where they are not, blocks are read through a DataView. */
const isLittleEndian = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1

/** Fewer are not worth an array of words. */
const WORDS_BLOCKS_MIN = 64

/** The 32-bit checksum of `bytes` from `start` to `end`, as an unsigned integer. */
export function checksum(bytes: Uint8Array, start: number = 0, end: number = bytes.length, seed: number = 0): number {
  const length = end - start
  let at = start
  let hash: number
  if (length >= 16) {
    const blocks = length >>> 4
    const asWords = blocks >= WORDS_BLOCKS_MIN && isLittleEndian && (bytes.byteOffset + start) % 4 === 0
    hash = asWords ? hashWords(bytes, start, blocks, seed) : hashBytes(bytes, start, blocks, seed)
    at += blocks * 16
  } else {
    hash = (seed + PRIME_5) | 0
  }
  hash = (hash + length) | 0
  for (; at + 4 <= end; at += 4) {
    const word = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)
    hash = Math.imul(rotate((hash + Math.imul(word, PRIME_3)) | 0, 17), PRIME_4)
  }
  for (; at < end; at++) {
    hash = Math.imul(rotate((hash + Math.imul(bytes[at]!, PRIME_5)) | 0, 11), PRIME_1)
  }
  hash = Math.imul(hash ^ (hash >>> 15), PRIME_2)
  hash = Math.imul(hash ^ (hash >>> 13), PRIME_3)
  return (hash ^ (hash >>> 16)) >>> 0
}

/**
 * Blocks of 16 bytes that stand at a multiple of four in memory, as pages do. Written out, and over words instead of a
 * DataView: thousands of pages are checked before an engine has compiled any of this well.
 */
function hashWords(bytes: Uint8Array, start: number, blocks: number, seed: number): number {
  const words = new Int32Array(bytes.buffer, bytes.byteOffset + start, blocks * 4)
  let a = (seed + PRIME_1 + PRIME_2) | 0
  let b = (seed + PRIME_2) | 0
  let c = seed | 0
  let d = (seed - PRIME_1) | 0
  for (let at = 0; at < words.length; at += 4) {
    a = (a + Math.imul(words[at]!, PRIME_2)) | 0
    a = Math.imul((a << 13) | (a >>> 19), PRIME_1)
    b = (b + Math.imul(words[at + 1]!, PRIME_2)) | 0
    b = Math.imul((b << 13) | (b >>> 19), PRIME_1)
    c = (c + Math.imul(words[at + 2]!, PRIME_2)) | 0
    c = Math.imul((c << 13) | (c >>> 19), PRIME_1)
    d = (d + Math.imul(words[at + 3]!, PRIME_2)) | 0
    d = Math.imul((d << 13) | (d >>> 19), PRIME_1)
  }
  return merge(a, b, c, d)
}

/** The same, wherever they stand. */
function hashBytes(bytes: Uint8Array, start: number, blocks: number, seed: number): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let a = (seed + PRIME_1 + PRIME_2) | 0
  let b = (seed + PRIME_2) | 0
  let c = seed | 0
  let d = (seed - PRIME_1) | 0
  const end = start + blocks * 16
  for (let at = start; at < end; at += 16) {
    a = round(a, view.getInt32(at, true))
    b = round(b, view.getInt32(at + 4, true))
    c = round(c, view.getInt32(at + 8, true))
    d = round(d, view.getInt32(at + 12, true))
  }
  return merge(a, b, c, d)
}

function merge(a: number, b: number, c: number, d: number): number {
  return (rotate(a, 1) + rotate(b, 7) + rotate(c, 12) + rotate(d, 18)) | 0
}

function round(lane: number, word: number): number {
  return Math.imul(rotate((lane + Math.imul(word, PRIME_2)) | 0, 13), PRIME_1)
}

function rotate(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits))
}
