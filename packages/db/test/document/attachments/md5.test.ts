import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { Md5 } from '../../../src/document/attachments/md5.ts'
import { seededRandom } from '../../../testing/random.ts'

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
const md5 = (text: string): string => hex(new Md5().update(new TextEncoder().encode(text)).digest())

test('the vectors of RFC 1321', () => {
  expect(md5('')).toBe('d41d8cd98f00b204e9800998ecf8427e')
  expect(md5('a')).toBe('0cc175b9c0f1b6a831c399e269772661')
  expect(md5('abc')).toBe('900150983cd24fb0d6963f7d28e17f72')
  expect(md5('message digest')).toBe('f96b697d7cb7938d525a2f31aaf161d0')
  expect(md5('abcdefghijklmnopqrstuvwxyz')).toBe('c3fcd3d76192e4007dfb496cca67e13b')
  expect(md5('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789')).toBe('d174ab98d277d9f5a5611c2c9f419d9f')
  expect(md5('1234567890'.repeat(8))).toBe('57edf4a22be3c955ac49da2e2107b67a')
})

test('every length up to three blocks, in pieces of every size, and from the midst of a buffer', () => {
  const random = seededRandom(1)
  const bytes = Uint8Array.from({ length: 400 }, () => random.below(256))
  for (let length = 0; length <= 200; length++) {
    const start = random.below(100)
    const part = bytes.subarray(start, start + length)
    const expected = createHash('md5').update(part).digest('hex')
    const whole = new Md5().update(part)
    const pieces = new Md5()
    for (let at = 0, size = 0; at < length; at += size) {
      size = random.below(90)
      pieces.update(part.subarray(at, at + size))
    }
    expect(hex(whole.digest())).toBe(expected)
    expect(hex(pieces.digest())).toBe(expected)
  }
})

test('a megabyte', () => {
  const bytes = new Uint8Array(1024 * 1024 + 17).map((_, at) => at * 7)
  expect(hex(new Md5().update(bytes).digest())).toBe(createHash('md5').update(bytes).digest('hex'))
})
