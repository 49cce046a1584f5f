/**
 * Goal: a large collection is right and has no cliff: in an SQLite file, with a cache that holds a small part of it, what an
 * operation reads and writes does not grow with the collection. Counted, not timed. `EFFORT=10` for the full size.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { localCoordinator } from '../../src/database/coordination/local-coordinator.ts'
import { systemEnvironment } from '../../src/database/lifecycle/environment.ts'
import { openKeyValueStore } from '../../src/kv/open.ts'
import { sqlite } from '../../src/sqlite.ts'
import { counting } from '../../testing/counting-page-store.ts'
import { databaseOver } from '../../testing/model-database.ts'
import { EVERYWHERE, times } from '../../../../tools/test/seeds.ts'

const DOCUMENTS = times(50_000)
const BATCH = 20_000
const CACHE_BYTES = 2 * 1024 * 1024

test(`${DOCUMENTS} documents`, { timeout: 600_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pannier-large-'))
  const storage = counting(sqlite())
  const name = join(folder, 'large.db')
  const environment = systemEnvironment()
  const openDatabase = async (): Promise<ReturnType<typeof databaseOver>> => {
    const store = await openKeyValueStore({
      store: await storage.open(name),
      coordinator: localCoordinator({ key: name, environment }),
      environment,
      cacheBytesMax: CACHE_BYTES,
      durability: 'relaxed',
    })
    return databaseOver(store, environment, () => store.check())
  }
  try {
    let db = await openDatabase()
    let docs = db.collection<{ n: number; city: string }>('docs', { indexes: ['n'] })
    for (let from = 0; from < DOCUMENTS; from += BATCH) {
      await docs.insert(Array.from({ length: Math.min(BATCH, DOCUMENTS - from) }, (_, at) => document(from + at)))
    }
    await docs.upsert(Array.from({ length: 1000 }, (_, at) => document(at * Math.floor(DOCUMENTS / 1000), 'moved')))
    await db.close()

    db = await openDatabase()
    docs = db.collection<{ n: number; city: string }>('docs')
    expect(await docs.find().count()).toBe(DOCUMENTS)
    const middle = id(DOCUMENTS / 2)
    const counts: Record<string, number> = {}
    const count = async (what: string, work: () => Promise<unknown>): Promise<void> => {
      const before = storage.counts.pagesRead
      await work()
      counts[what] = storage.counts.pagesRead - before
    }
    await count('get', async () => expect(await docs.get(middle)).toMatchObject({ n: DOCUMENTS / 2 }))
    await count('page deep in the list', async () => {
      const { offset, rows } = await docs.list({ skip: DOCUMENTS - 20, limit: 10, docs: true }).page()
      expect([offset, rows.length]).toEqual([DOCUMENTS - 20, 10])
    })
    await count('range of the index', async () =>
      expect(await docs.find({ n: { $gte: 10, $lt: DOCUMENTS - 10 } }).count()).toBe(DOCUMENTS - 20),
    )
    await count('tail of the feed', async () => {
      const { lastSeq } = await docs.info()
      expect(await docs.changes({ since: lastSeq - 5 }).toArray()).toHaveLength(5)
    })
    await count('update', async () => docs.update(middle, (one) => ({ ...one, city: 'Bergen' })))
    await count('skip in a query', async () =>
      expect(
        await docs
          .find({ n: { $gte: 0 } })
          .sort('n')
          .skip(DOCUMENTS - 3)
          .toArray(),
      ).toHaveLength(3),
    )
    console.log(DOCUMENTS, counts)
    // Each takes a page a level of a few trees, and the documents that it gives.
    for (const [what, pages] of Object.entries(counts)) expect(pages, what).toBeLessThan(40)
    const { changes } = await docs.changes({ limit: 1000 }).page()
    expect(changes).toHaveLength(1000)
    if (EVERYWHERE) expect((await db.check()).problems).toEqual([])
    await db.close()
  } finally {
    rmSync(folder, { recursive: true })
  }
})

function id(n: number): string {
  return `d${String(n).padStart(8, '0')}`
}

function document(n: number, city = 'Oslo'): { _id: string; n: number; city: string; filling: string } {
  return { _id: id(n), n, city, filling: 'x'.repeat(50) }
}
