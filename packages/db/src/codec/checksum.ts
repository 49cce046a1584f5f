/**
 * xxHash32 (Yann Collet, https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md), the checksum of pages and log
 * records. It detects damage; it does not authenticate.
 */
import { readU32 } from './bytes.ts'

const PRIME_1 = 0x9e3779b1
const PRIME_2 = 0x85ebca77
const PRIME_3 = 0xc2b2ae3d
const PRIME_4 = 0x27d4eb2f
const PRIME_5 = 0x165667b1

/** Words of memory are those of the algorithm. */
const isLittleEndian = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1

/**
 * The 32-bit checksum of `bytes` from `start` to `end`, as an unsigned integer. The loop is written out, and over words instead of
 * a DataView: thousands of pages are checked before an engine has compiled it well.
 */
export function checksum(bytes: Uint8Array, start: number = 0, end: number = bytes.length, seed: number = 0): number {
  const length = end - start
  let at = start
  let hash: number
  if (length >= 16) {
    const words = wordsOf(bytes, start, (length >>> 4) * 4)
    let a = (seed + PRIME_1 + PRIME_2) | 0
    let b = (seed + PRIME_2) | 0
    let c = seed | 0
    let d = (seed - PRIME_1) | 0
    for (let word = 0; word < words.length; word += 4) {
      a = (a + Math.imul(words[word]!, PRIME_2)) | 0
      a = Math.imul((a << 13) | (a >>> 19), PRIME_1)
      b = (b + Math.imul(words[word + 1]!, PRIME_2)) | 0
      b = Math.imul((b << 13) | (b >>> 19), PRIME_1)
      c = (c + Math.imul(words[word + 2]!, PRIME_2)) | 0
      c = Math.imul((c << 13) | (c >>> 19), PRIME_1)
      d = (d + Math.imul(words[word + 3]!, PRIME_2)) | 0
      d = Math.imul((d << 13) | (d >>> 19), PRIME_1)
    }
    hash = (rotate(a, 1) + rotate(b, 7) + rotate(c, 12) + rotate(d, 18)) | 0
    at += words.length * 4
  } else {
    hash = (seed + PRIME_5) | 0
  }
  hash = (hash + length) | 0
  for (; at + 4 <= end; at += 4) {
    hash = Math.imul(rotate((hash + Math.imul(readU32(bytes, at), PRIME_3)) | 0, 17), PRIME_4)
  }
  for (; at < end; at++) {
    hash = Math.imul(rotate((hash + Math.imul(bytes[at]!, PRIME_5)) | 0, 11), PRIME_1)
  }
  hash = Math.imul(hash ^ (hash >>> 15), PRIME_2)
  hash = Math.imul(hash ^ (hash >>> 13), PRIME_3)
  return (hash ^ (hash >>> 16)) >>> 0
}

/** A view where they stand at a multiple of four in memory, as those of pages and log records do; else a copy. */
function wordsOf(bytes: Uint8Array, start: number, count: number): Int32Array {
  const from = bytes.byteOffset + start
  if (!isLittleEndian) return Int32Array.from({ length: count }, (_, word) => readU32(bytes, start + word * 4))
  if (from % 4 === 0) return new Int32Array(bytes.buffer, from, count)
  return new Int32Array(new Uint8Array(bytes.subarray(start, start + count * 4)).buffer)
}

export function rotate(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits))
}
