/**
 * Goal: all live queries of a database listen as one, read each commit once, and let go of everything however they end; and
 * a snapshot that has expired, as after a freeze, does no harm.
 */
import { expect, test } from 'vitest'
import { PannierError } from '../../src/base/errors.ts'
import type { Database } from '../../src/database/database.ts'
import type { HeldSnapshot, KeyValueStore } from '../../src/kv/key-value-store.ts'
import { eventually, Follower } from '../../testing/live-rows.ts'
import { countingEnvironment, databaseOver } from '../../testing/model-database.ts'
import { aMoment } from '../../testing/suite.ts'
import { modelKeyValueStore } from '../../testing/model-key-value-store.ts'

interface Counts {
  snapshots: number
  held: number
  listeners: number
}

interface Item {
  readonly n: number
}

function countingDatabase(expires: () => boolean = () => false): { db: Database; counts: Counts } {
  const store = modelKeyValueStore()
  const counts: Counts = { snapshots: 0, held: 0, listeners: 0 }
  const snapshot = (): HeldSnapshot => {
    counts.snapshots++
    counts.held++
    const held = store.snapshot()
    const release = held.release.bind(held)
    held.release = () => {
      counts.held--
      release()
    }
    const attempt = held.attempt.bind(held)
    held.attempt = (step) => {
      if (expires()) throw new PannierError('PANNIER_SNAPSHOT_EXPIRED', 'as after a freeze')
      return attempt(step)
    }
    return held
  }
  const counting: KeyValueStore = {
    databaseId: store.databaseId,
    read: (read) => store.read(read),
    write: (write) => store.write(write),
    begin: () => store.begin(),
    refresh: () => store.refresh(),
    checkpoint: () => store.checkpoint(),
    close: () => store.close(),
    snapshot,
    onCommit: (listener) => {
      counts.listeners++
      const stop = store.onCommit(listener)
      return () => {
        counts.listeners--
        stop()
      }
    },
  }
  return { db: databaseOver(counting, countingEnvironment()), counts }
}

test('a thousand live queries: one listener, and one snapshot for a commit', async () => {
  const { db, counts } = countingDatabase()
  const items = db.collection<Item>('items')
  await items.insert(Array.from({ length: 50 }, (_, n) => ({ _id: `d${n}`, n })))
  const others = db.collection<Item>('others')
  const lives = Array.from({ length: 500 }, (_, n) => [
    items.find({ n }).live(),
    others.find({ n: { $gt: n } }).live(),
  ]).flat()
  await Promise.all(lives.map(({ ready }) => ready))
  expect([counts.listeners, counts.held]).toEqual([1, 0])
  // What a write itself takes.
  const before = counts.snapshots
  await db.collection<Item>('unwatched').insert({ _id: 'x', n: 1 })
  const write = counts.snapshots - before - 1
  const start = counts.snapshots
  for (let n = 0; n < 20; n++) await items.upsert({ _id: 'x', n })
  expect(lives[38]!.value!.map(({ _id }) => _id)).toEqual(['d19', 'x'])
  expect(counts.snapshots - start).toBe(20 * (1 + write))
  for (const live of lives) live.close()
  await Promise.resolve()
  expect([counts.listeners, counts.held]).toEqual([0, 0])
  await db.close()
})

test('live counts: a commit that changes nothing in a range costs it nothing, one that does is a count by rank', async () => {
  const { db, counts } = countingDatabase()
  const items = db.collection<Item>('items', { indexes: ['n'] })
  await items.insert(Array.from({ length: 500 }, (_, n) => ({ _id: `d${n}`, n })))
  await items.ready()
  const ranked = Array.from({ length: 50 }, (_, n) => items.find({ n: { $gte: n * 10, $lt: n * 10 + 10 } }).liveCount())
  // Not of a range: it holds ids, and reads nothing however it changes.
  const held = items.find({ n: { $mod: [2, 0] } }).liveCount()
  await Promise.all([...ranked, held].map(({ ready }) => ready))
  /** Snapshots beside those of the write and of the watcher, which reads what has changed. */
  const recounts = async (write: () => Promise<unknown>): Promise<number> => {
    await db.collection<Item>('unwatched').upsert({ _id: 'x', n: 1 })
    const start = counts.snapshots
    await db.collection<Item>('unwatched').upsert({ _id: 'x', n: 1 })
    const before = counts.snapshots
    await write()
    for (let turn = 0; turn < 20; turn++) await aMoment()
    return counts.snapshots - before - (before - start)
  }
  expect(await recounts(() => items.upsert({ _id: 'x', n: 1000 }))).toBe(0)
  expect(await recounts(() => items.upsert({ _id: 'x', n: 123 }))).toBe(1)
  expect(await recounts(() => items.upsert({ _id: 'x', n: 456 }))).toBe(2)
  expect([ranked[12]!.value, ranked[45]!.value, held.value]).toEqual([10, 11, 251])
  expect(await recounts(() => items.upsert({ _id: 'x', n: 2001 }))).toBe(1)
  expect([ranked[45]!.value, held.value]).toEqual([10, 250])
  for (const live of [...ranked, held]) live.close()
  await Promise.resolve()
  expect([counts.listeners, counts.held]).toEqual([0, 0])
  await db.close()
})

test('the listener comes back with the next query', async () => {
  const { db, counts } = countingDatabase()
  const items = db.collection<Item>('items')
  for (let round = 0; round < 3; round++) {
    const controller = new AbortController()
    const follower = new Follower(items.find().live({ signal: controller.signal }))
    await follower.reach(await items.find().toArray())
    expect(counts.listeners).toBe(1)
    await items.insert({ _id: `d${round}`, n: round })
    await follower.reach(await items.find().toArray())
    controller.abort()
    expect([counts.listeners, counts.held]).toEqual([0, 0])
  }
  const follower = new Follower(items.find().live())
  await follower.reach(await items.find().toArray())
  await db.close()
  expect([counts.listeners, counts.held, follower.ended]).toEqual([0, 0, true])
})

test('snapshots that have expired are read again; one that always has fails the query', async () => {
  let left = 0
  const { db, counts } = countingDatabase(() => left-- > 0)
  const items = db.collection<Item>('items')
  await items.insert({ _id: 'a', n: 1 })
  left = 2
  const follower = new Follower(items.find().live())
  await follower.live.ready
  for (let n = 0; n < 3; n++) {
    left = n
    await items.insert({ _id: `b${n}`, n })
    left = Math.max(left, 0)
    await eventually(() => follower.rows?.length === n + 2)
    expect(follower.rows?.length).toBe(n + 2)
  }
  // A loop that is at work when the query fails hears of it when it asks for more.
  let atWork = false
  const loop = (async () => {
    for await (const _ of follower.live) {
      atWork = true
      await eventually(() => follower.ended)
    }
  })()
  loop.catch(() => {})
  await eventually(() => atWork)
  left = 100
  await items.insert({ _id: 'c', n: 1 })
  await eventually(() => follower.ended)
  await expect(loop).rejects.toHaveProperty('code', 'PANNIER_SNAPSHOT_EXPIRED')
  expect([follower.ended, (follower.error as PannierError).code]).toEqual([true, 'PANNIER_SNAPSHOT_EXPIRED'])
  expect([counts.listeners, counts.held]).toEqual([0, 0])
  left = 0
  await db.close()
})
