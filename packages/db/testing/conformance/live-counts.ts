/** Live counts: docs/internals/live-queries.md as tests. */
import type { Collection } from '../../src/database/collection/collection.ts'
import type { Database } from '../../src/database/database.ts'
import type { LiveCount } from '../../src/query/live/live-query.ts'
import { assertEqual, assertRejects, assertThrows } from '../check.ts'
import { eventually } from '../live-rows.ts'

interface Item {
  readonly n: number
  readonly city?: string
  readonly tags?: readonly string[]
}

type Items = Collection<Item>
type Case = (name: string, body: (items: Items, db: Database) => Promise<void>) => void

/** Waits until the count is this one, and whoever listens has been told. */
export async function reachCount(live: LiveCount, told: readonly number[], count: number, what: string): Promise<void> {
  await eventually(() => live.value === count && told.at(-1) === count)
  assertEqual([live.value, told.at(-1)], [count, count], what)
}

/** What a subscriber hears. */
export function listen(live: LiveCount): number[] {
  const told: number[] = []
  live.subscribe((count) => told.push(count))
  return told
}

export function liveCountCases(check: Case): void {
  check('a count changes with each commit that changes it, and is heard only then', async (items) => {
    const [all, large, tagged] = [
      items.find().skip(5).limit(1).liveCount(),
      items.find({ n: { $gte: 10 } }).liveCount(),
      items.find({ tags: 'x' }).liveCount(),
    ]
    const told = [all, large, tagged].map(listen)
    const see = async (...counts: [number, number, number]): Promise<void> => {
      await reachCount(all, told[0]!, counts[0], 'all')
      await reachCount(large, told[1]!, counts[1], 'large')
      await reachCount(tagged, told[2]!, counts[2], 'tagged')
    }
    await see(0, 0, 0)
    await items.insert([1, 2, 30].map((n) => ({ _id: `i${n}`, n, tags: ['x', 'x'] })))
    await see(3, 1, 3)
    await items.upsert({ _id: 'i1', n: 11, tags: [] })
    await see(3, 2, 2)
    await items.upsert({ _id: 'i1', n: 12, tags: [] })
    await items.delete(['i2', 'no such'])
    await see(2, 2, 1)
    await items.purge('i30')
    await see(1, 1, 0)
    assertEqual(told, [
      [0, 3, 2, 1],
      [0, 1, 2, 1],
      [0, 3, 2, 1, 0],
    ])
  })

  check('a count by rank, over its index being built, dropped, and holding arrays', async (items, db) => {
    const live = items.find({ city: 'Oslo', n: { $lt: 50 } }).liveCount()
    const told = listen(live)
    const put = (n: number, city: unknown): Promise<unknown> => items.upsert({ _id: `p${n}`, n, city: city as string })
    await put(1, 'Oslo')
    await reachCount(live, told, 1, 'without an index')
    const indexed = db.collection<Item>('items', { indexes: [['city', 'n']] })
    await indexed.ready()
    const ranked = indexed.find({ city: 'Oslo', n: { $lt: 50 } }).liveCount()
    const toldRanked = listen(ranked)
    const both = async (count: number, what: string): Promise<void> => {
      await reachCount(live, told, count, what)
      await reachCount(ranked, toldRanked, count, `${what}, by rank`)
    }
    await both(1, 'with an index')
    await put(2, 'Oslo')
    await put(3, 'Rome')
    await put(60, 'Oslo')
    await both(2, 'entries come')
    await put(1, 'Rome')
    await both(1, 'an entry goes')
    await put(4, ['Rome', 'Oslo'])
    await both(2, 'an array with the value')
    await put(4, ['Rome'])
    await both(1, 'an array without it')
    await put(4, 'Rome')
    await put(5, 'Oslo')
    await both(2, 'no array any more')
    await indexed.dropIndex('city,n')
    await put(6, 'Oslo')
    await both(3, 'the index is dropped')
    await db.dropCollection('items')
    await both(0, 'the collection is dropped')
    await put(7, 'Oslo')
    await both(1, 'and made again')
  })

  check('a loop, and how a count ends', async (items, db) => {
    const controller = new AbortController()
    const live = items.find().liveCount({ signal: controller.signal })
    assertEqual([live.value, live.status], [undefined, 'loading'])
    await live.ready
    assertEqual([live.value, live.status], [0, 'live'])
    const counts: number[] = []
    for await (const count of live) {
      counts.push(count)
      if (count === 2) break
      await items.insert({ _id: `x${count}`, n: count })
    }
    assertEqual(counts, [0, 1, 2])
    const closed = items.find().liveCount()
    await closed.ready
    closed.close()
    await eventually(() => closed.status === 'ended')
    assertEqual([closed.value, closed.status, closed.error], [2, 'ended', undefined])
    const loop = live[Symbol.asyncIterator]()
    assertEqual(await loop.next(), { done: false, value: 2 })
    controller.abort()
    await assertRejects(loop.next(), 'PANNIER_ABORTED')
    await db.transaction(async (tx) => {
      assertThrows(() => tx.collection<Item>('items').find().liveCount(), TypeError)
    })
  })
}
