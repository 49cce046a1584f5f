/** Goal: what each operation costs PostgreSQL, in statements and round trips: docs/internals/postgres.md. */
import { setTimeout } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { open } from '../../db/src/index.ts'
import { postgres } from '../src/index.ts'
import { newName, onPostgres } from './on-postgres.ts'

onPostgres((get) => {
  // No poll and no heartbeat, however long a test takes.
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }))
  afterEach(() => void vi.useRealTimers())

  /** Without hints, and without a poll while a test runs. */
  const quiet = (): ReturnType<typeof postgres> => postgres(get().url, { notify: false, pollMs: 1e9 })

  test('cached reads cost nothing, a commit one statement, and a group of commits one', async () => {
    const storage = quiet()
    await using db = await open(newName(), { storage, durability: 'strict' })
    const items = db.collection<{ n: number }>('items', { indexes: ['n'] })
    await items.insert(Array.from({ length: 200 }, (_, n) => ({ _id: `i${n}`, n })))
    await items.find({ n: { $gte: 5 } }).count()
    let before = storage.counts.statements
    const taken = (): number => {
      const count = storage.counts.statements - before
      before = storage.counts.statements
      return count
    }
    expect(await items.get('i7')).toMatchObject({ n: 7 })
    expect(await items.find({ n: { $gte: 100 } }).count()).toBe(100)
    expect(await items.find().skip(150).limit(10).toArray()).toHaveLength(10)
    expect(taken()).toBe(0)
    await items.insert({ _id: 'one', n: 1 })
    expect(taken()).toBe(1)
    await Promise.all(Array.from({ length: 64 }, (_, n) => items.insert({ _id: `g${n}`, n })))
    expect(taken()).toBe(1)
    await items.update('one', (item) => ({ ...item, n: 2 }))
    await items.delete('one')
    expect(taken()).toBe(2)
  })

  test('a hint is one statement beside a commit, and shared by all that wait', async () => {
    const storage = postgres(get().url, { pollMs: 1e9 })
    await using db = await open(newName(), { storage })
    const items = db.collection<{ n: number }>('items')
    await items.insert({ _id: 'a', n: 0 })
    const before = storage.counts.statements
    for (let n = 0; n < 50; n++) await items.insert({ _id: `i${n}`, n })
    const count = storage.counts.statements - before
    expect(count).toBeGreaterThanOrEqual(51)
    // The hint of the one before them may come late.
    expect(count).toBeLessThanOrEqual(101)
  })

  test('a turn costs two statements: beside them are the write, two messages, and a look of each server at what is new', async () => {
    const name = newName()
    const storages = ['127.0.0.1', 'localhost'].map((host) =>
      postgres(get().url.replace('127.0.0.1', host), { pollMs: 1e9 }),
    )
    await using one = await open(name, { storage: storages[0]! })
    await using two = await open(name, { storage: storages[1]! })
    const databases = [one, two]
    await one.collection('items').insert({ _id: 'first' })
    const count = (): number => storages.reduce((sum, { counts }) => sum + counts.statements, 0)
    /** What a turn has said to others is under way no more. */
    const quiet = async (): Promise<void> => {
      for (let before = -1; before !== count(); await setTimeout(20)) before = count()
    }
    const often = new Map<number, number>()
    let cost = 0
    for (let turn = 0; (often.get(cost) ?? 0) < 10; turn++) {
      await quiet()
      const before = count()
      await databases[turn % 2]!.collection('items').insert({ _id: `i${turn}` })
      await quiet()
      cost = count() - before
      often.set(cost, (often.get(cost) ?? 0) + 1)
    }
    // On a busy machine some cost more or less: they ask again where an answer is late, or hear of two things at once.
    expect(cost).toBe(7)
  })

  test('opening takes at most three round trips, whatever the size', async () => {
    const name = newName()
    for (const documents of [1, 5000]) {
      await using db = await open(name, { storage: quiet() })
      await db.collection('items').upsert(Array.from({ length: documents }, (_, n) => ({ _id: `i${n}`, n })))
    }
    const storage = quiet()
    await using first = await open(newName(), { storage })
    const { trips } = storage.counts
    await using db = await open(name, { storage })
    expect(storage.counts.trips - trips).toBeLessThanOrEqual(3)
    expect(await db.collection('items').find().count()).toBe(5000)
    expect(first.name).not.toBe(name)
  })
})
