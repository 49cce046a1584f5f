/** Goal: a handle whose database is gone ends as a whole, at the first sign: nobody reads what another one has destroyed. */
import { expect, test } from 'vitest'
import type { Database } from '../../src/database/database.ts'
import { destroy } from '../../src/database/lifecycle/destroy.ts'
import { open } from '../../src/database/lifecycle/open.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import type { DatabaseStorage, PageStore } from '../../src/storage/page-store.ts'
import { RawFileStorage } from '../../testing/raw-file-storage.ts'
import { deviceKey } from '../storage/encrypted/fixture.ts'

const ROWS = 100
const GONE = { code: 'PANNIER_CLOSED' }

/** A storage whose handles hear nothing of the end: their next call finds out. */
function untold(inner: DatabaseStorage): DatabaseStorage {
  return {
    ...inner,
    kind: 'untold',
    scope: inner.scope,
    identify: (name) => inner.identify(name),
    has: (name) => inner.has(name),
    destroy: (name) => inner.destroy(name),
    async open(name): Promise<PageStore> {
      const store = await inner.open(name)
      return new Proxy(store, {
        get: (target, name) => {
          if (name === 'onGone') return undefined
          const value: unknown = Reflect.get(target, name)
          return typeof value === 'function' ? (value.bind(target) as unknown) : value
        },
      })
    },
  }
}

async function filled(storage: DatabaseStorage, options = {}): Promise<Database> {
  const db = await open('d', { storage, ...options })
  await db.collection('c').insert(Array.from({ length: ROWS }, (_, n) => ({ _id: `k${n}`, n, text: 'x'.repeat(2000) })))
  return db
}

/** Everything that reads, by name. */
const READS: Readonly<Record<string, (db: Database) => Promise<unknown>>> = {
  get: (db) => db.collection('c').get('k1'),
  find: (db) => db.collection('c').find({ n: 1 }).toArray(),
  count: (db) => db.collection('c').find().count(),
  list: (db) => db.collection('c').list().toArray(),
  info: (db) => db.collection('c').info(),
  collections: (db) => db.collections(),
  changes: (db) => db.collection('c').changes().toArray(),
  aggregate: (db) =>
    db
      .collection('c')
      .find()
      .aggregate({ max: { $max: 'n' } }),
  mapReduce: (db) => db.collection('c').mapReduce({ map: (document, emit) => emit(document['n']) }),
  export: (db) => new Response(db.collection('c').export()).text(),
  snapshot: (db) => new Response(db.snapshot()).arrayBuffer(),
  live: (db) => db.collection('c').find().live().ready,
  check: (db) => db.check(),
  refresh: (db) => db.refresh(),
  transaction: (db) => db.transaction((tx) => tx.collection('c').get('k1')),
  insert: (db) => db.collection('c').insert({}),
}

test.each([
  ['memory', () => memory(), {}],
  ['encrypted', () => memory(), { encryption: { key: deviceKey } }],
] as const)(
  'once a database is destroyed by another handle every call of this one rejects: %s',
  async (_, make, options) => {
    const storage = make()
    const db = await filled(storage, options)
    await READS['get']!(db)
    await destroy('d', { storage })
    for (const [name, read] of Object.entries(READS)) await expect(read(db), name).rejects.toMatchObject(GONE)
    expect(await db.closed).toMatchObject(GONE)
    await db.close()
  },
)

test.each(['insert', 'refresh'])('a handle that hears nothing ends with its first refused %s', async (first) => {
  const storage = untold(memory())
  const db = await filled(storage)
  const live = db.collection('c').find().live()
  await live.ready
  await destroy('d', { storage })
  await expect(READS[first]!(db)).rejects.toMatchObject(GONE)
  for (const [name, read] of Object.entries(READS)) await expect(read(db), name).rejects.toMatchObject(GONE)
  expect(live.status).toBe('failed')
  expect(await db.closed).toMatchObject(GONE)
})

test('what is live ends with the reason: queries, counts, feeds, loops, exports, replications', async () => {
  const storage = memory()
  const db = await filled(storage)
  const c = db.collection<{ _id: string; n: number }>('c')
  const live = c.find().live()
  const count = c.find().liveCount()
  await Promise.all([live.ready, count.ready])
  const ends: unknown[] = []
  live.subscribe(() => {}, { onEnd: (error) => ends.push(error) })
  const feed = (async () => {
    for await (const _ of c.changes({ live: true }));
  })()
  const rows = (async () => {
    for await (const _ of live);
  })()
  const reader = c.export().getReader()
  await reader.read()
  const walk = c.find()[Symbol.asyncIterator]()
  await walk.next()
  const sync = c.sync('http://127.0.0.1:9/x', { live: true, fetch: () => new Promise(() => {}) })
  void sync.then(
    () => {},
    () => {},
  )
  await db.refresh()
  const ended = Promise.allSettled([feed, rows, sync])
  await destroy('d', { storage })
  for (const end of await ended) expect(end).toMatchObject({ status: 'rejected', reason: GONE })
  for (const { status, error } of [live, count]) expect([status, error]).toMatchObject(['failed', GONE])
  expect(ends).toMatchObject([GONE])
  await expect(
    (async () => {
      while (!(await reader.read()).done);
    })(),
  ).rejects.toMatchObject(GONE)
  await expect(
    (async () => {
      while (!(await walk.next()).done);
    })(),
  ).rejects.toMatchObject(GONE)
})

test('what a page calls while it renders does not throw on a handle whose database is gone', async () => {
  const storage = memory()
  const db = await filled(storage)
  await destroy('d', { storage })
  const query = db.collection('c').find({ n: 1 })
  db.subscribe(() => {})()
  for (const live of [query.live(), db.collection('other').find().liveCount()]) {
    await expect(live.ready).rejects.toMatchObject(GONE)
    expect([live.status, live.error]).toMatchObject(['failed', GONE])
  }
})

test('a handle that is closed, destroyed or moved by its own caller has ended without a reason, and live queries have not failed', async () => {
  for (const end of [
    (db: Database) => db.close(),
    (db: Database) => db.destroy(),
    (db: Database) => db.moveTo(new RawFileStorage()),
  ]) {
    const db = await filled(memory())
    const live = db.collection('c').find().live()
    await live.ready
    await end(db)
    expect(await db.closed).toBeUndefined()
    expect(live.status).toBe('ended')
  }
})

test('the other handles of a database that is moved end with the reason', async () => {
  const storage = memory()
  const [mover, other] = [await filled(storage), await open('d', { storage })]
  await mover.moveTo(new RawFileStorage())
  expect(await other.closed).toMatchObject(GONE)
  await expect(READS['get']!(other)).rejects.toMatchObject(GONE)
})
