/** Goal: what each operation costs PostgreSQL, in statements and round trips: docs/internals/postgres.md. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { open } from '../../db/src/index.ts'
import { postgres } from '../src/index.ts'
import { onPostgres } from './on-postgres.ts'

onPostgres((get) => {
  /** Without hints, and without a poll while a test runs. */
  const quiet = (): ReturnType<typeof postgres> => postgres(get().url, { notify: false, pollMs: 1e9 })

  test('cached reads cost nothing, a commit one statement, and a group of commits one', async () => {
    const storage = quiet()
    await using db = await open(randomUUID(), { storage, durability: 'strict' })
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
    await using db = await open(randomUUID(), { storage })
    const items = db.collection<{ n: number }>('items')
    await items.insert({ _id: 'a', n: 0 })
    const before = storage.counts.statements
    for (let n = 0; n < 50; n++) await items.insert({ _id: `i${n}`, n })
    const count = storage.counts.statements - before
    expect(count).toBeGreaterThanOrEqual(51)
    expect(count).toBeLessThanOrEqual(100)
  })

  test('opening takes at most three round trips, whatever the size', async () => {
    const name = randomUUID()
    for (const documents of [1, 5000]) {
      await using db = await open(name, { storage: quiet() })
      await db.collection('items').upsert(Array.from({ length: documents }, (_, n) => ({ _id: `i${n}`, n })))
    }
    const storage = quiet()
    await using first = await open(randomUUID(), { storage })
    const { trips } = storage.counts
    await using db = await open(name, { storage })
    expect(storage.counts.trips - trips).toBeLessThanOrEqual(3)
    expect(await db.collection('items').find().count()).toBe(5000)
    expect(first.name).not.toBe(name)
  })
})
