/**
 * Growing byte buffers and variable-length integers.
 *
 * Unsigned integers are LEB128: seven bits a byte, low first, up to 2^53 - 1. The top bit means that more bytes follow.
 */
import { PannierError } from '../base/errors.ts'

const INITIAL_BYTES = 256

/** A writer appends to a buffer that grows. `bytes` is only valid up to `length`. */
export class ByteWriter {
  bytes: Uint8Array
  length = 0

  constructor(capacity: number = INITIAL_BYTES) {
    this.bytes = new Uint8Array(capacity)
  }

  /** Makes room for `count` more bytes. */
  reserve(count: number): void {
    const needed = this.length + count
    if (needed <= this.bytes.length) return
    const grown = new Uint8Array(Math.max(needed, this.bytes.length * 2))
    grown.set(this.bytes.subarray(0, this.length))
    this.bytes = grown
  }

  u8(value: number): void {
    this.reserve(1)
    this.bytes[this.length++] = value
  }

  u16(value: number): void {
    this.reserve(2)
    this.bytes[this.length++] = value
    this.bytes[this.length++] = value >>> 8
  }

  u32(value: number): void {
    this.reserve(4)
    writeU32(this.bytes, this.length, value)
    this.length += 4
  }

  varint(value: number): void {
    this.reserve(8)
    this.length = writeVarint(this.bytes, this.length, value)
  }

  raw(source: Uint8Array): void {
    this.reserve(source.length)
    this.bytes.set(source, this.length)
    this.length += source.length
  }

  /** A byte string: each char is one byte. */
  byteString(source: string): void {
    this.reserve(source.length)
    const { bytes } = this
    let at = this.length
    for (let i = 0; i < source.length; i++) bytes[at++] = source.charCodeAt(i)
    this.length = at
  }

  put(source: Bytes): void {
    if (typeof source === 'string') this.byteString(source)
    else this.raw(source)
  }

  /** A copy of what was written. */
  finish(): Uint8Array {
    return this.bytes.slice(0, this.length)
  }
}

/** Reads what a ByteWriter wrote; running past the end is corruption. */
export class ByteReader {
  readonly bytes: Uint8Array
  readonly end: number
  at: number

  constructor(bytes: Uint8Array, at: number = 0, end: number = bytes.length) {
    this.bytes = bytes
    this.at = at
    this.end = end
  }

  u8(): number {
    return this.bytes[this.advance(1)]!
  }

  u16(): number {
    const at = this.advance(2)
    return this.bytes[at]! | (this.bytes[at + 1]! << 8)
  }

  u32(): number {
    return readU32(this.bytes, this.advance(4))
  }

  varint(): number {
    // Most are small, and logs and pages are full of them.
    const first = this.bytes[this.at]!
    if (first < 128 && this.at < this.end) {
      this.at++
      return first
    }
    let value = 0
    let scale = 1
    for (let count = 0; count < 8; count++) {
      const byte = this.u8()
      value += (byte & 127) * scale
      if (byte < 128) return value
      scale *= 128
    }
    throw corruptBytes('a number does not end')
  }

  /** A view, not a copy. */
  raw(count: number): Uint8Array {
    const at = this.advance(count)
    return this.bytes.subarray(at, at + count)
  }

  get done(): boolean {
    return this.at >= this.end
  }

  /** Goes behind the next bytes, and gives where they begin. */
  advance(count: number): number {
    const at = this.at
    if (at + count > this.end) throw corruptBytes('a record ends too early')
    this.at = at + count
    return at
  }
}

/** The next bytes as a byte string. No method, so that who reads none need not load how it is done. */
export function byteStringOf(reader: ByteReader, count: number): string {
  const at = reader.advance(count)
  return readByteString(reader.bytes, at, at + count)
}

/** Some bytes. Short ones take far less memory as a byte string (each char one byte) than as an array. */
export type Bytes = Uint8Array | string

/** The bytes as an array. */
export function asArray(bytes: Bytes): Uint8Array {
  if (typeof bytes !== 'string') return bytes
  const array = new Uint8Array(bytes.length)
  for (let i = 0; i < bytes.length; i++) array[i] = bytes.charCodeAt(i)
  return array
}

export function corruptBytes(what: string): PannierError {
  return new PannierError('PANNIER_CORRUPT', `The database is damaged: ${what}.`)
}

/** Writes a number. Returns the position after it. The caller has made room (8 bytes suffice). */
export function writeVarint(bytes: Uint8Array, at: number, value: number): number {
  while (value > 0x7fffffff) {
    bytes[at++] = value | 128
    value = Math.floor(value / 128)
  }
  while (value >= 128) {
    bytes[at++] = value | 128
    value >>>= 7
  }
  bytes[at++] = value
  return at
}

export function varintBytes(value: number): number {
  let count = 1
  while (value >= 128) {
    value = Math.floor(value / 128)
    count++
  }
  return count
}

/** How many leading bytes two byte strings have in common; `most` are looked at. */
export function sharedPrefixLength(a: string, b: string, most: number = Infinity): number {
  const limit = Math.min(a.length, b.length, most)
  let length = 0
  while (length < limit && a.charCodeAt(length) === b.charCodeAt(length)) length++
  return length
}

/** An array keeps the lowest eight bits of what it is given. */
export function writeU32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value
  bytes[at + 1] = value >>> 8
  bytes[at + 2] = value >>> 16
  bytes[at + 3] = value >>> 24
}

export function readU32(bytes: Uint8Array, at: number): number {
  return (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> 0
}

/** Longest run handed to `String.fromCharCode` at once: the argument list lives on the stack. */
const CHARS_PER_CALL = 4096
/** Up to this number of chars, eight at a time are faster than one call for all, whose arguments are first spread. */
const SHORT_CHARS_MAX = 64

/** The slice of Node's own, where there is Node. */
const latin1Slice: ((this: Uint8Array, start: number, end: number) => string) | undefined = (
  globalThis as { Buffer?: { prototype: { latin1Slice?: (start: number, end: number) => string } } }
).Buffer?.prototype.latin1Slice

/** The bytes from `start` to `end` as a byte string. Keys are read by it: very hot. */
export function readByteString(bytes: Uint8Array, start: number, end: number): string {
  return end - start <= SHORT_CHARS_MAX ? shortString(bytes, start, end) : longByteString(bytes, start, end)
}

function longByteString(bytes: Uint8Array, start: number, end: number): string {
  if (latin1Slice !== undefined) return latin1Slice.call(bytes, start, end)
  let text = ''
  for (let at = start; at < end; at += CHARS_PER_CALL) {
    text += String.fromCharCode.apply(
      null,
      bytes.subarray(at, Math.min(end, at + CHARS_PER_CALL)) as unknown as number[],
    )
  }
  return text
}

/** Whether it is Node: calls into the engine's own code are cheap there. */
export const isNode: boolean = latin1Slice !== undefined

/** Undefined until the first text, false in Node, and in Expo, whose decoder knows UTF-8 alone. */
let latin1: TextDecoder | false | undefined = isNode ? false : undefined

/** The bytes as a text, a char for each, which is right only where they are ASCII: faster for long runs in browsers. */
export function readAscii(bytes: Uint8Array): string {
  try {
    latin1 ??= new TextDecoder('latin1')
  } catch {
    latin1 = false
  }
  return latin1 ? latin1.decode(bytes) : longByteString(bytes, 0, bytes.length)
}

/** The units as a string, one char each; made for few. */
export function shortString(units: Uint8Array | Uint16Array, start: number, end: number): string {
  let text = ''
  let at = start
  for (; at + 8 <= end; at += 8) {
    text += String.fromCharCode(
      units[at]!,
      units[at + 1]!,
      units[at + 2]!,
      units[at + 3]!,
      units[at + 4]!,
      units[at + 5]!,
      units[at + 6]!,
      units[at + 7]!,
    )
  }
  if (at + 4 <= end) {
    text += String.fromCharCode(units[at]!, units[at + 1]!, units[at + 2]!, units[at + 3]!)
    at += 4
  }
  for (; at < end; at++) text += String.fromCharCode(units[at]!)
  return text
}

/** Two digits for each byte. */
export const HEX: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** Two lower-case digits a byte. */
export function toHex(bytes: Uint8Array, start: number = 0, end: number = bytes.length): string {
  let text = ''
  for (let at = start; at < end; at++) text += HEX[bytes[at]!]
  return text
}

/** The bytes that the first digits stand for. */
export function fromHex(digits: string, count: number): Uint8Array {
  return Uint8Array.from({ length: count }, (_, at) => Number.parseInt(digits.slice(2 * at, 2 * at + 2), 16))
}

/** True if both are there and equal, or neither is there. Not in constant time: not for secrets. */
export function sameBytes(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  if (a === undefined || b === undefined) return a === b
  if (a.length !== b.length) return false
  // A loop: `every` takes ten times as long.
  for (let at = 0; at < a.length; at++) if (a[at] !== b[at]) return false
  return true
}

/** Typed arrays, which JSON does not know, as arrays of numbers: for `JSON.stringify`. */
export function plainArrays(_name: string, value: unknown): unknown {
  return ArrayBuffer.isView(value) ? Array.from(value as Uint8Array) : value
}

/** Whether there is one in a value. To replace every value would be several times slower than this look. */
export function holdsTypedArray(value: object): boolean {
  if (ArrayBuffer.isView(value)) return true
  for (const name in value) {
    const inner = (value as Record<string, unknown>)[name]
    if (typeof inner === 'object' && inner !== null && holdsTypedArray(inner)) return true
  }
  return false
}
