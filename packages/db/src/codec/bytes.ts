/**
 * Growing byte buffers and variable-length integers.
 *
 * Unsigned integers are LEB128: seven bits a byte, low first, the top bit says that more follow; up to 2^53 - 1.
 */
import { PannierError } from '../base/errors.ts'

const INITIAL_BYTES = 256

/** Appends to a buffer that grows. `bytes` is only valid up to `length`. */
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
    this.bytes[this.length++] = value & 255
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

  byteString(count: number): string {
    const at = this.advance(count)
    return readByteString(this.bytes, at, at + count)
  }

  get done(): boolean {
    return this.at >= this.end
  }

  private advance(count: number): number {
    const at = this.at
    if (at + count > this.end) throw corruptBytes('a record ends too early')
    this.at = at + count
    return at
  }
}

export function corruptBytes(what: string): PannierError {
  return new PannierError('PANNIER_CORRUPT', `The database is damaged: ${what}.`)
}

/** Returns the position after it. The caller has made room (8 bytes suffice). */
export function writeVarint(bytes: Uint8Array, at: number, value: number): number {
  while (value >= 128) {
    bytes[at++] = (value % 128) | 128
    value = Math.floor(value / 128)
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

export function writeU32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value & 255
  bytes[at + 1] = (value >>> 8) & 255
  bytes[at + 2] = (value >>> 16) & 255
  bytes[at + 3] = value >>> 24
}

export function readU32(bytes: Uint8Array, at: number): number {
  return (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> 0
}

/** Longest run handed to `String.fromCharCode` at once: the argument list lives on the stack. */
const CHARS_PER_CALL = 4096

/** The bytes from `start` to `end` as a byte string. */
export function readByteString(bytes: Uint8Array, start: number, end: number): string {
  if (end - start <= CHARS_PER_CALL) return String.fromCharCode.apply(null, bytes.subarray(start, end) as unknown as number[])
  let text = ''
  for (let at = start; at < end; at += CHARS_PER_CALL) {
    text += readByteString(bytes, at, Math.min(end, at + CHARS_PER_CALL))
  }
  return text
}
