/**
 * Goal: several handles that open a name at once, some with a snapshot that is sound, some with one that is cut off, given up or not there, some
 * with none, and some that delete it: who fails takes nothing from the others.
 * Method: every call takes a random number of turns. Seeds are replayable.
 */
import { describe, expect, test } from 'vitest'
import type { Generation } from '../../src/base/brand.ts'
import { isPannierError } from '../../src/base/errors.ts'
import { destroy } from '../../src/database/lifecycle/destroy.ts'
import { open, type OpenOptions } from '../../src/database/lifecycle/open.ts'
import type { ByteSource } from '../../src/database/transfer/byte-stream.ts'
import { restore } from '../../src/database/lifecycle/restore.ts'
import { systemEnvironment } from '../../src/database/lifecycle/environment.ts'
import type { Coordinator, WriterLease } from '../../src/storage/coordinator.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import type { DatabaseStorage } from '../../src/storage/page-store.ts'
import { RawFileStorage } from '../../testing/raw-file-storage.ts'
import { seededRandom, type Random } from '../../testing/random.ts'
import { deviceKey } from '../storage/encrypted/fixture.ts'
import { pause, slow } from '../../testing/slow-storage.ts'
import { seedsOf, timeoutOf } from '../../../../tools/test/seeds.ts'

const NAME = 'notes'
const HANDLES = 4
const DOCUMENTS = 60
const LATE_TURNS_MAX = 60

/** So long that pages are staged before its end. */
const LARGE_DOCUMENTS = 1000

const SNAPSHOT = await snapshot(DOCUMENTS)
const LARGE = await snapshot(LARGE_DOCUMENTS)

const ENCRYPTIONS = [
  ['plain', {}],
  ['encrypted', { encryption: { key: deviceKey } }],
] as const
const STORAGES = [
  ['memory', () => memory()],
  ['raw files', () => new RawFileStorage()],
] as const

describe.each(ENCRYPTIONS)('%s', (_encryption, options) => {
  test.each(STORAGES)('%s', { timeout: timeoutOf(300_000) }, async (_storage, make) => {
    for (const seed of seedsOf('race', 0.7)) {
      try {
        await race(seed, make(), options)
      } catch (error) {
        throw new Error(`seed ${seed}`, { cause: error })
      }
    }
  })
})

test.each(STORAGES)(
  '%s: a handle that waits for the lease to restore is not closed by one that fails',
  async (_storage, make) => {
    const storage = make()
    const failing = Promise.withResolvers<Uint8Array>()
    const asked = Promise.withResolvers<void>()
    const first = open(NAME, {
      storage,
      from: () => {
        asked.resolve()
        return failing.promise
      },
    })
    first.catch(() => {})
    await asked.promise
    const second = open(NAME, { storage, from: () => SNAPSHOT })
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
    failing.reject(LOST)
    await expect(first).rejects.toBe(LOST)
    const db = await second
    expect((await db.collection('notes').list().toArray()).length).toBe(DOCUMENTS)
    await db.close()
  },
)

test.each(STORAGES)('%s: a source that stalls, and the wait for it, end with their signals', async (_storage, make) => {
  const storage = make()
  for (const asked of [Promise.withResolvers<void>(), undefined]) {
    const from = (): ByteSource | Promise<ByteSource> => {
      if (asked !== undefined) return stalled(SNAPSHOT, asked.resolve, new Promise(() => {}))
      return new Promise(() => {})
    }
    const reader = new AbortController()
    const first = open(NAME, { storage, signal: reader.signal, from })
    await asked?.promise
    const waiter = new AbortController()
    const second = open(NAME, { storage, signal: waiter.signal, from: () => SNAPSHOT })
    const third = open(NAME, { storage })
    await new Promise(setImmediate)
    waiter.abort()
    await expect(second).rejects.toMatchObject({ code: 'PANNIER_ABORTED' })
    const db = await third
    const written = db.collection('notes').insert({ _id: 'a' })
    reader.abort()
    await expect(first).rejects.toMatchObject({ code: 'PANNIER_ABORTED' })
    await written
    await db.destroy()
  }
})

describe.each(STORAGES)('%s: whose lease was taken away while it was frozen', (_storage, make) => {
  test('opens what another one has made meanwhile', async () => {
    const storage = make()
    const thawed = Promise.withResolvers<void>()
    const asked = Promise.withResolvers<void>()
    const first = open(NAME, { storage, from: () => stalled(SNAPSHOT, asked.resolve, thawed.promise) })
    await asked.promise
    const second = await open(NAME, { storage: unheard(storage), from: () => SNAPSHOT })
    await second.collection('notes').insert({ _id: 'late' })
    thawed.resolve()
    const db = await first
    expect((await db.collection('notes').list().toArray()).length).toBe(DOCUMENTS + 1)
    await Promise.all([db.close(), second.close()])
  })

  test('takes nothing from one that restores, when it fails', async () => {
    const storage = make()
    const pins = new Map<object, Generation>()
    const lease = { wanted: false, lost: false, onWanted: () => {}, release: () => {} }
    const start = async (firstLease: WriterLease, asked: () => void, going: Promise<void>): Promise<void> =>
      restore(() => stalled(LARGE, asked, going), {
        name: NAME,
        storage,
        store: await storage.open(NAME),
        coordinator: lawless(pins, firstLease),
        environment: systemEnvironment(),
        durability: 'relaxed',
      })
    const [thawed, asked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const first = start(lease, asked.resolve, thawed.promise)
    first.catch(() => {})
    await asked.promise
    lease.lost = true
    const [going, askedToo] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const second = start({ ...lease, lost: false }, askedToo.resolve, going.promise)
    await askedToo.promise
    thawed.reject(LOST)
    await expect(first).rejects.toBe(LOST)
    going.resolve()
    await second
    const db = await open(NAME, { storage })
    expect((await db.collection('notes').list().toArray()).length).toBe(LARGE_DOCUMENTS)
    expect((await db.check()).problems).toEqual([])
    await db.close()
  })
})

/** Everybody has the lease; only pins are kept. */
function lawless(pins: Map<object, Generation>, lease: WriterLease): Coordinator {
  const self = {}
  return {
    acquireWriter: async () => lease,
    announce: () => {},
    onHint: () => {},
    pin: async (generation) => void pins.set(self, generation),
    oldestPinned: async () => (pins.size === 0 ? undefined : (Math.min(...pins.values()) as Generation)),
    close: () => void pins.delete(self),
  }
}

/** As those see it that do not hear of others. */
function unheard(storage: DatabaseStorage): DatabaseStorage {
  return slow(storage, seededRandom(1), 'origin')
}

/** Half of it and more, then the rest. */
async function* stalled(bytes: Uint8Array, asked: () => void, going: Promise<void>): AsyncGenerator<Uint8Array> {
  const at = Math.floor(bytes.length * 0.8)
  yield bytes.slice(0, at)
  asked()
  await going
  yield bytes.slice(at)
}

const LOST = new Error('the network is gone')

async function race(seed: number, storage: DatabaseStorage, options: OpenOptions): Promise<void> {
  const random = seededRandom(seed)
  const acknowledged: string[] = []
  await Promise.all(
    Array.from({ length: HANDLES }, async (_, number) => {
      const own = random.fork()
      await pause(own, LATE_TURNS_MAX)
      const kind = own.below(5)
      const controller = new AbortController()
      if (kind === 2) void pause(own, LATE_TURNS_MAX).then(() => controller.abort())
      const isSound = kind < 3
      const from =
        kind === 4 ? undefined : () => source(own.fork(), isSound ? SNAPSHOT.length : own.below(SNAPSHOT.length))
      const opening = open(NAME, {
        ...options,
        storage: slow(storage, own),
        ...(from && { from }),
        signal: controller.signal,
      })
      const db = await opening.catch((error: unknown) => {
        const codes = kind === 2 ? ['PANNIER_ABORTED'] : ['PANNIER_CORRUPT', 'PANNIER_FORMAT_WRONG']
        if ((kind === 2 || kind === 3) && isPannierError(error) && codes.includes(error.code)) return undefined
        if (kind === 3 && error === LOST) return undefined
        return closed(error)
      })
      if (db === undefined) return
      try {
        const notes = db.collection('notes')
        const count = (await notes.list().toArray()).length
        if (kind < 4) expect(count).toBeGreaterThan(0)
        for (let n = 0; n < 2; n++) {
          const _id = `${number}-${n}`
          await notes.insert({ _id })
          acknowledged.push(_id)
        }
      } catch (error) {
        closed(error)
      } finally {
        await db.close()
      }
    }),
  )
  const db = await open(NAME, { storage, ...options })
  const ids = (await db.collection('notes').list().toArray()).map(({ id }) => id)
  expect((await db.check()).problems).toEqual([])
  await db.close()
  expect(ids).toEqual(expect.arrayContaining(acknowledged))
  expect([acknowledged.length, acknowledged.length + DOCUMENTS]).toContain(ids.length)
}

/** One that can't restore takes away what it takes for unused; in that moment another one may come. */
function closed(error: unknown): undefined {
  if (!isPannierError(error, 'PANNIER_CLOSED')) throw error
}

async function* source(random: Random, length: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < length; at += 30_000) {
    await pause(random)
    yield SNAPSHOT.slice(at, Math.min(length, at + 30_000))
  }
  if (length < SNAPSHOT.length && random.chance(0.5)) throw LOST
}

async function snapshot(count: number): Promise<Uint8Array> {
  const storage = memory()
  const db = await open(NAME, { storage })
  const text = 'x'.repeat(4000)
  await db.collection('notes').insert(Array.from({ length: count }, (_, n) => ({ _id: `a${n}`, text: text + n })))
  const bytes = new Uint8Array(
    await new Response(db.snapshot() as ReadableStream<Uint8Array<ArrayBuffer>>).arrayBuffer(),
  )
  await db.close()
  await destroy(NAME, { storage })
  return bytes
}
