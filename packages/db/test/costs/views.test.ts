/** Goal: the costs of views in docs/internals/costs.md, on 20,000 rows, and on 100,000 in the nightly run. Pages are counted at the page store, so the figures are exact. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { open } from '../../src/database/lifecycle/open.ts'
import type { Collection } from '../../src/database/collection/collection.ts'
import type { Stored } from '../../src/database/collection/document-types.ts'
import type { View } from '../../src/database/collection/view.ts'
import type { Database } from '../../src/database/database.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import type { Emit } from '../../src/view/view-definition.ts'
import { backendCalls, backendWrites, counting } from '../../testing/counting-page-store.ts'
import { EVERYWHERE } from '../../../../tools/test/seeds.ts'

interface Sale {
  _id: string
  city: string
  month: number
  amount: number
}

const COUNT = EVERYWHERE ? 100_000 : 20_000
const CITIES = 10
/** Pages from root to leaf in the view's trees. */
const HEIGHT = 2

const storage = counting(memory())
let db: Database
let all: Collection<Sale>

const byCity = (sale: Sale, emit: Emit<[string, number], number>): void => emit([sale.city, sale.month], sale.amount)
const add = (_keys: unknown, values: number[]): number => values.reduce((sum, value) => sum + value, 0)

function sums(): View<Stored<Sale>, [string, number], number, number> {
  return all.view('sums', { map: byCity, reduce: '_sum', version: 1 })
}

async function reopen(): Promise<void> {
  await db.close()
  db = await open('costs', { storage })
  all = db.collection<Sale>('sales')
  await all.get('nobody')
  storage.take()
}

beforeAll(async () => {
  db = await open('costs', { storage })
  all = db.collection<Sale>('sales')
  await all.insert(
    Array.from({ length: COUNT }, (_, i) => ({
      _id: `s${String(i).padStart(6, '0')}`,
      city: `city ${(i * 7919) % CITIES}`,
      month: (i * 31) % 120,
      amount: i % 1000,
    })),
  )
}, 120_000)

afterAll(async () => {
  expect((await db.check()).problems).toEqual([])
  await db.close()
}, 120_000)

test('build: the documents are read once, and nothing is written but the view', async () => {
  await reopen()
  await sums().update()
  const { pagesRead, bytesWritten, appends, commits } = storage.take()
  expect(pagesRead).toBeLessThanOrEqual((COUNT * 80) / 25_000)
  expect(bytesWritten).toBeLessThanOrEqual(COUNT * 70)
  expect(appends + commits).toBeLessThanOrEqual(4)
})

test('a query of a view that is up to date: 0 backend calls when its pages are cached', async () => {
  await sums().query({ group: true })
  storage.take()
  await sums().query({ group: true })
  expect(backendCalls(storage.take())).toBe(0)
})

test('group reduce: pages by groups and height, not by rows', async () => {
  await reopen()
  const { rows } = await sums().query({ group: 1 })
  expect(rows.length).toBe(CITIES)
  const { pagesRead } = storage.take()
  // The leaves at both ends of each group, and the branches once.
  expect(pagesRead).toBeLessThanOrEqual(2 * CITIES * HEIGHT)
})

test('reduce over any range, skip, first and last: a page a level for each end of the range', async () => {
  for (const query of [
    () => sums().query(),
    () => sums().query({ gte: ['city 2', 50], lt: ['city 7'] }),
    () => sums().query({ reduce: false, skip: 0.77 * COUNT, limit: 1 }),
    () => sums().query({ reduce: false, descending: true, limit: 1 }),
    () => sums().query({ reduce: false, limit: 1 }),
  ]) {
    await reopen()
    await query()
    const { pagesRead } = storage.take()
    // The branches, and two leaves at each end if it is one's edge.
    expect(pagesRead, query.toString()).toBeLessThanOrEqual(HEIGHT - 1 + 4)
  }
})

test('an update takes one append, and reads what was written and where it goes', async () => {
  await reopen()
  await sums().query()
  await all.upsert({ _id: 's000500', city: 'city 3', month: 5, amount: 1 })
  storage.take()
  await sums().query()
  const counts = storage.take()
  expect(backendWrites(counts)).toBe(1)
  expect(counts.pagesRead).toBeLessThanOrEqual(4 * HEIGHT)
})

test('a custom reduce reads again only what has changed', async () => {
  const { rows } = await all.view('custom', { map: byCity, reduce: add, version: 1 }).query()
  expect(rows).toEqual((await sums().query()).rows)
  await db.flush()
  storage.take()
  let calls = 0
  const counted = all.view('custom', {
    map: byCity,
    reduce: (_keys: unknown, values: number[]): number => {
      calls++
      return add(_keys, values)
    },
  })
  await counted.query()
  const leaves = calls
  expect(leaves).toBeGreaterThan(COUNT / 2000)
  await all.upsert({ _id: 's000777', city: 'city 3', month: 5, amount: 100 })
  await counted.query()
  await db.flush()
  calls = 0
  expect((await counted.query()).rows).toEqual((await sums().query()).rows)
  expect(calls).toBeLessThanOrEqual(12)
})

test('drop: one small commit', async () => {
  const view = sums()
  storage.take()
  await view.drop()
  const counts = storage.take()
  expect([backendWrites(counts), counts.pagesRead]).toEqual([1, 0])
  expect(counts.bytesWritten).toBeLessThan(1000)
})
