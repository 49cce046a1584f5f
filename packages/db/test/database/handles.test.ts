/**
 * Goal: several handles on one database, each with its own guess of what the catalog holds, never write anything that another
 * one cannot read, and hear of one another; options and life cycle of `open`.
 */
import { expect, test } from 'vitest'
import type { Database } from '../../src/database/database.ts'
import type { DatabaseChange } from '../../src/database/feed/change-notifier.ts'
import { open } from '../../src/database/lifecycle/open.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import { seededRandom } from '../../testing/random.ts'

async function openTwice(): Promise<[Database, Database]> {
  const storage = memory()
  return [await open('x', { storage }), await open('x', { storage })]
}

async function closeAll(...handles: Database[]): Promise<void> {
  for (const db of handles) expect((await db.check()).problems).toEqual([])
  for (const db of handles) await db.close()
}

test('two handles add different shapes at the same time', async () => {
  const handles = await openTwice()
  const random = seededRandom(5)
  const expected = new Map<string, Record<string, unknown>>()
  for (let round = 0; round < 30; round++) {
    await Promise.all(
      handles.map((db, handle) => {
        const content = Object.fromEntries(
          Array.from({ length: 3 }, () => [`f${random.below(12)}`, { [`g${random.below(9)}`]: round }]),
        )
        expected.set(`d${round}-${handle}`, content)
        return db.collection('docs').insert({ ...content, _id: `d${round}-${handle}` })
      }),
    )
  }
  for (const db of handles) {
    await db.refresh()
    const documents = await db.collection('docs').get([...expected.keys()])
    for (const { _id, _rev, ...content } of documents.map((document) => document!))
      expect(content).toEqual(expected.get(_id))
  }
  await closeAll(...handles)
})

test('two handles create the same collection with different indexes', async () => {
  const [one, two] = await openTwice()
  const first = one.collection('docs', { indexes: ['a'] })
  const second = two.collection('docs', { indexes: ['b'] })
  await Promise.all([first.insert({ _id: '1', a: 1 }), second.insert({ _id: '2', b: 2 })])
  await first.ready()
  await second.ready()
  await first.insert({ _id: '3', a: 3, b: 3 })
  await first.ready()
  await two.refresh()
  expect((await second.indexes()).map(({ name, ready }) => `${name} ${ready}`).toSorted()).toEqual(['a true', 'b true'])
  await closeAll(one, two)
})

test('two handles want the same keys of a unique index at the same time', async () => {
  const handles = await openTwice()
  const indexes = [{ on: 'email', unique: true }]
  const users = handles.map((db) => db.collection('users', { indexes }))
  await users[0]!.insert({ _id: 'first', email: 'first' })
  await Promise.all(users.map((one) => one.ready()))
  const random = seededRandom(9)
  let refused = 0
  for (let round = 0; round < 30; round++) {
    const writes = users.map((one, handle) => {
      const batch = Array.from({ length: 1 + random.below(3) }, (_, at) => ({
        _id: `d${round}-${handle}-${at}`,
        email: `e${random.below(60)}`,
      }))
      return random.chance(0.3) ? one.upsert(batch, { atomic: false }) : one.insert(batch)
    })
    for (const result of await Promise.allSettled(writes)) {
      if (result.status === 'fulfilled') refused += result.value.filter((one) => 'error' in one).length
      else {
        expect(result.reason).toMatchObject({ code: 'PANNIER_NOT_UNIQUE' })
        refused++
      }
    }
  }
  expect(refused).toBeGreaterThan(10)
  for (const [at, db] of handles.entries()) {
    await db.refresh()
    const emails = (await users[at]!.find({}).toArray()).map(({ email }) => email)
    expect(new Set(emails).size).toBe(emails.length)
    expect(await users[at]!.duplicates('email')).toEqual([])
  }
  await closeAll(...handles)
})

test('two handles build a unique index on duplicates at the same time: both hear of them', async () => {
  const [one, two] = await openTwice()
  const duplicates = Array.from({ length: 300 }, (_, n) => ({ _id: `d${n}`, email: `e${n % 299}` }))
  await one.collection('users').insert(duplicates)
  await two.refresh()
  const indexes = ['name', { on: 'email', unique: true }]
  const users = [one, two].map((db) => db.collection('users', { indexes }))
  for (const outcome of await Promise.allSettled(users.map((each) => each.ready())))
    expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'PANNIER_NOT_UNIQUE' } })
  await Promise.all([one.refresh(), two.refresh()])
  for (const each of users) expect(await each.indexes()).toMatchObject([{ name: 'name', ready: true }])
  await closeAll(one, two)
})

test('a unique index that is dropped while it is built does not come back', async () => {
  const db = await open('x', { storage: memory() })
  await db.collection('docs').insert(Array.from({ length: 5000 }, (_, n) => ({ _id: `d${n}`, n })))
  const docs = db.collection('docs', { indexes: [{ on: 'n', unique: true }, 'm'] })
  while ((await docs.indexes()).length === 0) await new Promise(setImmediate)
  expect(await docs.dropIndex('n')).toBe(true)
  await docs.ready()
  expect(await docs.indexes()).toMatchObject([{ name: 'm', ready: true }])
  await db.close()
})

test('an index that another handle has defined otherwise fails `ready`', async () => {
  const [one, two] = await openTwice()
  await one.collection('docs', { indexes: [{ on: 'a', name: 'x' }] }).insert({ _id: '1' })
  const docs = two.collection('docs', { indexes: [{ on: 'b', name: 'x' }] })
  await expect(docs.ready()).rejects.toMatchObject({ code: 'PANNIER_INDEX_MISMATCH', details: { name: 'x' } })
  await closeAll(one, two)
})

test('each handle hears of the commits of the other', async () => {
  const [one, two] = await openTwice()
  await one.collection('docs').insert({ _id: 'before' })
  // News of the first commit may still be on its way.
  const heard = new Promise<DatabaseChange>((resolve) =>
    two.subscribe((change) => change.collections.get('docs')?.ids?.includes('a') && resolve(change)),
  )
  await one.collection('docs').insert({ _id: 'a' })
  const { collections, local } = await heard
  expect(local).toBe(false)
  expect([...collections.keys()]).toEqual(['docs'])
  expect(await two.collection('docs').get('a')).toBeDefined()
  await closeAll(one, two)
})

test('a transaction and the writes of another handle take turns', async () => {
  const handles = await openTwice()
  await handles[0].collection<{ n: number }>('docs').insert({ _id: 'a', n: 0 })
  const add = (db: Database): Promise<void> =>
    db.transaction(async (tx) => {
      const docs = tx.collection<{ n: number }>('docs')
      const { n } = (await docs.get('a'))!
      await docs.upsert({ _id: 'a', n: n + 1 })
    })
  await Promise.all(Array.from({ length: 10 }, (_, at) => add(handles[at % 2]!)))
  expect((await handles[1].collection<{ n: number }>('docs').update('a', () => undefined)).rev).toMatch(/^11-/)
  await closeAll(...handles)
})

test('what is there is found again; an unfinished build is continued', async () => {
  const storage = memory()
  const before = await open('x', { storage, collections: { docs: { indexes: ['a'] } } })
  await before.collection('docs').insert(Array.from({ length: 1000 }, (_, a) => ({ a, b: a % 7 })))
  const docs = before.collection('docs', { indexes: ['b'] })
  await before.close()
  await docs.ready().catch(() => {})
  const progress: number[] = []
  const after = await open('x', {
    storage,
    collections: { docs: { indexes: ['a', 'b'] } },
    onProgress: (done) => progress.push(done),
  })
  await after.collection('docs').ready()
  expect(await after.collection('docs').find({ b: 3 }).count()).toBe(143)
  expect(progress.at(-1)).toBe(1)
  expect(after.storage).toBe('memory')
  await closeAll(after)
})

test('destroy leaves nothing', async () => {
  const storage = memory()
  const db = await open('x', { storage })
  await db.collection('docs').insert({ _id: 'a' })
  await db.destroy()
  const again = await open('x', { storage })
  expect(await again.collections()).toEqual([])
  await closeAll(again)
})

test('open: wrong arguments throw at once, an aborted signal rejects', async () => {
  const storage = memory()
  expect(() => open('')).toThrow(TypeError)
  expect(() => open('x', { storage, durability: 'none' as never })).toThrow(TypeError)
  expect(() => open('x', { storage, cacheBytesMax: 1 })).toThrow(TypeError)
  await expect(open('x', { storage, signal: AbortSignal.abort('no') })).rejects.toMatchObject({
    code: 'PANNIER_ABORTED',
    cause: 'no',
  })
  await expect(open('x', { storage, collections: { docs: { indexes: [''] } } })).rejects.toThrow(TypeError)
  await using db = await open('x', { storage })
  expect(await db.collections()).toEqual([])
})

test('a handle tells its name and storage', async () => {
  const db = await open('x', { storage: memory() })
  expect([db.name, db.storage, db.collection('docs').name]).toEqual(['x', 'memory', 'docs'])
  await closeAll(db)
})

test('subscribe() reports a purge inside a transaction, beside other writes', async () => {
  const [one, two] = await openTwice()
  await one.collection('docs').insert([{ _id: 'a' }, { _id: 'b' }])
  await two.refresh()
  const heard = [one, two].map((db) => new Promise<DatabaseChange>((resolve) => db.subscribe(resolve)))
  await one.transaction(async (tx) => {
    await tx.collection('docs').purge('a')
    await tx.collection('docs').upsert([{ _id: 'b', n: 1 }, { _id: 'c' }])
  })
  for (const change of heard) expect((await change).collections.get('docs')?.ids).toEqual(['a', 'b', 'c'])
  await closeAll(one, two)
})

test('a transaction waits for what was asked for in it, also for what is loaded on demand', async () => {
  const [one, two] = await openTwice()
  await one.transaction((tx) => {
    const docs = tx.collection('docs')
    void docs.local.put({ _id: 'seen' })
    void docs.putAttachment('a', 'x', 'text')
    void docs.insert({ _id: 'b' })
    void docs.purge('b')
  })
  const docs = one.collection('docs')
  expect(await docs.local.get('seen')).toMatchObject({ _rev: '0-1' })
  expect(await docs.getAttachment('a', 'x')).toBeDefined()
  expect(await docs.get('b')).toBeUndefined()
  await closeAll(one, two)
})

test('a failed opening releases its lease', async () => {
  const storage = memory()
  const broken: typeof storage = {
    ...storage,
    kind: storage.kind,
    scope: storage.scope,
    identify: (name) => storage.identify(name),
    has: (name) => storage.has(name),
    destroy: (name) => storage.destroy(name),
    open: async (name) => {
      const pages = await storage.open(name)
      return new Proxy(pages, {
        get: (target, key) =>
          key === 'read'
            ? () => Promise.reject(new Error('no'))
            : (Reflect.get(target, key) as () => unknown).bind(target),
      })
    },
  }
  await expect(open('x', { storage: broken })).rejects.toThrow('no')
  const db = await open('x', { storage })
  await db.collection('docs').insert({ _id: 'a' })
  await db.flush()
  await closeAll(db)
})
