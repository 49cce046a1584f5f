/** Buffers, varints, byte strings, number keys, text, and the two hashes against their published test vectors. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Key } from '../../src/base/brand.ts'
import {
  byteStringOf,
  ByteReader,
  ByteWriter,
  readByteString,
  varintBytes,
  writeVarint,
} from '../../src/codec/bytes.ts'
import { checksum } from '../../src/codec/checksum.ts'
import { hash128, Hash128, HASH_BYTES } from '../../src/codec/hash.ts'
import { toHex } from '../../src/codec/bytes.ts'
import { KEY_NUMBER_BYTES, KEY_NUMBER_MAX, keyNumber, numberKey } from '../../src/codec/key-encoding.ts'
import { byteStringToText, readText, textToByteString, writeText } from '../../src/codec/text.ts'
import { nastyString } from './json-arbitrary.ts'

const corrupt = expect.objectContaining({ code: 'PANNIER_CORRUPT' })

describe('bytes', () => {
  test('varints up to 2^53 - 1', () => {
    const boundaries = Array.from({ length: 54 }, (_, power) => [2 ** power - 1, 2 ** power])
      .flat()
      .filter(Number.isSafeInteger)
    for (const value of boundaries) {
      const bytes = new Uint8Array(8)
      const end = writeVarint(bytes, 0, value)
      expect(end).toBe(varintBytes(value))
      expect(new ByteReader(bytes, 0, end).varint()).toBe(value)
    }
    fc.assert(
      fc.property(fc.array(fc.maxSafeInteger().map(Math.abs)), (values) => {
        const writer = new ByteWriter(0)
        for (const value of values) writer.varint(value)
        const reader = new ByteReader(writer.finish())
        expect(values.map(() => reader.varint())).toEqual(values)
        expect(reader.done).toBe(true)
      }),
    )
    expect(() => new ByteReader(new Uint8Array(20).fill(255)).varint()).toThrow(corrupt)
  })

  test('what a writer wrote a reader reads, and never more', () => {
    const writer = new ByteWriter(1)
    const blob = Uint8Array.from({ length: 5000 }, (_, i) => i)
    writer.u8(200)
    writer.u16(65535)
    writer.u32(4294967295)
    writer.byteString('\0\xff')
    writer.raw(blob)
    writer.byteString(readByteString(blob, 0, blob.length))
    const reader = new ByteReader(writer.finish())
    expect([reader.u8(), reader.u16(), reader.u32(), byteStringOf(reader, 2)]).toEqual([
      200,
      65535,
      4294967295,
      '\0\xff',
    ])
    expect(reader.raw(5000)).toEqual(blob)
    expect(byteStringOf(reader, 5000)).toBe(Array.from(blob, (byte) => String.fromCharCode(byte)).join(''))
    expect(reader.done).toBe(true)
    for (const read of [() => reader.u8(), () => reader.u32(), () => reader.varint(), () => reader.raw(1)])
      expect(read).toThrow(corrupt)
    expect(() => new ByteReader(blob, 0, 3).u32()).toThrow(corrupt)
  })
})

test('number keys keep the order of numbers', () => {
  const number = fc.oneof(
    fc.nat(),
    fc.integer({ min: 0, max: KEY_NUMBER_MAX }),
    fc.constantFrom(0, 0xffffff, 0x1000000, KEY_NUMBER_MAX),
  )
  fc.assert(
    fc.property(number, number, (a, b) => {
      expect(numberKey(a).length).toBe(KEY_NUMBER_BYTES)
      expect(keyNumber(`prefix${numberKey(a)}` as Key)).toBe(a)
      expect(numberKey(a) < numberKey(b)).toBe(a < b)
    }),
  )
  expect(() => numberKey(KEY_NUMBER_MAX + 1)).toThrow()
  expect(() => numberKey(-1)).toThrow()
})

describe('text', () => {
  test('is UTF-8 where that can say it, and exact where not', () => {
    fc.assert(
      fc.property(nastyString, (text) => {
        const bytes = new Uint8Array(text.length * 3)
        const end = writeText(bytes, 0, text)
        if (text.isWellFormed()) expect(bytes.subarray(0, end)).toEqual(new TextEncoder().encode(text))
        expect(readText(bytes, 0, end)).toBe(text)
        expect(byteStringToText(textToByteString(text))).toBe(text)
      }),
    )
    const long = 'aé€😀\ud800'.repeat(1000)
    expect(byteStringToText(textToByteString(long))).toBe(long)
  })

  test('a character that is cut off is left out', () => {
    for (const char of ['é', '€', '😀']) {
      const bytes = new TextEncoder().encode(`ab${char}`)
      for (let end = 3; end < bytes.length; end++) expect(readText(bytes, 0, end)).toBe('ab')
    }
  })
})

/** The way of SMHasher to say in 32 bits that a hash is right for every length up to 255. */
function verificationValue(bytesOut: number, hash: (bytes: Uint8Array, seed: number) => Uint8Array): number {
  const input = new Uint8Array(256)
  const hashes = new Uint8Array(256 * bytesOut)
  for (let i = 0; i < 256; i++) {
    input[i] = i
    hashes.set(hash(input.subarray(0, i), 256 - i), i * bytesOut)
  }
  return new DataView(hash(hashes, 0).buffer).getUint32(0, true)
}

describe('checksum', () => {
  const text = (value: string) => new TextEncoder().encode(value)

  test('is xxHash32', () => {
    expect(checksum(text(''))).toBe(0x02cc5d05)
    expect(checksum(text('a'))).toBe(0x550d7456)
    expect(checksum(text('abc'))).toBe(0x32d153ff)
    expect(checksum(text('Nobody inspects the spammish repetition'))).toBe(0xe2293b2f)
    const value = verificationValue(
      4,
      (bytes, seed) => new Uint8Array(Uint32Array.of(checksum(bytes, 0, bytes.length, seed)).buffer),
    )
    expect(value).toBe(0xba88b743)
  })

  test('does not depend on where the bytes lie', () => {
    const bytes = Uint8Array.from({ length: 3000 }, (_, i) => i * 7)
    for (let offset = 0; offset < 9; offset++) {
      const buffer = new Uint8Array(3020)
      buffer.set(bytes, offset)
      for (const length of [0, 3, 16, 100, 299, 1023, 1024, 2999]) {
        expect(checksum(buffer, offset, offset + length)).toBe(checksum(bytes, 0, length))
        expect(checksum(buffer.subarray(offset, offset + length))).toBe(checksum(bytes, 0, length))
      }
    }
  })
})

describe('hash128', () => {
  const hash = (bytes: Uint8Array, seed: number): Uint8Array => {
    const hasher = new Hash128()
    const target = new Uint8Array(HASH_BYTES)
    hasher.reset(seed)
    hasher.update(bytes)
    hasher.digest(target)
    return target
  }

  test('is MurmurHash3 x86 128', () => {
    expect(verificationValue(HASH_BYTES, hash)).toBe(0xb3ece62a)
    expect(toHex(hash128(new Uint8Array()))).toBe('0'.repeat(32))
    expect(toHex(Uint8Array.of(0, 15, 255))).toBe('000fff')
  })

  test('pieces hash like the whole', () => {
    const hasher = new Hash128()
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 40 })), (pieces) => {
        const whole = Uint8Array.from(pieces.flatMap((piece) => [...piece]))
        const target = new Uint8Array(HASH_BYTES + 1)
        hasher.reset()
        for (const piece of pieces) hasher.update(piece)
        hasher.digest(target, 1)
        expect(toHex(target, 1)).toBe(toHex(hash128(whole)))
      }),
    )
  })
})
