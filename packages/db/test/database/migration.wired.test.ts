/**
 * Goal: code that declares a newer version never sees a document of an older one; nothing is lost or migrated twice, however many
 * handles migrate, whatever is aborted, and whoever reads and writes meanwhile.
 */
import { expect, test } from 'vitest'
import { z } from 'zod'
import type { Database } from '../../src/database/database.ts'
import type { JsonObject } from '../../src/database/collection/document-types.ts'
import { open } from '../../src/database/lifecycle/open.ts'
import type { Migration } from '../../src/database/schema/collection-schema.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import type { DatabaseStorage } from '../../src/storage/page-store.ts'
import { countingEnvironment, databaseOver } from '../../testing/model-database.ts'
import { modelKeyValueStore } from '../../testing/model-key-value-store.ts'

const COUNT = 1200

/** 1: { n }; 2: { n, text }; 3: { text, twice }. */
const MIGRATIONS: Record<number, Migration> = {
  2: (doc) => ({ ...doc, text: String(doc['n']) }),
  3: async ({ n, ...doc }) => ({ ...doc, twice: 2 * Number(n) }),
}
const SCHEMA_3 = z.object({ text: z.string(), twice: z.number() })
const VERSION_3 = { schema: SCHEMA_3, version: 3, migrations: MIGRATIONS }
const VERSION_2 = { version: 2, migrations: { 2: MIGRATIONS[2]! } }

async function fill(db: Database, count: number = COUNT): Promise<void> {
  const docs = db.collection('docs', { version: 1 })
  await docs.insert(Array.from({ length: count }, (_, n) => ({ _id: `d${n}`, n })))
}

async function filled(count?: number): Promise<DatabaseStorage> {
  const storage = memory()
  const db = await open('x', { storage })
  await fill(db, count)
  await db.close()
  return storage
}

async function expectMigrated(db: Database, count: number = COUNT): Promise<void> {
  const all = await db.collection('docs').find().toArray()
  expect(all.length).toBe(count)
  for (const { _id, _rev, ...content } of all) {
    const n = Number(_id.slice(1))
    expect(content).toEqual({ text: String(n), twice: 2 * n })
    expect(_rev).toMatch(/^2-/)
  }
  expect((await db.check()).problems).toEqual([])
}

test('whatever is read or written waits until it is migrated', async () => {
  const storage = await filled()
  const db = await open('x', { storage })
  const progress: number[] = []
  const docs = db.collection('docs', { ...VERSION_3, indexes: ['twice'], onProgress: (done) => progress.push(done) })
  const [one, many, count, first, updated, inside] = await Promise.all([
    docs.get('d7'),
    docs.get(['d8', 'd9']),
    docs.find({ twice: { $gte: 0 } }).count(),
    docs.find({ twice: 20 }).first(),
    docs.update('d1', (doc) => ({ ...doc, twice: -2 })),
    db.transaction(async (tx) => [await tx.collection('docs').get('d5'), await docs.get('d6')]),
  ])
  expect(one).toMatchObject({ text: '7', twice: 14 })
  expect(many.map((doc) => doc!.twice)).toEqual([16, 18])
  expect(count).toBe(COUNT)
  expect(first?._id).toBe('d10')
  expect(updated.rev).toMatch(/^3-/)
  expect(inside).toMatchObject([{ twice: 10 }, { twice: 12 }])
  await docs.ready()
  expect(await docs.find({ twice: -2 }).count()).toBe(1)
  expect([...progress].filter((done) => done === 1).length).toBeGreaterThan(0)
  expect(progress.every((done) => done >= 0 && done <= 1)).toBe(true)
  expect(await docs.migrationFailures()).toEqual([])
  expect((await db.check()).problems).toEqual([])
  await db.close()
})

test('it is done once; a new collection has the version from the start', async () => {
  const storage = await filled(10)
  const first = await open('x', { storage, collections: { docs: VERSION_3 } })
  await first.collection('docs').ready()
  await expectMigrated(first, 10)
  await first.collection<JsonObject>('other', VERSION_2).insert({ _id: 'a', n: 1 })
  await first.close()
  const never: Record<number, Migration> = {
    2: () => {
      throw new Error('called')
    },
    3: () => {
      throw new Error('called')
    },
  }
  const again = await open('x', { storage, collections: { docs: { version: 3, migrations: never } } })
  await again.collection('docs').ready()
  await expectMigrated(again, 10)
  expect(await again.collection<JsonObject>('other', VERSION_2).get('a')).toMatchObject({ n: 1 })
  await again.close()
})

test('old code is refused while newer code migrates and afterwards, and nobody waits for ever', async () => {
  const storage = await filled()
  const refused = { code: 'PANNIER_SCHEMA_NEWER', details: { collection: 'docs', version: 3, known: 1 } }
  const [before, after, tool] = [
    await open('x', { storage, collections: { docs: { version: 1 } } }),
    await open('x', { storage }),
    await open('x', { storage }),
  ]
  const old = before.collection('docs')
  expect(await old.get('d1')).toMatchObject({ n: 1 })
  const fresh = after.collection('docs', VERSION_3)
  // Writes of the old code, among the batches of the migration, are done before it begins or refused.
  const writes: Promise<unknown>[] = []
  for (let at = 0; at < 30; at++) {
    const write = old.upsert({ _id: `d${at}`, n: at })
    write.catch(() => {})
    writes.push(write)
    await new Promise((resolve) => setImmediate(resolve))
  }
  const outcomes = await Promise.allSettled(writes)
  await fresh.ready()
  for (const outcome of outcomes) if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject(refused)
  await before.refresh()
  await expect(old.get('d1')).rejects.toMatchObject(refused)
  await expect(old.find().toArray()).rejects.toMatchObject(refused)
  await expect(old.update('d1', (doc) => doc)).rejects.toMatchObject(refused)
  await expect(old.delete('d1')).rejects.toMatchObject(refused)
  await expect(before.transaction((tx) => tx.collection('docs').get('d1'))).rejects.toMatchObject(refused)
  const older = await open('x', { storage, collections: { docs: VERSION_2 } })
  await expect(older.collection('docs').ready()).rejects.toMatchObject({ code: 'PANNIER_SCHEMA_NEWER' })
  // What declares no version may look, but does not write what nobody has checked.
  await tool.refresh()
  expect(await tool.collection('docs').get('d77')).toMatchObject({ twice: 154 })
  await expect(tool.collection('docs').upsert({ _id: 'd1' })).rejects.toMatchObject({ code: 'PANNIER_SCHEMA_NEWER' })
  const all = await fresh.find().toArray()
  expect(all.length).toBe(COUNT)
  expect(all.every((doc) => doc.twice === 2 * Number(doc._id.slice(1)))).toBe(true)
  for (const db of [before, after, older, tool]) await db.close()
})

test('several handles migrate at once: each document is written once', async () => {
  const storage = await filled()
  const handles = await Promise.all([1, 2, 3].map(() => open('x', { storage, collections: { docs: VERSION_3 } })))
  await Promise.all(handles.map((db) => db.collection('docs').ready()))
  for (const db of handles) {
    await db.refresh()
    await expectMigrated(db)
  }
  for (const db of handles) await db.close()
})

test('a handle that gets ahead and then stands still is waited for, and then overtaken', async () => {
  const storage = await filled()
  const ahead = Promise.withResolvers<void>()
  const stuck = Promise.withResolvers<void>()
  let resumed = false
  const first = await open('x', { storage })
  const second = await open('x', { storage })
  // The second one is at its first batch until the first one has written that, and then hangs in its next.
  const stuckMigration: Migration = async (doc) => {
    if (doc['n'] === 600 && !resumed) await stuck.promise
    return MIGRATIONS[2]!(doc)
  }
  const slowMigration: Migration = async (doc) => {
    await ahead.promise
    return MIGRATIONS[2]!(doc)
  }
  const slow = second.collection('docs', { ...VERSION_3, migrations: { ...MIGRATIONS, 2: slowMigration } })
  first.collection('docs', {
    ...VERSION_3,
    migrations: { ...MIGRATIONS, 2: stuckMigration },
    onProgress: () => ahead.resolve(),
  })
  await slow.ready()
  await expectMigrated(second)
  resumed = true
  stuck.resolve()
  await first.collection('docs').ready()
  await expectMigrated(first)
  await first.close()
  await second.close()
})

test('an interrupted migration is continued, also by still newer code', async () => {
  const storage = await filled()
  let called = 0
  const counted: Migration = (doc) => {
    called++
    return MIGRATIONS[2]!(doc)
  }
  const stop = new AbortController()
  const first = await open('x', { storage })
  const docs = first.collection('docs', {
    version: 2,
    migrations: { 2: counted },
    signal: stop.signal,
    onProgress: () => stop.abort('enough'),
  })
  await expect(docs.ready()).rejects.toMatchObject({ code: 'PANNIER_ABORTED', cause: 'enough' })
  await expect(docs.get('d1')).rejects.toMatchObject({ code: 'PANNIER_ABORTED' })
  await first.close()
  expect(called).toBeGreaterThanOrEqual(500)
  expect(called).toBeLessThan(COUNT)
  const second = await open('x', {
    storage,
    collections: { docs: { ...VERSION_3, migrations: { ...MIGRATIONS, 2: counted } } },
  })
  await second.collection('docs').ready()
  expect(called).toBe(COUNT)
  const all = await second.collection('docs').find().toArray()
  expect(all.length).toBe(COUNT)
  expect(all.every((doc) => doc.text === doc._id.slice(1) && doc.twice === 2 * Number(doc.text))).toBe(true)
  expect((await second.check()).problems).toEqual([])
  await second.close()
})

test('what fails is kept as it was, listed with the reason, and migrated by a retry or with a later version', async () => {
  const storage = memory()
  const first = await open('x', { storage })
  await fill(first, 20)
  await first.close()
  let broken = true
  const migrations: Record<number, Migration> = {
    2: (doc) => {
      if (broken && doc['n'] === 3) throw new RangeError('three')
      if (broken && doc['n'] === 4) return undefined as never
      if (broken && doc['n'] === 5) return { ...doc, _id: 'other' }
      if (broken && doc['n'] === 6) return { ...doc, text: () => {} }
      if (broken && doc['n'] === 7) return { ...doc, text: 7 }
      return { ...doc, text: String(doc['n']) }
    },
  }
  const db = await open('x', { storage })
  const schema = z.object({ n: z.number(), text: z.string() })
  const docs = db.collection('docs', { schema, version: 2, migrations })
  const failures = await docs.migrationFailures()
  expect(failures.map(({ id, version }) => [id, version])).toEqual([3, 4, 5, 6, 7].map((n) => [`d${n}`, 1]))
  expect(failures[0]).toMatchObject({ message: 'three', issues: [], rev: expect.stringMatching(/^1-/) })
  expect(failures[4]!.issues).toMatchObject([{ path: ['text'] }])
  expect(await docs.get('d3')).toEqual({ _id: 'd3', _rev: failures[0]!.rev, n: 3 })
  expect(await docs.find({ text: { $exists: true } }).count()).toBe(15)
  expect(await docs.retryMigration()).toEqual({ migrated: 0, failed: 5 })
  // One that is written, or deleted, has not failed any more.
  await docs.update('d4', (doc) => ({ ...doc, text: 'four' }))
  await docs.delete('d5')
  expect((await docs.migrationFailures()).map(({ id }) => id)).toEqual(['d3', 'd6', 'd7'])
  broken = false
  const progress: number[] = []
  expect(await docs.retryMigration({ onProgress: (done) => progress.push(done) })).toEqual({ migrated: 3, failed: 0 })
  expect(progress.at(-1)).toBe(1)
  expect(await docs.migrationFailures()).toEqual([])
  expect(await docs.get('d6')).toMatchObject({ n: 6, text: '6', _rev: expect.stringMatching(/^2-/) })
  expect(await docs.retryMigration()).toEqual({ migrated: 0, failed: 0 })
  await expect(docs.retryMigration({ signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'PANNIER_ABORTED' })
  expect((await db.check()).problems).toEqual([])
  await db.close()
})

test('what failed on the way to a version starts there when a later one comes', async () => {
  const storage = await filled(10)
  const two: Migration = (doc) => {
    if (doc['n'] === 3) throw new Error('not yet')
    return MIGRATIONS[2]!(doc)
  }
  const first = await open('x', { storage, collections: { docs: { version: 2, migrations: { 2: two } } } })
  expect((await first.collection('docs').migrationFailures()).map(({ id }) => id)).toEqual(['d3'])
  await first.close()
  const second = await open('x', { storage, collections: { docs: VERSION_3 } })
  expect(await second.collection('docs').migrationFailures()).toEqual([])
  expect(await second.collection('docs').get('d3')).toMatchObject({ text: '3', twice: 6 })
  await second.close()
})

test('replicas that migrate the same documents come to the same revisions', async () => {
  const revisions = async (): Promise<string[]> => {
    const db = await open('x', { storage: await filled(50) })
    const docs = db.collection('docs', VERSION_3)
    const all = await docs.find().sort('_id').toArray()
    await db.close()
    return all.map(({ _id, _rev }) => `${_id} ${_rev}`)
  }
  const first = await revisions()
  expect(await revisions()).toEqual(first)
})

test('a migration deletes by _deleted; what does not change keeps its revision', async () => {
  const db = await open('x', { storage: await filled(10) })
  const seen: JsonObject[] = []
  const docs = db.collection('docs', {
    version: 2,
    migrations: {
      2: (doc) => {
        seen.push({ ...doc })
        if (doc['n'] === 1) return { _deleted: true }
        if (doc['n'] === 2) return { n: 2 }
        // It is a copy, so it may be changed.
        Object.assign(doc, { at: 2 })
        return doc
      },
    },
  })
  expect((await docs.get('d0'))?._rev).toMatch(/^2-/)
  expect(await docs.get('d1')).toBeUndefined()
  expect((await docs.get('d2'))?._rev).toMatch(/^1-/)
  expect(seen[0]).toEqual({ _id: 'd0', n: 0 })
  expect(await docs.find({ at: 2 }).count()).toBe(8)
  expect((await db.check()).problems).toEqual([])
  await db.close()
})

test('a collection that is dropped meanwhile, and one that does not exist', async () => {
  const db = await open('x', { storage: await filled() })
  const docs = db.collection('docs', VERSION_3)
  const dropped = db.dropCollection('docs')
  await docs.ready()
  expect(await docs.find().count()).toBe(0)
  await docs.insert({ _id: 'a', text: 'a', twice: 1 })
  expect(await db.collection('missing', VERSION_2).migrationFailures()).toEqual([])
  expect(await dropped).toBe(true)
  expect((await db.check()).problems).toEqual([])
  await db.close()
})

test('over a store that misses, as another handle that has shut the old code out', async () => {
  for (const missChance of [0.3, 1]) {
    const store = modelKeyValueStore({ seed: 5, missChance })
    const environment = countingEnvironment()
    await fill(databaseOver(store, environment), 600)
    const db = databaseOver(store, environment)
    const docs = db.collection('docs', { ...VERSION_3, indexes: ['twice'] })
    expect(await docs.find({ twice: { $gte: 0 } }).count()).toBe(600)
    await docs.ready()
    await expectMigrated(db, 600)
  }
})

test('a transaction that meets a collection to be migrated starts over', async () => {
  const db = await open('x', { storage: await filled() })
  let runs = 0
  const found = await db.transaction(async (tx) => {
    runs++
    db.collection('docs', VERSION_3)
    await tx.collection('log').insert({ run: runs })
    // Even if its function makes nothing of it.
    return await tx
      .collection('docs')
      .get('d4')
      .catch(() => 'swallowed')
  })
  expect(found).toMatchObject({ twice: 8 })
  expect(runs).toBe(2)
  expect(await db.collection('log').find().fields('run').toArray()).toEqual([{ run: 2 }])
  await db.close()
})
