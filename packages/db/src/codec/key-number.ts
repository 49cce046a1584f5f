/**
 * Numbers as fixed-width, order-preserving keys or key suffixes: 6 bytes, big-endian.
 */
import { assert } from '../base/assert.ts'
import type { Key } from '../base/brand.ts'

export const KEY_NUMBER_BYTES = 6
export const KEY_NUMBER_MAX: number = 2 ** 48 - 1

/** 0 <= n <= KEY_NUMBER_MAX. */
export function numberKey(n: number): Key {
  assert(n >= 0 && n <= KEY_NUMBER_MAX, 'number key out of range')
  const high = Math.floor(n / 0x1000000)
  const low = n % 0x1000000
  return String.fromCharCode(
    (high >>> 16) & 255,
    (high >>> 8) & 255,
    high & 255,
    (low >>> 16) & 255,
    (low >>> 8) & 255,
    low & 255,
  ) as Key
}

/** As `numberKey`, as char codes at a place of a longer key. */
export function putNumber(codes: number[], at: number, n: number): void {
  const high = Math.floor(n / 0x1000000)
  const low = n % 0x1000000
  codes[at] = (high >>> 16) & 255
  codes[at + 1] = (high >>> 8) & 255
  codes[at + 2] = high & 255
  codes[at + 3] = (low >>> 16) & 255
  codes[at + 4] = (low >>> 8) & 255
  codes[at + 5] = low & 255
}

/** The number in the last six bytes of a key. */
export function keyNumber(key: Key): number {
  const end = key.length
  const high = (key.charCodeAt(end - 6) << 16) | (key.charCodeAt(end - 5) << 8) | key.charCodeAt(end - 4)
  const low = (key.charCodeAt(end - 3) << 16) | (key.charCodeAt(end - 2) << 8) | key.charCodeAt(end - 1)
  return high * 0x1000000 + low
}
