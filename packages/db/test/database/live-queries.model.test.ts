/**
 * Goal: after every commit, through whichever handle, each live query shows what a rerun gives, and its changes lead there; and
 * with several handles that write at once all arrive at the same.
 * Method: random queries of all options over handles on a simulated store with random latency and a small cache.
 */
import { expect, test } from 'vitest'
import type { Database } from '../../src/database/database.ts'
import { checkRandomLiveQueries } from '../../testing/conformance/live-queries.ts'
import { eventually, Follower } from '../../testing/live-rows.ts'
import { randomDocuments, seededChoose } from '../../testing/query-cases.ts'
import { seededRandom, type Random } from '../../testing/random.ts'
import { openHandles } from '../several-handles.ts'
import { seedsOf } from '../../../../tools/test/seeds.ts'

for (const seed of seedsOf('model', 0.3)) {
  test(`random live queries, seed ${seed} (replay: SEED=${seed} SEEDS=1)`, async () => {
    const handles = await openHandles(seededRandom(seed), `live model ${seed}`, 3)
    await checkRandomLiveQueries(async () => handles, seed + 100, 20)
    await closeAll(handles)
  })
  test(`random live queries of many documents, seed ${seed} (replay: SEED=${seed} SEEDS=1)`, async () => {
    const handles = await openHandles(seededRandom(seed), `live model ${seed}`, 2)
    const documents = randomDocuments(seededChoose(seed), 1200)
    await handles[0]!.collection('random').insert(documents.map((document, at) => ({ ...document, _id: `e${at}` })))
    await checkRandomLiveQueries(async () => handles, seed + 200, 6)
    await closeAll(handles)
  })
  test(`writers at once, seed ${seed} (replay: SEED=${seed} SEEDS=1)`, () => followWriters(seed))
}

async function closeAll(handles: readonly Database[]): Promise<void> {
  for (const db of handles) expect((await db.check()).problems).toEqual([])
  for (const db of handles) await db.close()
}

interface Item {
  readonly n: number
  readonly pair: number
  readonly filler: string
}

/** Each transaction writes the two halves of a pair alike: no query may ever show one without the other. */
async function followWriters(seed: number): Promise<void> {
  const random = seededRandom(seed)
  const handles = await openHandles(random, `live model ${seed}`, 3)
  const followers = handles.flatMap((db) => {
    const items = db.collection<Item>('items', { indexes: ['n'] })
    const queries = [
      items.find(),
      items
        .find({ n: { $gte: 30 } })
        .sort('-n')
        .skip(2)
        .limit(8),
      items
        .find({ n: { $lt: 50 } })
        .sort('n', '_id')
        .limit(20),
    ]
    return queries.map((query, at) => ({
      query: at === 2 ? query : query.sort(...(at === 1 ? (['-n', '_id'] as const) : (['_id'] as const))),
      follower: new Follower(query.live()),
      count: query.liveCount(),
    }))
  })
  const torn: string[] = []
  for (const { follower } of followers.filter((_, at) => at % 3 === 0)) {
    follower.live.subscribe(({ rows }) => {
      const byPair = Map.groupBy(rows, ({ pair }) => pair)
      for (const [pair, [left, right]] of byPair)
        if (left?.n !== right?.n) torn.push(`${pair}: ${left?.n}, ${right?.n}`)
    })
  }
  const write = async (db: Database, own: Random): Promise<void> => {
    for (let round = 0; round < 20; round++) {
      const pair = own.below(40)
      await db.transaction(async (tx) => {
        const items = tx.collection<Item>('items')
        const ids = [`a${pair}`, `b${pair}`]
        if (own.chance(0.25)) await items.delete(ids)
        else {
          const n = own.below(100)
          await items.upsert(ids.map((_id) => ({ _id, n, pair, filler: 'x'.repeat(own.below(500)) })))
        }
      })
      if (own.chance(0.1)) await db.flush()
    }
  }
  await Promise.all(handles.map((db) => write(db, random.fork())))
  for (const db of handles) await db.refresh()
  for (const { query, follower, count } of followers) {
    await follower.reach(await query.toArray())
    const expected = await query.count()
    await eventually(() => count.value === expected)
    expect(count.value).toBe(expected)
  }
  expect(torn).toEqual([])
  await closeAll(handles)
  expect(followers.every(({ follower }) => follower.ended)).toBe(true)
}
