/** Live queries: docs/internals/live-queries.md as tests. */
import type { Collection } from '../../src/database/collection/collection.ts'
import type { Database } from '../../src/database/database.ts'
import type { Query } from '../../src/query/query.ts'
import type { LiveCount } from '../../src/query/live/live-query.ts'
import type { LiveUpdate } from '../../src/query/live/live-types.ts'
import { assertEqual, assertRejects, assertThrows, assertTrue } from '../check.ts'
import { eventually, Follower } from '../live-rows.ts'
import { randomDocuments, randomIndexes, randomQuery, seededChoose, type Choose } from '../query-cases.ts'
import type { SuiteContext } from '../suite.ts'
import { listen, liveCountCases, reachCount } from './live-counts.ts'
import { itemCases, type ItemCase } from './database-cases.ts'

/** Each call of `open` gives one more handle on one database. */
export interface LiveQuerySuiteContext extends SuiteContext<() => { open(): Promise<Database> }> {
  readonly supports: { readonly handles: boolean }
}

interface Item {
  readonly n: number
  readonly city?: string
  readonly text?: string
}

type Items = Collection<Item>
type Case = ItemCase<Item>

export function liveQuerySuite({ test, create, supports }: LiveQuerySuiteContext): void {
  const check = itemCases<Item>(test, create)
  rowCases(check)
  windowCases(check)
  collectionCases(check)
  readerCases(check)
  endCases(check)
  liveCountCases(check)
  if (supports.handles) handleCases(check)
  for (const seed of [1, 2, 3]) {
    check(`random live queries and commits, seed ${seed}`, (_items, db, open) =>
      checkRandomLiveQueries(async () => [db, ...(supports.handles ? [await open()] : [])], seed, 25),
    )
  }
}

function insertMany(items: Items, count: number): Promise<unknown> {
  return items.insert(Array.from({ length: count }, (_, n) => ({ _id: `d${String(n).padStart(6, '0')}`, n })))
}

async function readAll(live: AsyncIterable<LiveUpdate<object>>): Promise<number> {
  let count = 0
  for await (const _ of live) count++
  return count
}

function stepsOf({ updates }: Follower<object>, at: number): string[] {
  return updates
    .at(at)!
    .changes.map((change) =>
      change.type === 'moved'
        ? `moved ${change.id} ${change.fromIndex}>${change.index}`
        : `${change.type} ${change.id} ${change.index}`,
    )
}

function rowCases(check: Case): void {
  check('rows that come, change, move and go', async (items) => {
    await items.insert(['a', 'b', 'c'].map((_id, n) => ({ _id, n: n * 10 })))
    const query = items.find({ n: { $lt: 100 } }).sort('n')
    const live = query.live()
    assertEqual([live.value, live.status], [undefined, 'loading'])
    const follower = new Follower(live)
    await live.ready
    await follower.reach(await query.toArray())
    assertEqual(live.status, 'live')
    assertEqual(stepsOf(follower, 0), ['added a 0', 'added b 1', 'added c 2'])
    const [, b] = live.value!

    await items.insert({ _id: 'd', n: 5 })
    await follower.reach(await query.toArray())
    await items.update('a', (a) => ({ ...a, text: 'x' }))
    await follower.reach(await query.toArray())
    await items.update('d', (d) => ({ ...d, n: 30 }))
    await follower.reach(await query.toArray())
    assertTrue(live.value![1] === b, 'a row that does not change stays the same object')
    await items.update('c', (c) => ({ ...c, n: 1000 }))
    await follower.reach(await query.toArray())
    await items.delete('a')
    await follower.reach(await query.toArray())
    await items.insert({ _id: 'e', n: 1000 })
    await items.update('e', (e) => ({ ...e, n: 1 }))
    await follower.reach(await query.toArray())
    assertEqual(
      follower.updates.slice(1).map((_, at) => stepsOf(follower, at + 1)),
      [['added d 1'], ['changed a 0'], ['moved d 1>3'], ['removed c 2'], ['removed a 0'], ['added e 0']],
    )
  })

  check('a projection: rows are new only if what they show is', async (items) => {
    await items.insert({ _id: 'a', n: 1, city: 'Oslo', text: 'x' })
    const query = items.find({}).fields('city', 'n')
    const follower = new Follower(query.live())
    await follower.reach([{ city: 'Oslo', n: 1 }])
    await items.upsert({ _id: 'a', n: 1, city: 'Oslo', text: 'y' })
    await items.insert({ _id: 'b', n: 2 })
    await follower.reach([{ city: 'Oslo', n: 1 }, { n: 2 }])
    assertEqual(follower.updates.length, 2)
    assertEqual(stepsOf(follower, 1), ['added b 1'])
  })

  check('a transaction is one update, also over several collections', async (items, db) => {
    const others = db.collection<Item>('others')
    await items.insert({ _id: 'a', n: 1 })
    const lists = [items.find().sort('n').live(), others.find().live()]
    const followers = lists.map((live) => new Follower(live))
    await followers[0]!.reach(await items.find().toArray())
    await followers[1]!.reach([])
    const seen: number[][] = []
    for (const live of lists) live.subscribe(() => seen.push(lists.map(({ value }) => value!.length)))
    await eventually(() => seen.length === 2)
    await db.transaction(async (tx) => {
      await tx.collection<Item>('items').insert([
        { _id: 'b', n: 0 },
        { _id: 'c', n: 5 },
      ])
      await tx.collection<Item>('items').delete('a')
      await tx.collection<Item>('others').insert({ _id: 'x', n: 5 })
    })
    await followers[0]!.reach(await items.find().sort('n').toArray())
    await followers[1]!.reach(await others.find().toArray())
    assertEqual(stepsOf(followers[0]!, 1), ['removed a 0', 'added b 0', 'added c 1'])
    assertEqual(followers[0]!.updates.length, 2)
    assertEqual(seen.slice(2), [
      [2, 1],
      [2, 1],
    ])
    await db.transaction(async (tx) => {
      await tx.collection<Item>('items').insert({ _id: 'd', n: 0 })
      assertThrows(() => tx.collection<Item>('items').find().live(), TypeError)
    })
  })

  check('revisions in conflict: the winner is shown', async (items) => {
    const put = (rev: string, ids: string[], n: number): Promise<unknown> =>
      items.put({ _id: 'a', _rev: rev, _revisions: { start: ids.length, ids }, n }, { newEdits: false })
    await put('1-b', ['b'], 1)
    const follower = new Follower(items.find({ n: { $gte: 1 } }).live())
    await follower.reach(await items.find().toArray())
    await put('1-a', ['a'], 2)
    await put('2-c', ['c', 'a'], 3)
    await follower.reach(await items.find().toArray())
    assertEqual(
      follower.live.value!.map(({ n }) => n),
      [3],
    )
    await items.delete('a')
    await follower.reach(await items.find().toArray())
    assertEqual(
      follower.live.value!.map(({ n }) => n),
      [1],
    )
    assertEqual(follower.updates.length, 3, 'a revision that does not win is no change')
    await items.purge('a')
    await follower.reach([])
  })
}

function windowCases(check: Case): void {
  check('skip and limit: rows move up and down across the edges', async (items) => {
    await insertMany(items, 200)
    const query = items.find({ n: { $gte: 0 } }).sort('-n')
    const page = query.skip(10).limit(5)
    const follower = new Follower(page.live())
    await follower.reach(await page.toArray())
    await items.insert({ _id: 'new', n: 1000 })
    await follower.reach(await page.toArray())
    assertEqual(stepsOf(follower, -1), ['removed d000185 4', 'added d000190 0'])
    await items.delete(['new', 'd000188'])
    await follower.reach(await page.toArray())
    for (let n = 199; n > 100; n -= 3) {
      await items.delete(`d000${n}`)
      await follower.reach(await page.toArray())
    }
    await items.upsert(Array.from({ length: 150 }, (_, n) => ({ _id: `e${n}`, n: 500 + n })))
    await follower.reach(await page.toArray())
    await items.delete(Array.from({ length: 150 }, (_, n) => `e${n}`))
    await follower.reach(await page.toArray())
    const none = new Follower(query.limit(0).live())
    await none.reach([])
  })

  check('ties are in the order of ids, with and without an index', async (items, db) => {
    const indexed = db.collection<Item>('indexed', { indexes: ['n'] })
    for (const collection of [items, indexed]) {
      const documents = Array.from({ length: 120 }, (_, at) => ({
        _id: `d${String((at * 7) % 120).padStart(3, '0')}`,
        n: at % 3,
      }))
      await collection.insert(documents)
      await collection.ready()
      for (const sort of ['n', '-n'] as const) {
        const total = collection.find().sort(sort, '_id').skip(3).limit(6)
        const follower = new Follower(collection.find().sort(sort).skip(3).limit(6).live())
        await follower.reach(await total.toArray())
        await collection.delete((await total.toArray()).slice(0, 2))
        await follower.reach(await total.toArray())
        await collection.upsert({ _id: 'd0000', n: sort === 'n' ? 0 : 2 })
        await follower.reach(await total.toArray())
      }
    }
  })

  check('a skip that is not held: read again with each commit', async (items) => {
    await insertMany(items, 1300)
    const page = items.find().skip(1100).limit(4)
    const follower = new Follower(page.live())
    await follower.reach(await page.toArray())
    await items.delete('d000003')
    await follower.reach(await page.toArray())
    assertEqual(stepsOf(follower, -1), ['removed d001100 0', 'added d001104 3'])
    await items.insert({ _id: 'c', n: 0 })
    await follower.reach(await page.toArray())
    await items.insert({ _id: 'z', n: 0 })
    await items.update('d001102', (document) => ({ ...document, n: -1 }))
    await follower.reach(await page.toArray())
    assertEqual(follower.updates.length, 4)
  })
}

function collectionCases(check: Case): void {
  check('a collection that is not there yet, is dropped, and made again', async (items, db) => {
    const query = items.find({ n: { $gt: 0 } }).sort('_id')
    const follower = new Follower(query.live())
    await follower.reach([])
    await items.insert([
      { _id: 'a', n: 1 },
      { _id: 'b', n: 0 },
    ])
    await follower.reach(await query.toArray())
    await db.dropCollection('items')
    await follower.reach([])
    assertEqual(stepsOf(follower, -1), ['removed a 0'])
    await items.insert([
      { _id: 'b', n: 2 },
      { _id: 'a', n: 1 },
    ])
    await follower.reach(await query.toArray())
    await db.dropCollection('items')
    await items.insert({ _id: 'c', n: 3 })
    await follower.reach(await query.toArray())
    assertEqual(follower.live.status, 'live')
  })

  check('a commit that is too large to list its keys', async (items) => {
    await insertMany(items, 20)
    const query = items.find({ n: { $lt: 7 } }).sort('_id')
    const follower = new Follower(query.live())
    await follower.reach(await query.toArray())
    await items.upsert(Array.from({ length: 10_500 }, (_, n) => ({ _id: `e${n}`, n: n % 2000 })))
    await follower.reach(await query.toArray())
    assertEqual(follower.updates.length, 2)
  })
}

function readerCases(check: Case): void {
  check('a loop gets what it has time for, each step once', async (items) => {
    const live = items.find().live()
    const follower = new Follower(live)
    const sizes: number[][] = []
    for await (const { rows, changes } of live) {
      sizes.push([rows.length, changes.length])
      if (sizes.length === 1) {
        for (let n = 0; n < 5; n++) await items.insert({ _id: `a${n}`, n })
        await eventually(() => follower.rows?.length === 5)
      } else if (sizes.length === 2) void items.delete('a1')
      else break
    }
    assertEqual(sizes, [
      [0, 0],
      [5, 5],
      [4, 1],
    ])
    assertEqual(live.status, 'live', 'leaving the loop does not end the query')
    const iterator = live[Symbol.asyncIterator]()
    assertEqual((await iterator.next()).value!.rows.length, 4)
    const waiting = iterator.next()
    assertEqual(await iterator.return!(), { done: true, value: undefined })
    assertEqual(await waiting, { done: true, value: undefined })
  })

  check('subscribers come and go', async (items) => {
    await insertMany(items, 2)
    const live = items.find().live()
    const first = new Follower(live)
    await first.reach(await items.find().toArray())
    const late = new Follower(live)
    const never = new Follower(live)
    never.stop()
    await items.insert({ _id: 'x', n: 1 })
    await late.reach(await items.find().toArray())
    first.stop()
    await items.delete('x')
    await late.reach(await items.find().toArray())
    assertEqual([first.updates.length, never.updates.length], [2, 0])
    assertTrue(late.rows === live.value)
  })

  check('queries that ask for the same are told', async (items, db) => {
    const query = items.find({ city: 'Oslo' }).sort('n').limit(3)
    assertTrue(
      query.isSame(
        db
          .collection<Item>('items')
          .find({ city: { $eq: 'Oslo' } })
          .sort('n')
          .limit(3),
      ),
    )
    const others = [
      items.find({ city: 'Oslo' }).sort('n'),
      items.find({ city: 'Oslo' }).sort('-n').limit(3),
      items.find({ city: 'Rome' }).sort('n').limit(3),
      query.fields('n'),
      query.skip(1),
      db.collection<Item>('others').find({ city: 'Oslo' }).sort('n').limit(3),
    ]
    for (const other of others) assertTrue(!query.isSame(other as Query<object>))
  })
}

function endCases(check: Case): void {
  check('close ends it quietly', async (items) => {
    await insertMany(items, 2)
    const live = items.find().live()
    const follower = new Follower(live)
    const loop = readAll(live)
    await follower.reach(await items.find().toArray())
    live.close()
    assertEqual(await loop, 1)
    await items.insert({ _id: 'x', n: 1 })
    assertEqual([live.value!.length, live.status, follower.ended, follower.error], [2, 'ended', true, undefined])
    const late = new Follower(live)
    await eventually(() => late.ended)
    assertEqual([late.ended, late.updates.length], [true, 0])
    const early = items.find().live()
    early.close()
    await assertRejects(early.ready, 'PANNIER_ABORTED')
  })

  check('a signal ends it; a loop rejects', async (items) => {
    await insertMany(items, 2)
    const controller = new AbortController()
    const live = items.find().live({ signal: controller.signal })
    const follower = new Follower(live)
    const loop = readAll(live)
    loop.catch(() => {})
    await follower.reach(await items.find().toArray())
    controller.abort(new RangeError('enough'))
    const error = (await assertRejects(loop, 'PANNIER_ABORTED')) as Error
    assertTrue(error.cause instanceof RangeError, 'the reason is kept')
    assertEqual([follower.ended, follower.error, live.status], [true, undefined, 'ended'])
    await assertRejects(items.find().signal(controller.signal).live().ready, 'PANNIER_ABORTED')
  })

  check('closing the database ends all, also those whose alternatives name one value twice', async (items, db) => {
    await items.insert({ _id: 'a', n: 1, city: 'Oslo' })
    const twice = items.find({
      $or: [
        { n: 1, city: 'Oslo' },
        { n: 1, text: 'x' },
      ],
    })
    const followers = [twice, items.find({ city: 'Oslo' }), twice].map((query) => new Follower(query.live()))
    for (const follower of followers) await follower.reach(await items.find().toArray())
    followers[0]!.live.close()
    await eventually(() => followers[0]!.ended)
    assertEqual(
      followers.map(({ live }) => live.status),
      ['ended', 'live', 'live'],
    )
    await db.close()
    assertEqual(
      followers.map(({ ended, live }) => [ended, live.status]),
      Array(3).fill([true, 'ended']),
    )
  })

  check('closing the database ends it', async (items, db) => {
    const live = items.find().live()
    const loop = readAll(live)
    await live.ready
    const follower = new Follower(live)
    await follower.reach([])
    const early = items.find({ n: 1 }).live()
    await db.close()
    await assertRejects(early.ready, 'PANNIER_CLOSED')
    assertEqual(await loop, 1)
    assertEqual([follower.ended, follower.error, live.status], [true, undefined, 'ended'])
    await assertRejects(items.find().live().ready, 'PANNIER_CLOSED')
  })
}

function handleCases(check: Case): void {
  check('commits of another handle', async (items, _db, open) => {
    await insertMany(items, 30)
    const query = items
      .find({ n: { $lt: 20 } })
      .sort('-n')
      .limit(4)
    const follower = new Follower(query.live())
    await follower.reach(await query.toArray())
    const elsewhere = await open()
    const others = elsewhere.collection<Item>('items')
    await others.insert({ _id: 'x', n: 18.5 })
    await eventually(() => follower.updates.length === 2)
    assertEqual(stepsOf(follower, -1), ['removed d000016 3', 'added x 1'])
    await others.delete(['x', 'd000019'])
    await elsewhere.dropCollection('items')
    await follower.reach([])
    await others.insert({ _id: 'y', n: 1 })
    await eventually(() => follower.rows?.length === 1)
    await follower.reach(await query.toArray())
  })

  check('a failure is told once, and ends it: newer code has migrated the collection', async (_items, db, open) => {
    const versioned = db.collection<Item>('versioned', { version: 1 })
    await versioned.insert({ _id: 'a', n: 1 })
    const live = versioned.find().live()
    const follower = new Follower(live)
    await follower.reach(await versioned.find().toArray())
    const loop = readAll(live)
    loop.catch(() => {})
    const newer = await open()
    const migrated = newer.collection<Item>('versioned', {
      version: 2,
      migrations: { 2: (document) => ({ ...document, n: 2 }) },
    })
    const following = new Follower(migrated.find().live())
    await following.reach(await migrated.find().toArray())
    assertEqual(
      following.rows!.map((row) => row.n),
      [2],
    )
    await eventually(() => follower.ended)
    await assertRejects(loop, 'PANNIER_SCHEMA_NEWER')
    assertEqual([live.status, live.error, follower.updates.length], ['failed', follower.error, 1])
    await assertRejects(Promise.reject(live.error), 'PANNIER_SCHEMA_NEWER')
    assertEqual(
      live.value!.map(({ n }) => n),
      [1],
      'nothing of the newer code is shown',
    )
  })
}

/** After every commit each live query has the rows of a rerun, and its changes lead to them; and each live count is `count()`. */
export async function checkRandomLiveQueries(
  openHandles: () => Promise<readonly Database[]>,
  seed: number,
  steps: number,
): Promise<void> {
  const choose = seededChoose(seed * 7919)
  const handles = await openHandles()
  const indexes = randomIndexes(choose)
  const collections = handles.map((db) => db.collection<Record<string, unknown>>('random', { indexes }))
  const followed = Array.from({ length: 14 }, () => {
    const { selector, sort, skip, limit, fields } = randomQuery(choose, indexes)
    let live = collections[choose(handles.length)]!.find(selector).skip(skip)
    if (limit !== undefined) live = live.limit(limit)
    const plain = live.sort(...sort)
    const total = live.sort(...(sort.some((field) => /^-?_id$/.test(field)) ? sort : [...sort, '_id']))
    const rows = fields === undefined ? plain : plain.fields(...(fields as [string]))
    const rerun: { toArray(): Promise<object[]>; count(): Promise<number> } =
      fields === undefined ? total : total.fields(...(fields as [string]))
    return {
      what: JSON.stringify({ selector, sort, skip, limit, fields }),
      follower: new Follower<object>(rows.live()),
      rerun,
      ...counted(rows.liveCount()),
    }
  })
  for (let step = 0; step < steps; step++) {
    const at = choose(handles.length)
    await commitSomething(choose, handles[at]!, collections[at]!)
    for (const db of handles) await db.refresh()
    for (const { what, follower, rerun, count, told } of followed) {
      await follower.reach(await rerun.toArray(), `seed ${seed}, step ${step}, ${what}`)
      await reachCount(count, told, await rerun.count(), `seed ${seed}, step ${step}, count of ${what}`)
      assertTrue(
        told.every((one, at) => one !== told[at - 1]),
        'a count is told of when it has changed',
      )
    }
  }
  for (const { follower, count } of followed) {
    follower.live.close()
    count.close()
  }
}

function counted(count: LiveCount): { readonly count: LiveCount; readonly told: number[] } {
  return { count, told: listen(count) }
}

async function commitSomething(
  choose: Choose,
  db: Database,
  items: Collection<Record<string, unknown>>,
): Promise<void> {
  const kind = choose(20)
  if (kind === 0) await db.dropCollection('random')
  else if (kind < 5) await items.delete(Array.from({ length: 1 + choose(12) }, () => `d${choose(60)}`))
  else if (kind === 5) await items.purge(`d${choose(60)}`)
  else if (kind < 8) {
    const hash = 'abcdef'[choose(6)]!
    const [document] = randomDocuments(choose, 1)
    const revision = { _rev: `1-${hash}`, _revisions: { start: 1, ids: [hash] } }
    await items.put({ ...document!, ...revision }, { newEdits: false })
  } else if (kind < 11) {
    await db.transaction(async (tx) => {
      const inside = tx.collection<Record<string, unknown>>('random')
      await inside.delete(`d${choose(60)}`)
      await inside.upsert(randomDocuments(choose, 1 + choose(6)))
    })
  } else await items.upsert(randomDocuments(choose, kind < 16 ? 1 : 1 + choose(25)))
  if (choose(8) === 0) await db.flush()
}
