/**
 * Goal: everything that a user can cancel is cancelled in one way, and everything that a user can watch counts up.
 * Method: a table of calls. Each runs three times: to its end, with a signal that is aborted already, and with one that is aborted
 * halfway through the calls of the page store that the first run made.
 */
import { expect, test } from 'vitest'
import type { LongWork } from '../../src/base/long-work.ts'
import type { Collection } from '../../src/database/collection/collection.ts'
import { repair } from '../../src/database/check/repair.ts'
import type { Database } from '../../src/database/database.ts'
import { systemEnvironment } from '../../src/database/lifecycle/environment.ts'
import { open } from '../../src/database/lifecycle/open.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import type { DatabaseStorage, PageStore } from '../../src/storage/page-store.ts'
import { deviceKey } from '../storage/encrypted/fixture.ts'

interface Person {
  readonly n: number
  readonly text: string
}

interface Scene {
  readonly db: Database
  readonly people: Collection<Person>
  readonly storage: WatchedStorage
}

interface Call {
  readonly run: (scene: Scene, work: LongWork) => Promise<unknown>
  /** It reports the part that is done. */
  readonly reports?: true
  /** It goes on until it is cancelled. */
  readonly endless?: true
  readonly encrypted?: true
}

const DOCUMENTS = 1500
const reason = new Error('the user has left')
const environment = systemEnvironment()

/** Documents in memory, in which each call is answered in a later task. */
class WatchedStorage implements DatabaseStorage {
  readonly kind = 'memory'
  readonly scope = 'process'
  calls = 0
  onCall: () => void = () => {}
  readonly #inner = memory()

  identify(name: string): string {
    return this.#inner.identify(name)
  }

  has(name: string): Promise<boolean | undefined> {
    return this.#inner.has(name)
  }

  async open(name: string): Promise<PageStore> {
    const store = await this.#inner.open(name)
    return new Proxy(store, {
      get: (target, property) => {
        const method = Reflect.get(target, property) as ((...parameters: unknown[]) => unknown) | undefined
        if (method === undefined) return undefined
        return async (...parameters: unknown[]) => {
          this.calls++
          this.onCall()
          await environment.yield()
          return method.apply(target, parameters)
        }
      },
    })
  }

  destroy(name: string): Promise<void> {
    return this.#inner.destroy(name)
  }
}

async function drain(rows: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of rows);
}

async function bytesOf(stream: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  return new Uint8Array(await new Response(stream as ReadableStream<Uint8Array<ArrayBuffer>>).arrayBuffer())
}

const map = (person: Person, emit: (key: unknown) => void): void => emit(person.n)

async function* inPieces(text: string): AsyncGenerator<string, void, undefined> {
  for (let at = 0; at < text.length; at += 100_000) {
    await environment.yield()
    yield text.slice(at, at + 100_000)
  }
}

const CALLS: Readonly<Record<string, Call>> = {
  'open, of a snapshot': {
    reports: true,
    run: async ({ db, storage }, work) => {
      const from = await bytesOf(db.snapshot())
      const copy = await open(`copy ${++copies}`, { storage, from, ...(work as object) })
      await copy.close()
    },
  },
  'collection, which builds an index': {
    reports: true,
    run: async ({ db }, work) => {
      db.collection<Person>('people', { indexes: ['text', 'n'], ...(work as object) })
      await db.collection('people').ready()
    },
  },
  'collection, which migrates': {
    reports: true,
    run: async ({ db }, work) => {
      const migrations = { 2: (person: object) => ({ ...person, more: true }) }
      db.collection('people', { version: 2, migrations, ...(work as object) })
      await db.collection('people').ready()
    },
  },
  retryMigration: {
    reports: true,
    run: async ({ db }, work) => {
      const fails = (): never => {
        throw new Error('no')
      }
      const people = db.collection('people', { version: 2, migrations: { 2: fails } })
      await people.ready()
      await people.retryMigration(work)
    },
  },
  'query of a view': {
    reports: true,
    run: ({ people }, work) => people.view('byN', { map }).query({ limit: 1, ...(work as object) }),
  },
  'update of a view': {
    reports: true,
    run: ({ people }, work) => people.view('byN', { map }).update(work as object),
  },
  mapReduce: { reports: true, run: ({ people }, work) => people.mapReduce({ map }, work as object) },
  'rows of a view': {
    run: ({ people }, { signal }) => drain(people.view('byN', { map }).rows({ signal: signal! })),
  },
  'find, to an array': {
    run: ({ people }, { signal }) =>
      people
        .find({ n: { $gte: 0 } })
        .signal(signal!)
        .toArray(),
  },
  'find, row by row': { run: ({ people }, { signal }) => drain(people.find({ n: { $gte: 0 } }).signal(signal!)) },
  count: {
    run: ({ people }, { signal }) =>
      people
        .find({ text: { $exists: true } })
        .signal(signal!)
        .count(),
  },
  search: {
    run: async ({ db }, { signal }) => {
      const people = db.collection<Person>('people', { indexes: [{ on: ['text'], text: true }] })
      await people.ready()
      await people.search('1*').signal(signal!).toArray()
    },
  },
  changes: { run: ({ people }, { signal }) => drain(people.changes({ docs: true, signal: signal! })) },
  'changes, live': {
    endless: true,
    run: ({ people }, { signal }) => drain(people.changes({ live: true, signal: signal! })),
  },
  'live query': {
    endless: true,
    run: ({ people }, { signal }) => drain(people.find({ n: 1 }).live({ signal })),
  },
  'live count': {
    endless: true,
    run: ({ people }, { signal }) => drain(people.find({ n: 1 }).liveCount({ signal })),
  },
  'export of documents': { reports: true, run: ({ people }, work) => bytesOf(people.export(work)) },
  'export of a replica': {
    reports: true,
    run: ({ people }, work) => bytesOf(people.export({ format: 'replica', ...work })),
  },
  import: {
    reports: true,
    run: async ({ db, people }, { signal, onProgress }) => {
      const text = new TextDecoder().decode(await bytesOf(people.export()))
      await db.collection(`copy ${++copies}`).import(inPieces(text), {
        signal,
        onProgress: ({ bytes }) => onProgress?.(bytes / text.length),
      })
    },
  },
  'import of a source that stalls': {
    endless: true,
    run: ({ db }, { signal }) => db.collection('other').import(new ReadableStream(), { signal }),
  },
  compact: {
    run: async ({ db }, { signal }) => {
      const kept = db.collection<Person>(`kept ${++copies}`, { history: true })
      await kept.insert(Array.from({ length: 200 }, (_, n) => ({ _id: String(n), n, text: 'old' })))
      for (let n = 0; n < 20; n++) await kept.update(String(n), (person) => ({ ...person, text: 'new' }))
      await kept.compact({ signal })
    },
  },
  check: { reports: true, run: ({ db }, work) => db.check(work) },
  snapshot: { reports: true, run: ({ db }, work) => bytesOf(db.snapshot(work)) },
  moveTo: { reports: true, run: ({ db }, work) => db.moveTo(memory(), work) },
  repair: {
    reports: true,
    run: async ({ db, storage }, work) => {
      const from = await bytesOf(db.snapshot())
      const name = `copy ${++copies}`
      await (await open(name, { storage, from })).close()
      await repair(name, { to: `repaired ${copies}`, storage, ...work })
    },
  },
  rotateKey: { reports: true, encrypted: true, run: ({ db }, work) => db.encryption!.rotateKey(work) },
  replicate: {
    run: async ({ db, people }, { signal }) =>
      await people.replicate({ to: db.collection(`copy ${++copies}`), signal }),
  },
  'replicate, live': {
    endless: true,
    run: async ({ db, people }, { signal }) =>
      await people.replicate({ to: db.collection('copy'), signal, live: true }),
  },
  'an attachment from a source that stalls': {
    endless: true,
    run: ({ people }, { signal }) => people.putAttachment('0', 'film', new ReadableStream(), { signal: signal! }),
  },
}

let copies = 0

async function inScene<T>({ encrypted }: Call, body: (scene: Scene) => Promise<T>): Promise<T> {
  const storage = new WatchedStorage()
  const options = { storage, cacheBytesMax: 1024 * 1024, ...(encrypted && { encryption: { key: deviceKey } }) }
  const db = await open('people', options)
  try {
    const people = db.collection<Person>('people')
    const text = (n: number): string => `${n} `.repeat(100)
    await people.insert(Array.from({ length: DOCUMENTS }, (_, n) => ({ _id: String(n), n, text: text(n) })))
    storage.calls = 0
    return await body({ db, people, storage })
  } finally {
    await db.close()
  }
}

async function isCancelled(work: Promise<unknown>): Promise<void> {
  await expect(work).rejects.toMatchObject({
    code: 'PANNIER_ABORTED',
    message: expect.stringMatching(/^The [a-z ]+ was cancelled\.$/),
    cause: reason,
  })
}

test.each(Object.entries(CALLS))('%s', async (_what, call) => {
  const told: number[] = []
  const onProgress = (done: number): void => void told.push(done)
  let calls = 20
  if (!call.endless) {
    await inScene(call, async (scene) => {
      await call.run(scene, { signal: new AbortController().signal, onProgress })
      calls = scene.storage.calls
    })
  }
  expect(told).toEqual([...told].sort((a, b) => a - b))
  expect(told.at(-1)).toBe(call.reports && 1)

  await inScene(call, (scene) => isCancelled(call.run(scene, { signal: AbortSignal.abort(reason) })))

  await inScene(call, async (scene) => {
    const abort = new AbortController()
    const { storage } = scene
    storage.onCall = () => storage.calls >= calls / 2 && abort.abort(reason)
    if (call.endless) environment.after(20, () => abort.abort(reason))
    await isCancelled(call.run(scene, { signal: abort.signal }))
  })
})
