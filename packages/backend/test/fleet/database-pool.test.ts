/** Goal: few of many databases are open. One that is in use stays open. Those who wait get one in the order of coming. */
import { pause } from 'pannier/internal'
import { memory } from 'pannier/memory'
import { virtualEnvironment, type VirtualEnvironment } from 'pannier/testing'
import { expect, test } from 'vitest'
import { open, PannierError, type Database } from 'pannier'
import { seededRandom } from '../../../db/testing/random.ts'
import { seedsOf } from '../../../../tools/test/seeds.ts'
import { DatabasePool, type DatabasePoolOptions } from '../../src/fleet/database-pool.ts'

/** A pool that notes what it opens, and what is open. */
function notingPool(options: DatabasePoolOptions): {
  readonly environment: VirtualEnvironment
  readonly pool: DatabasePool
  readonly opened: string[]
  readonly openNow: Set<string>
  most: number
} {
  const storage = memory()
  const environment = virtualEnvironment()
  const noting = {
    environment,
    opened: [] as string[],
    openNow: new Set<string>(),
    most: 0,
    pool: new DatabasePool(
      async (name): Promise<Database> => {
        noting.opened.push(name)
        expect(noting.openNow.has(name)).toBe(false)
        noting.openNow.add(name)
        noting.most = Math.max(noting.most, noting.openNow.size)
        const database = await open(name, { storage, environment })
        const close = database.close.bind(database)
        database.close = async () => {
          await close()
          noting.openNow.delete(name)
        }
        return database
      },
      { environment, ...options },
    ),
  }
  return noting
}

const count = (db: Database): Promise<number> => db.collection('items').find().count()

test('a database is opened once for all that use it, and closed when it has been idle', async () => {
  const { environment, pool, opened, openNow } = notingPool({})
  await Promise.all([1, 2, 3].map((n) => pool.use('a', (db) => db.collection('items').insert({ _id: `i${n}` }))))
  expect(opened).toEqual(['a'])
  await environment.advance(59_999)
  expect([...openNow]).toEqual(['a'])
  await environment.advance(1)
  expect([...openNow]).toEqual([])
  expect(pool.counts).toEqual({ open: 0, borrowed: 0 })
  expect(await pool.use('a', count)).toBe(3)
  expect(opened).toEqual(['a', 'a'])
  await pool.close()
})

test('the one that was idle for longest is closed for another one', async () => {
  const { pool, opened, openNow } = notingPool({ openMax: 2 })
  for (const name of ['a', 'b', 'a', 'c', 'a']) await pool.use(name, count)
  expect([...openNow].sort()).toEqual(['a', 'c'])
  await pool.use('b', count)
  expect([...openNow].sort()).toEqual(['a', 'b'])
  expect(opened).toEqual(['a', 'b', 'c', 'b'])
  await pool.close()
})

test('one with a feed on it stays open, however many others come and however long it takes', async () => {
  const { environment, pool, openNow } = notingPool({ openMax: 2, idleMsMax: 1 })
  const borrowed = await pool.borrow('followed')
  const seen: string[] = []
  const ending = new AbortController()
  const feed = (async () => {
    const changes = borrowed.database.collection('items').changes({ live: true, signal: ending.signal })
    for await (const { id } of changes) seen.push(id)
  })().catch(() => {})
  for (let n = 0; n < 10; n++) await pool.use(`other ${n}`, count)
  await environment.advance(86_400_000)
  await pool.use('followed', (db) => db.collection('items').insert({ _id: 'a' }))
  await environment.idle()
  expect(seen).toEqual(['a'])
  ending.abort()
  await feed
  borrowed.release()
  borrowed.release()
  await environment.advance(1)
  expect([...openNow]).toEqual([])
  await pool.close()
})

test('while all are in use those who come wait in their order, and are refused after the time that they may wait', async () => {
  const { pool } = notingPool({ openMax: 2, waitMsMax: 60_000 })
  const [a, b] = [await pool.borrow('a'), await pool.borrow('b')]
  const order: string[] = []
  const waiting = ['c', 'd', 'e'].map((name) => pool.use(name, () => void order.push(name)))
  // One that is open needs no room.
  expect(await pool.use('b', count)).toBe(0)
  expect(order).toEqual([])
  a.release()
  await Promise.all(waiting)
  expect(order).toEqual(['c', 'd', 'e'])
  b.release()
  await pool.close()

  const { environment, pool: impatient } = notingPool({ openMax: 1 })
  using held = await impatient.borrow('a')
  let refusal: unknown
  void impatient.borrow('b').catch((error: unknown) => (refusal = error))
  await environment.advance(29_999)
  expect(refusal).toBeUndefined()
  await environment.advance(1)
  expect(refusal).toMatchObject({ code: 'UNAVAILABLE', retryAfterSeconds: 5 })
  expect((refusal as Error).message).toMatch(/As many databases as may be open are in use \(1\)/)
  held.release()
  await impatient.use('b', count)
  await impatient.close()
})

test('one that can not be opened takes no room, and is tried again', async () => {
  const storage = memory()
  let isAway = true
  const pool = new DatabasePool(
    async (name) => {
      if (isAway) throw new PannierError('PANNIER_OPEN_FAILED', 'It is away.')
      return open(name, { storage })
    },
    { openMax: 1 },
  )
  for (let n = 0; n < 3; n++)
    await expect(pool.use(`x ${n % 2}`, count)).rejects.toMatchObject({ code: 'PANNIER_OPEN_FAILED' })
  expect(pool.counts).toEqual({ open: 0, borrowed: 0 })
  isAway = false
  expect(await pool.use('x 0', count)).toBe(0)
  await pool.close()
})

test('a database that somebody has closed is opened again', async () => {
  const { pool, opened } = notingPool({})
  await pool.use('a', (db) => db.close())
  expect(await pool.use('a', count)).toBe(0)
  expect(opened).toEqual(['a', 'a'])
  await pool.close()
})

test('closing waits for those who use one, refuses others, and closes all', async () => {
  const { environment, pool, openNow } = notingPool({})
  const borrowed = await pool.borrow('a')
  await pool.use('b', count)
  let isClosed = false
  const closing = pool.close().then(() => (isClosed = true))
  await expect(pool.borrow('a')).rejects.toThrow(/are closed/)
  await environment.idle()
  expect([...openNow]).toEqual(['a'])
  expect(isClosed).toBe(false)
  await borrowed.database.collection('items').insert({ _id: 'x' })
  borrowed.release()
  await closing
  expect([...openNow]).toEqual([])
})

test('wrong options are named', () => {
  const make = (options: object) => (): unknown => new DatabasePool(async (name) => open(name), options)
  expect(make({ openMax: 0 })).toThrow(/openMax must be a whole number from 1/)
  expect(make({ openmax: 1 })).toThrow(/did you mean 'openMax'/)
  expect(make({ idleMsMax: -1 })).toThrow(/idleMsMax must be/)
  expect(make({ waitMsMax: Number.NaN })).toThrow(/waitMsMax must be/)
})

for (const seed of seedsOf('race'))
  test(`many tasks, few open databases: nothing is lost, and never more are open (seed ${seed})`, async () => {
    const random = seededRandom(seed)
    const environment = virtualEnvironment()
    const storage = memory()
    let openNow = 0
    const pool = new DatabasePool(
      async (name) => {
        openNow++
        expect(openNow).toBeLessThanOrEqual(4)
        const database = await open(name, { storage, environment })
        const close = database.close.bind(database)
        database.close = async () => {
          await close()
          openNow--
        }
        return database
      },
      { openMax: 4, idleMsMax: 3, environment },
    )
    const written = new Map<string, number>()
    const task = async (): Promise<void> => {
      for (let n = 0; n < 8; n++) {
        const name = `d${random.below(12)}`
        await pool.use(name, async (db) => {
          await db.collection('items').insert({ n })
          written.set(name, (written.get(name) ?? 0) + 1)
          if (random.below(3) === 0) await pause(environment, random.below(8))
        })
      }
    }
    let left = 16
    for (let n = left; n > 0; n--) void task().then(() => left--)
    await environment.until(() => left === 0)
    for (const [name, items] of written) expect(await pool.use(name, count)).toBe(items)
    await pool.close()
    expect(openNow).toBe(0)
  })
