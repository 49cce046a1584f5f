/**
 * xxHash32 (Yann Collet, https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md), the checksum of pages and log
 * records. It detects damage; it does not authenticate.
 */
const PRIME_1 = 0x9e3779b1
const PRIME_2 = 0x85ebca77
const PRIME_3 = 0xc2b2ae3d
const PRIME_4 = 0x27d4eb2f
const PRIME_5 = 0x165667b1

/** The 32-bit checksum of `bytes` from `start` to `end`, as an unsigned integer. */
export function checksum(bytes: Uint8Array, start: number = 0, end: number = bytes.length, seed: number = 0): number {
  const length = end - start
  let at = start
  let hash: number
  if (length >= 16) {
    let a = (seed + PRIME_1 + PRIME_2) | 0
    let b = (seed + PRIME_2) | 0
    let c = seed | 0
    let d = (seed - PRIME_1) | 0
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    for (const stop = end - 16; at <= stop; at += 16) {
      a = round(a, view.getInt32(at, true))
      b = round(b, view.getInt32(at + 4, true))
      c = round(c, view.getInt32(at + 8, true))
      d = round(d, view.getInt32(at + 12, true))
    }
    hash = (rotate(a, 1) + rotate(b, 7) + rotate(c, 12) + rotate(d, 18)) | 0
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

function round(lane: number, word: number): number {
  return Math.imul(rotate((lane + Math.imul(word, PRIME_2)) | 0, 13), PRIME_1)
}

function rotate(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits))
}
