/** Goal: an archive fails with the error of what it is made of, at whatever byte that comes, and nothing else fails. */
import type { Database } from 'pannier'
import { expect, test } from 'vitest'
import { archiveOf, type Databases } from '../../src/backups/archive.ts'
import { handedStream } from '../../src/gateway/handed-stream.ts'

const WRONG = new Error('Page 90 is damaged.')
const SOURCE = new Uint8Array(300).fill(7)

/** A database whose snapshot fails after some bytes. */
function failingAfter(bytes: number): Database {
  async function* snapshot(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < SOURCE.length; at++) {
      if (at === bytes) throw WRONG
      yield SOURCE.subarray(at, at + 1)
    }
    if (bytes === SOURCE.length) throw WRONG
  }
  return { snapshot } as unknown as Database
}

async function bytesOf(databases: Databases): Promise<number> {
  let bytes = 0
  for await (const piece of archiveOf(databases, new Date(0))) bytes += piece.length
  return bytes
}

test('an archive fails with the error of its first database, at each byte', async () => {
  const whole = failingAfter(Infinity)
  for (let at = 0; at <= SOURCE.length; at += 20)
    await expect(bytesOf({ 'data.db': failingAfter(at), 'auxiliary.db': whole })).rejects.toBe(WRONG)
})

test('an archive fails with the error of its last database, at each byte', async () => {
  const whole = failingAfter(Infinity)
  for (let at = 0; at <= SOURCE.length; at += 20)
    await expect(bytesOf({ 'data.db': whole, 'auxiliary.db': failingAfter(at) })).rejects.toBe(WRONG)
  expect(await bytesOf({ 'data.db': whole, 'auxiliary.db': whole })).toBeGreaterThan(100)
})

test('an archive that nobody reads to its end leaves no error behind', async () => {
  for await (const piece of archiveOf({ 'data.db': failingAfter(10), 'auxiliary.db': failingAfter(0) }, new Date(0))) {
    expect(piece.length).toBeGreaterThan(0)
    break
  }
})

test('a stream for code that does not listen ends nothing, and says what has failed', async () => {
  const failed = Promise.withResolvers<Error>()
  handedStream(failingAfter(3).snapshot() as unknown as AsyncIterable<Uint8Array>, failed.resolve).resume()
  expect(await failed.promise).toBe(WRONG)
})
