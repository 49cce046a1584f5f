/** Goal: a caller that needs the revisions of large documents has no more of the documents in memory than a batch. Bytes are counted at the page store. */
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Collection } from '../../src/database/collection/collection.ts'
import type { Database } from '../../src/database/database.ts'
import { open } from '../../src/database/lifecycle/open.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import { counting } from '../../testing/counting-page-store.ts'

const DOCUMENTS = 12
const DOCUMENT_BYTES: number = 2 * 1024 * 1024
/** One document, and what else lies on the way. */
const ONE: number = DOCUMENT_BYTES * 1.5

const storage = counting(memory())
let db: Database
let large: Collection<{ _id: string; text: string }>

beforeAll(async () => {
  db = await open('large', { storage })
  const docs = Array.from({ length: DOCUMENTS }, (_, at) => ({ _id: `d${at}`, text: 'x'.repeat(DOCUMENT_BYTES) }))
  for (const doc of docs) await db.collection<{ _id: string; text: string }>('large').insert(doc)
  await db.flush()
  await db.close()
})
// What one test has read is not in the memory of the next one.
beforeEach(async () => {
  db = await open('large', { storage, cacheBytesMax: 1024 * 1024 })
  large = db.collection<{ _id: string; text: string }>('large')
  await large.info()
  storage.take()
})
afterEach(() => db.close())

test('the first row of a list reads one document', async () => {
  for await (const _row of large.list()) break
  expect(storage.take().bytesRead).toBeLessThan(ONE)
})

test('the first rows of a list by ids read one document', async () => {
  const ids = Array.from({ length: DOCUMENTS }, (_, at) => `d${at}`)
  for await (const _row of large.list({ ids })) break
  expect(storage.take().bytesRead).toBeLessThan(ONE)
})

test('the changes of one document read that document, also where there are few', async () => {
  expect(await large.changes({ ids: ['d3'], style: 'all' }).toArray()).toHaveLength(1)
  expect(storage.take().bytesRead).toBeLessThan(ONE)
})
