/** Goal: chance gives no bytes twice, whatever is asked. */
import { expect, test } from 'vitest'
import { systemEnvironment } from '../../src/database/lifecycle/environment.ts'
import { toHex } from '../../src/codec/bytes.ts'

test('random bytes have the length that was asked for, and none comes twice', () => {
  const { randomBytes, randomId } = systemEnvironment()
  const given = Array.from({ length: 2000 }, (_, n) => randomBytes([16, 1000, 4096, 5000, 33][n % 5]!))
  expect(given.slice(0, 5).map(({ length }) => length)).toEqual([16, 1000, 4096, 5000, 33])
  const parts = given.flatMap((bytes) =>
    Array.from({ length: Math.floor(bytes.length / 16) }, (_, n) => toHex(bytes.subarray(n * 16, n * 16 + 16))),
  )
  expect(new Set(parts).size).toBe(parts.length)
  expect(given.every(({ buffer, length }) => buffer.byteLength === length)).toBe(true)
  expect(randomBytes(0)).toHaveLength(0)
  expect(randomId()).toMatch(/^[0-9a-f]{32}$/)
})
