/** The page of the tests of surroundings. The workers run the same work, on all parts of the library in one file. */
import { destroy, firstOf, indexedDb, open, type Collection, type Database, type LiveQuery } from '../../src/all.ts'
import { opfs } from '../../src/opfs.ts'
import { inSurroundings, type Work } from './surroundings-work.ts'

interface Row {
  readonly n: number
}

type Kind = 'opfs' | 'indexeddb' | 'chosen'

let db: Database | undefined
let rows: Collection<Row>
let live: LiveQuery<Row>
let closed = ''

const codeOf = (error: unknown): string => (error as { readonly code?: string }).code ?? String(error)

async function openHere(name: string, kind: Kind, writeWaitMsMax?: number): Promise<string> {
  const storages = { opfs: () => opfs(), indexeddb: () => indexedDb(), chosen: () => firstOf(opfs(), indexedDb()) }
  db = await open(name, { storage: storages[kind](), ...(writeWaitMsMax !== undefined && { writeWaitMsMax }) })
  void db.closed.then((reason) => (closed = reason === undefined ? 'closed' : codeOf(reason)))
  rows = db.collection<Row>('rows')
  live = rows.find().live()
  await live.ready
  return db.storage
}

/** What each way to read gives: a number of rows, or the code of an error. */
async function reads(): Promise<Record<string, number | string>> {
  const ways: Record<string, () => Promise<number>> = {
    get: async () => ((await rows.get('k1')) === undefined ? 0 : 1),
    find: async () => (await rows.find().toArray()).length,
    count: () => rows.find().count(),
    indexed: () => rows.find({ n: { $gt: 90 } }).count(),
    export: async () => {
      let lines = 0
      // WebKit's streams can't be looped over.
      const reader = rows.export().getReader()
      while (!(await reader.read()).done) lines++
      return lines
    },
  }
  const found = Object.entries(ways).map(async ([name, read]) => [name, await read().catch(codeOf)] as const)
  return Object.fromEntries(await Promise.all(found))
}

/** Asks the service worker, which is registered first. */
async function inServiceWorker(work: Work): Promise<unknown> {
  const registration = await navigator.serviceWorker.register('/surroundings-worker.page.js', { type: 'module' })
  const worker = registration.installing ?? registration.waiting ?? registration.active
  const { port1, port2 } = new MessageChannel()
  const answer = new Promise((resolve) => {
    port1.addEventListener('message', ({ data }) => resolve(data))
    port1.start()
  })
  worker!.postMessage(work, [port2])
  return answer
}

async function inSharedWorker(work: Work): Promise<unknown> {
  const { port } = new SharedWorker('/surroundings-shared.page.js', { type: 'module' })
  const answer = new Promise((resolve) => port.addEventListener('message', ({ data }) => resolve(data), { once: true }))
  port.start()
  port.postMessage(work)
  return answer
}

interface SurroundingsTab {
  isSecure(): boolean
  hasLocks(): boolean
  /** Gives the kind of the storage. */
  open(name: string, kind: Kind, writeWaitMsMax?: number): Promise<string>
  /** `fulfilled`, or the code of the error. */
  insert(from: number, to: number): Promise<string>
  /** What a live query and a count see, when the query has these rows. */
  seen(count: number): Promise<Readonly<Record<'live' | 'count', number>>>
  /** What is left of a database that has ended. */
  ended(): Promise<Readonly<Record<string, unknown>>>
  close(): Promise<void>
  destroy(name: string, kind: 'opfs' | 'indexeddb'): Promise<void>
  work(work: Work): Promise<Readonly<Record<string, string>>>
  inServiceWorker(work: Work): Promise<unknown>
  inSharedWorker(work: Work): Promise<unknown>
}

declare global {
  var surroundings: SurroundingsTab
}

async function until(isSo: () => boolean): Promise<void> {
  const deadline = performance.now() + 10_000
  while (!isSo() && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 20))
}

globalThis.surroundings = {
  isSecure: () => isSecureContext,
  hasLocks: () => 'locks' in navigator,
  open: openHere,
  insert: (from, to) =>
    rows
      .insert(Array.from({ length: to - from }, (_, at) => ({ _id: `k${from + at}`, n: from + at })))
      .then(() => 'fulfilled', codeOf),
  async seen(count) {
    await until(() => (live.value ?? []).length >= count)
    return { live: (live.value ?? []).length, count: await rows.find().count() }
  },
  async ended() {
    await until(() => closed !== '')
    return { closed, status: live.status, ...(await reads()) }
  },
  close: async () => db?.close(),
  destroy: (name, kind) => destroy(name, { storage: kind === 'opfs' ? opfs() : indexedDb() }),
  work: inSurroundings,
  inServiceWorker,
  inSharedWorker,
}
