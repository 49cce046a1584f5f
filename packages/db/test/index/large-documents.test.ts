/** Goal: work on many documents gives the thread away by their bytes, not by their count. */
import { expect, test } from 'vitest'
import type { Collection } from '../../src/database/collection/collection.ts'
import type { Database } from '../../src/database/database.ts'
import { open } from '../../src/index.ts'
import { memory } from '../../src/memory.ts'
import { countingEnvironment } from '../../testing/model-database.ts'

type Large = { readonly _id: string; readonly n: number; readonly text: string }
const DOCUMENTS = 30
const TEXT = 'x'.repeat(500_000)

/** How often work gives the thread away. Each look at the clock finds that it is time. */
async function turnsOf(work: (collection: Collection<Large>, db: Database) => Promise<unknown>): Promise<number> {
  const base = countingEnvironment()
  let [time, turns] = [0, 0]
  const yielding = (): Promise<void> => {
    turns++
    return base.yield()
  }
  const environment = { ...base, now: () => (time += 100), yield: yielding }
  const db = await open('large', { storage: memory(), environment })
  const collection = db.collection<Large>('large')
  for (let n = 0; n < DOCUMENTS; n++) await collection.insert({ _id: `d${n}`, n, text: TEXT })
  turns = 0
  await work(collection, db)
  const made = turns
  await db.close()
  return made
}

async function readAll(pieces: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of pieces);
}

test.each<[string, (collection: Collection<Large>, db: Database) => Promise<unknown>]>([
  ['a view', (collection) => collection.view('n', { map: ({ n }, emit) => emit(n) }).update()],
  ['an index', (_, db) => db.collection('large', { indexes: ['n'] }).ready()],
  ['a replica', (collection) => readAll(collection.export({ format: 'replica' }))],
])('%s gives the thread away for each few of its large documents', async (_, work) => {
  expect(await turnsOf(work)).toBeGreaterThan(DOCUMENTS / 3)
})
