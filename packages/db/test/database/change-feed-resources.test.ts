/**
 * Goal: however a feed ends it lets go of what it listened to, and while its consumer is idle it holds no snapshot; compaction
 * and storage checkpoints under a live feed do no harm.
 */
import { expect, test } from 'vitest'
import { PannierError } from '../../src/base/errors.ts'
import { Miss } from '../../src/base/miss.ts'
import type { Database } from '../../src/database/database.ts'
import type { HeldSnapshot, KeyValueStore } from '../../src/kv/key-value-store.ts'
import { open } from '../../src/database/lifecycle/open.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import { countingEnvironment, databaseOver } from '../../testing/model-database.ts'
import { modelKeyValueStore } from '../../testing/model-key-value-store.ts'

interface Counts {
  snapshots: number
  listeners: number
}

function countingDatabase(expire: () => boolean = () => false): { db: Database; counts: Counts } {
  const store = modelKeyValueStore({ missChance: 0.5, seed: 8 })
  const counts: Counts = { snapshots: 0, listeners: 0 }
  const counting: KeyValueStore = {
    databaseId: store.databaseId,
    read: (read) => store.read(read),
    write: (write) => store.write(write),
    begin: () => store.begin(),
    refresh: () => store.refresh(),
    checkpoint: () => store.checkpoint(),
    close: () => store.close(),
    snapshot: () => heldOnce(store.snapshot(), counts, expire),
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

function heldOnce(snapshot: HeldSnapshot, counts: Counts, expire: () => boolean): HeldSnapshot {
  counts.snapshots++
  let held = true
  const release = snapshot.release.bind(snapshot)
  snapshot.release = () => {
    if (held) counts.snapshots--
    held = false
    release()
  }
  const attempt = snapshot.attempt.bind(snapshot)
  snapshot.attempt = (step) =>
    attempt(() => {
      try {
        return step()
      } catch (thrown) {
        if (thrown instanceof Miss && expire()) throw new PannierError('PANNIER_SNAPSHOT_EXPIRED', 'as after a freeze')
        throw thrown
      }
    })
  return snapshot
}

test('whichever way a feed ends, nothing is held or listened to', async () => {
  const { db, counts } = countingDatabase()
  const items = db.collection<{ n: number }>('items')
  await items.insert(Array.from({ length: 700 }, (_, n) => ({ _id: `d${n}`, n })))
  const idle = { snapshots: 0, listeners: 0 }
  for (const live of [false, true]) {
    let count = 0
    for await (const _ of items.changes({ live, docs: true })) {
      expect(counts).toEqual({ snapshots: 0, listeners: live ? 1 : 0 })
      if (++count === 300) break
    }
    expect(counts).toEqual(idle)
    await expect(loop(items.changes({ live, filter: fails }))).rejects.toThrow(RangeError)
    expect(counts).toEqual(idle)
    const controller = new AbortController()
    const aborted = loop(items.changes({ live, signal: controller.signal }), () => controller.abort())
    await expect(aborted).rejects.toMatchObject({ code: 'PANNIER_ABORTED' })
    expect(counts).toEqual(idle)
  }
  await loop(items.changes())
  await loop(items.changes({ live: true, limit: 5 }))
  expect(counts).toEqual(idle)
  const waiting = Array.from({ length: 50 }, () => items.changes({ live: true, since: 'now' })[Symbol.asyncIterator]())
  const ends = Promise.all(waiting.map((iterator) => iterator.next()))
  await Promise.all(waiting.slice(0, 25).map((iterator) => iterator.return!()))
  await db.close()
  expect((await ends).every(({ done }) => done === true)).toBe(true)
  expect(counts).toEqual(idle)
})

test('leaving a loop over a list releases its snapshot', async () => {
  const { db, counts } = countingDatabase()
  const items = db.collection<{ n: number }>('items')
  await items.insert(Array.from({ length: 700 }, (_, n) => ({ _id: `d${n}`, n })))
  for await (const _ of items.list()) {
    expect(counts.snapshots).toBe(1)
    break
  }
  expect(counts.snapshots).toBe(0)
  await items.list({ skip: 10 }).page()
  expect(counts.snapshots).toBe(0)
})

test('a batch whose snapshot has expired is read again', async () => {
  for (const options of [{}, { descending: true }, { selector: { n: 3 } }, { selector: { n: 3 }, descending: true }]) {
    let misses = 0
    let expired = 0
    let reading = false
    const { db } = countingDatabase(() => reading && misses++ % 25 === 1 && ++expired > 0)
    const items = db.collection<{ n: number }>('items', { indexes: ['n'] })
    await items.insert(Array.from({ length: 9000 }, (_, n) => ({ _id: `d${n}`, n: n % 700 })))
    await items.ready()
    reading = true
    const rows: unknown[] = []
    for await (const row of items.changes(options)) rows.push(row)
    reading = false
    expect(rows).toEqual(await items.changes(options).toArray())
    expect(expired).toBeGreaterThan(0)
    await db.close()
  }
})

test('the epoch and the last number survive, also when the last change was purged', async () => {
  const storage = memory()
  const reopen = (): Promise<Database> => open('x', { storage })
  let db = await reopen()
  await db.collection('items').insert(['a', 'b', 'c'].map((_id) => ({ _id })))
  await db.collection('items').purge('c')
  const before = await db.collection('items').info()
  for (const checkpoint of [false, true]) {
    if (checkpoint) await db.flush()
    await db.close()
    db = await reopen()
    const { storedBytes, ...info } = await db.collection('items').info()
    expect({ ...info, storedBytes: before.storedBytes }).toEqual(before)
    expect(storedBytes! > 0).toBe(checkpoint)
  }
  const { lastSeq, epoch } = before
  await db.collection('items').insert({ _id: 'd' })
  const rows = await db.collection('items').changes({ since: lastSeq, epoch: epoch! }).toArray()
  expect(rows.map(({ seq, id }) => [seq, id])).toEqual([[lastSeq + 1, 'd']])
  await db.close()
})

test('compaction and storage checkpoints under a live feed', async () => {
  const db = await open('x', { storage: memory(), cacheBytesMax: 1024 * 1024 })
  const items = db.collection<{ n: number }>('items')
  await items.insert(Array.from({ length: 3000 }, (_, n) => ({ _id: `d${n}`, n, filler: 'x'.repeat(400) })))
  const seen = new Map<string, number>()
  for await (const { id, seq, doc } of items.changes({ live: true, docs: true })) {
    seen.set(id, (doc as { n: number }).n)
    if (seq % 500 === 0 && seq < 5000) {
      await items.upsert(Array.from({ length: 300 }, (_, n) => ({ _id: `d${(seq + n * 7) % 3000}`, n: -seq })))
      await items.compact()
      await db.flush()
    }
    if (seq === (await items.info()).lastSeq) break
  }
  const all = await items.find().toArray()
  expect(Object.fromEntries(seen)).toEqual(Object.fromEntries(all.map(({ _id, n }) => [_id, n])))
  expect((await db.check()).problems).toEqual([])
  await db.close()
})

function fails(): never {
  throw new RangeError('on purpose')
}

async function loop(feed: AsyncIterable<unknown>, each: () => void = () => {}): Promise<void> {
  for await (const _ of feed) each()
}
