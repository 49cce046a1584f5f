/**
 * Strings as WTF-8: UTF-8 in which a lone surrogate takes three bytes, so every JavaScript string survives. Byte order
 * is code point order.
 */
import { readByteString, shortString } from './bytes.ts'

/** No UTF-16 unit takes more bytes. */
export const BYTES_PER_UNIT_MAX = 3

/** Writes a text. Returns the position after it. The caller has made room: `BYTES_PER_UNIT_MAX` for each unit. */
export function writeText(bytes: Uint8Array, at: number, text: string): number {
  const length = text.length
  for (let i = 0; i < length; i++) {
    let code = text.charCodeAt(i)
    if (code < 0x80) {
      bytes[at++] = code
      continue
    }
    if (code < 0x800) {
      bytes[at++] = 0xc0 | (code >>> 6)
    } else {
      const low = (code & 0xfc00) === 0xd800 && i + 1 < length ? text.charCodeAt(i + 1) : 0
      if ((low & 0xfc00) === 0xdc00) {
        i++
        code = 0x10000 + ((code & 0x3ff) << 10) + (low & 0x3ff)
        bytes[at++] = 0xf0 | (code >>> 18)
        bytes[at++] = 0x80 | ((code >>> 12) & 63)
      } else {
        bytes[at++] = 0xe0 | (code >>> 12)
      }
      bytes[at++] = 0x80 | ((code >>> 6) & 63)
    }
    bytes[at++] = 0x80 | (code & 63)
  }
  return at
}

const UNITS_PER_CALL = 1024
const UNITS_SHORT_MAX = 64
const units = new Uint16Array(UNITS_PER_CALL + 1)

/** The text from `start` to `end`. A character that is cut off at the end is left out; other damage gives some text. */
export function readText(bytes: Uint8Array, start: number, end: number): string {
  let text = ''
  let count = 0
  for (let at = start; at < end;) {
    const byte = bytes[at]!
    const size = byte < 0xc0 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4
    if (at + size > end) break
    if (size === 1) {
      units[count++] = byte
    } else if (size === 2) {
      units[count++] = ((byte & 31) << 6) | (bytes[at + 1]! & 63)
    } else if (size === 3) {
      units[count++] = ((byte & 15) << 12) | ((bytes[at + 1]! & 63) << 6) | (bytes[at + 2]! & 63)
    } else {
      const code =
        (((byte & 7) << 18) | ((bytes[at + 1]! & 63) << 12) | ((bytes[at + 2]! & 63) << 6) | (bytes[at + 3]! & 63)) -
        0x10000
      units[count++] = 0xd800 | (code >>> 10)
      units[count++] = 0xdc00 | (code & 0x3ff)
    }
    at += size
    if (count >= UNITS_PER_CALL) {
      text += unitsToString(count)
      count = 0
    }
  }
  return text + unitsToString(count)
}

function unitsToString(count: number): string {
  if (count <= UNITS_SHORT_MAX) return shortString(units, 0, count)
  return String.fromCharCode.apply(null, units.subarray(0, count) as unknown as number[])
}

let scratch = new Uint8Array(1024)

/** The text as a byte string. */
export function textToByteString(text: string): string {
  const bytesMax = text.length * BYTES_PER_UNIT_MAX
  if (scratch.length < bytesMax) scratch = new Uint8Array(bytesMax)
  return readByteString(scratch, 0, writeText(scratch, 0, text))
}

/** The text that a byte string holds; as `readText`. */
export function byteStringToText(byteString: string): string {
  const { length } = byteString
  if (scratch.length < length) scratch = new Uint8Array(length)
  for (let i = 0; i < length; i++) scratch[i] = byteString.charCodeAt(i)
  return readText(scratch, 0, length)
}
