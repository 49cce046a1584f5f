/**
 * Goal: a log that is damaged at any record opens in the state before it, read-only, on every kind of storage; and is well again when
 * somebody writes a newer state. Method: the log is changed on its way out of the store.
 */
import { MemoryLevel } from 'memory-level'
import { expect, onTestFinished, test } from 'vitest'
import { open } from '../../src/index.ts'
import { level } from '../../src/level.ts'
import { memory } from '../../src/memory.ts'
import type { LogRecord, DatabaseStorage, StoreState } from '../../src/storage/page-store.ts'

const RECORDS = 6

type Change = (log: readonly LogRecord[], at: number) => readonly LogRecord[]

const CHANGES: Readonly<Record<string, Change>> = {
  'a bit': (log, at) =>
    log.map((record, index) => (index === at ? { ...record, bytes: flipped(record.bytes) } : record)),
  'its end': (log, at) =>
    log.map((record, index) => (index === at ? { ...record, bytes: record.bytes.slice(0, -1) } : record)),
  'all of it': (log, at) => log.filter((_, index) => index !== at || at === log.length - 1),
  'its place': (log, at) =>
    log.map((record, index) => (index === at ? { ...record, bytes: log[(at + 1) % log.length]!.bytes } : record)),
}

function flipped(bytes: Uint8Array): Uint8Array {
  const changed = bytes.slice()
  changed[changed.length >> 1]! ^= 4
  return changed
}

function changing(
  storage: DatabaseStorage,
  change: (log: readonly LogRecord[]) => readonly LogRecord[],
): DatabaseStorage {
  return {
    kind: storage.kind,
    scope: storage.scope,
    identify: (name) => storage.identify(name),
    has: (name) => storage.has(name),
    destroy: (name) => storage.destroy(name),
    async open(name) {
      const store = await storage.open(name)
      return new Proxy(store, {
        get(target, method) {
          const value = Reflect.get(target, method) as ((...parameters: unknown[]) => unknown) | undefined
          if (method !== 'read') return value?.bind(target)
          return async (...parameters: []) => {
            const state = (await value!.apply(target, parameters)) as StoreState
            return { ...state, log: change(state.log) }
          }
        },
      })
    },
  }
}

const STORAGES: Readonly<Record<string, () => DatabaseStorage>> = {
  memory: () => memory(),
  LevelDB: () => level(new MemoryLevel()),
}

const cases = Object.keys(STORAGES).flatMap((kind) => Object.keys(CHANGES).map((change) => [kind, change] as const))

test.each(cases)('%s: %s of a record is damaged', async (kind, change) => {
  const storage = STORAGES[kind]!()
  const db = await open('s', { storage })
  onTestFinished(() => db.close())
  const notes = db.collection('notes')
  await notes.insert({ _id: 'n0' })
  await db.flush()
  for (let n = 1; n <= RECORDS; n++) await notes.insert({ _id: `n${n}` })
  for (let at = 0; at < RECORDS; at++) {
    // Whether the last record is there at all can't be told.
    const isUnnoticed = change === 'all of it' && at === RECORDS - 1
    const damaged = await open('s', { storage: changing(storage, (log) => CHANGES[change]!(log, at)) })
    try {
      expect(damaged.damage?.code).toBe(isUnnoticed ? undefined : 'PANNIER_CORRUPT')
      const ids = (await damaged.collection('notes').find().toArray()).map(({ _id }) => _id)
      expect(ids).toEqual(Array.from({ length: isUnnoticed ? RECORDS + 1 : at + 1 }, (_, n) => `n${n}`))
      if (isUnnoticed) continue
      expect((await damaged.check()).problems).toEqual([
        { code: 'LOG_DAMAGED', where: undefined, message: damaged.damage!.message },
      ])
      await expect(damaged.collection('notes').insert({ _id: 'more' })).rejects.toBe(damaged.damage)
    } finally {
      await damaged.close()
    }
  }
})

test('another handle that writes a newer state makes it well again', async () => {
  const storage = memory()
  const db = await open('s', { storage })
  onTestFinished(() => db.close())
  const notes = db.collection('notes')
  for (let n = 0; n < RECORDS; n++) await notes.insert({ _id: `n${n}` })
  const damaged = await open('s', { storage: changing(storage, (log) => CHANGES['a bit']!(log, 2)) })
  onTestFinished(() => damaged.close())
  expect(damaged.damage).toBeDefined()
  await db.flush()
  await damaged.refresh()
  expect(damaged.damage).toBeUndefined()
  await damaged.collection('notes').insert({ _id: 'more' })
  expect(await damaged.collection('notes').find().count()).toBe(RECORDS + 1)
  expect((await damaged.check()).problems).toEqual([])
})
