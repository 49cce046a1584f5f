/**
 * Goal: encrypted, every operation makes the calls that it makes plain, and moves a fixed number of bytes more for each page and
 * record: counted at the page store beneath.
 */
import { expect, test } from 'vitest'
import { open, type Database } from '../../src/index.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import { counting, type CountingStorage, type StoreCounts } from '../../testing/counting-page-store.ts'
import { deviceKey } from '../storage/encrypted/fixture.ts'

interface Person {
  readonly _id: string
  readonly name: string
  readonly age: number
}

/** Format, id of the key, nonce, tag. */
const ENVELOPE_BYTES = 33
/** An append brings a log seal along. */
const LOG_SEAL_BYTES = 16
/** Token, generation, revision. */
const LOG_TRAILER_BYTES = 28
/** Nonce and token of a log record, revision; runs of page ids, one for each of the two handles: count, length, first id, epoch. */
const META_TRAILER_BYTES: number = 32 + 6 + 2 * (2 + 8)

const person = (number: number): Person => ({ _id: `p${number}`, name: `Name ${number} `.repeat(20), age: number % 90 })
const people = (first: number, count: number): Person[] => Array.from({ length: count }, (_, at) => person(first + at))

const STEPS: readonly (readonly [string, (db: Database) => Promise<unknown>])[] = [
  ['bulk write', (db) => db.collection<Person>('people').insert(people(0, 5000))],
  ['index', (db) => db.collection<Person>('people', { indexes: ['age'] }).ready()],
  ['put', (db) => db.collection<Person>('people').insert(person(5000))],
  ['update', (db) => db.collection<Person>('people').update('p7', (doc) => ({ ...doc, age: 91 }))],
  ['delete', (db) => db.collection<Person>('people').delete('p8')],
  ['puts at once', (db) => Promise.all(people(6000, 50).map((one) => db.collection<Person>('people').insert(one)))],
  ['checkpoint', (db) => db.flush()],
  ['reopen', async () => {}],
  ['get, cold', (db) => db.collection<Person>('people').get('p2500')],
  ['gets, cold', (db) => db.collection<Person>('people').get(['p1', 'p999', 'p4000'])],
  ['find by an index', (db) => db.collection<Person>('people').find({ age: 30 }).toArray()],
  [
    'count',
    (db) =>
      db
        .collection<Person>('people')
        .find({ age: { $gte: 10 } })
        .count(),
  ],
  ['all', (db) => db.collection<Person>('people').find({}).toArray()],
  ['drop', (db) => db.dropCollection('people')],
]

async function countsOf(storage: CountingStorage, isEncrypted: boolean): Promise<Map<string, StoreCounts>> {
  const openOne = (): Promise<Database> =>
    open('x', { storage, ...(isEncrypted && { encryption: { key: deviceKey } }) })
  const counts = new Map<string, StoreCounts>()
  let db = await openOne()
  storage.take()
  for (const [name, step] of STEPS) {
    if (name === 'reopen') {
      await db.close()
      storage.take()
      db = await openOne()
    }
    await step(db)
    counts.set(name, storage.take())
  }
  await db.close()
  return counts
}

test('the same calls, and a fixed number of bytes more for each page and record', async () => {
  const plain = await countsOf(counting(memory()), false)
  const encrypted = await countsOf(counting(memory()), true)
  for (const [name, { bytesRead, bytesWritten, ...calls }] of encrypted) {
    const { bytesRead: plainRead, bytesWritten: plainWritten, ...plainCalls } = plain.get(name)!
    expect([name, calls]).toEqual([name, plainCalls])
    const { pagesWritten, appends, commits, pagesRead, recordsRead, reads } = calls
    const perRecord = ENVELOPE_BYTES + LOG_TRAILER_BYTES + LOG_SEAL_BYTES
    const written = ENVELOPE_BYTES * pagesWritten + perRecord * (appends + commits)
    expect(bytesWritten - plainWritten).toBeLessThanOrEqual(written + (ENVELOPE_BYTES + META_TRAILER_BYTES) * commits)
    expect(bytesWritten - plainWritten).toBeGreaterThanOrEqual(ENVELOPE_BYTES * pagesWritten)
    // A read gives the keyring too: 1 KiB is plenty for one slot and key.
    const overhead = ENVELOPE_BYTES * pagesRead + (ENVELOPE_BYTES + LOG_TRAILER_BYTES) * recordsRead + 1024 * reads
    expect(bytesRead - plainRead).toBeLessThanOrEqual(overhead)
  }
})

test('making a database costs one backend call more, opening it none', async () => {
  const storage = counting(memory())
  const encryption = { key: deviceKey }
  await (await open('x', { storage, encryption })).close()
  expect(storage.take()).toMatchObject({ reads: 2, keyrings: 1, appends: 0, commits: 0 })
  await (await open('x', { storage, encryption })).close()
  expect(storage.take()).toMatchObject({ reads: 1, keyrings: 0, appends: 0, commits: 0 })
})

test('a new password costs three writes, whatever the size; a new key each page once', async () => {
  const storage = counting(memory())
  const db = await open('x', { storage, encryption: { key: deviceKey } })
  await db.collection<Person>('people').insert(people(0, 5000))
  await db.flush()
  const { length: pages } = await (await storage.open('x')).listPages()
  storage.take()
  await db.encryption!.makeRecoveryKey()
  expect(storage.take()).toMatchObject({ keyrings: 1, commits: 1, appends: 1, pagesRead: 0, pagesWritten: 0 })
  await db.encryption!.rotateKey()
  const { keyrings, commits, appends, pagesRead, pagesWritten, replacements } = storage.take()
  expect([keyrings, commits, appends, pagesRead, pagesWritten]).toEqual([2, 2, 2, pages, pages])
  expect(replacements).toBe(Math.ceil(pages / 16))
  await db.close()
})
