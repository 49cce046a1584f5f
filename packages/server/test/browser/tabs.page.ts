/** A page for tabs.browser.ts: syncs collections with a server, as an app in several tabs does. */
import { open } from '../../../db/src/index.ts'
import type { Database, Replication } from '../../../db/src/index.ts'

export interface SyncTab {
  start(database: string, url: string, names: readonly string[]): Promise<void>
  /** A document with this id into each collection. */
  write(id: string): Promise<void>
  /** The documents of all collections together. */
  count(): Promise<number>
  status(): string
  /** Requests for the URL that this tab has sent since it was loaded. */
  requests(): number
  /** Milliseconds that a request of the app itself takes. */
  fetchMs(): Promise<number>
}

declare global {
  var syncTab: SyncTab
}

let db: Database
let sync: Replication
let server: string
let collections: readonly string[]

performance.setResourceTimingBufferSize(100_000)

globalThis.syncTab = {
  async start(database, url, names) {
    db = await open(database)
    collections = names
    server = new URL(url).origin
    sync = db.sync(url, { collections: names, live: true })
    sync.then(
      () => {},
      () => {},
    )
  },
  write: async (_id) => {
    for (const name of collections) await db.collection(name).insert({ _id })
  },
  count: async () => {
    const infos = await Promise.all(collections.map((name) => db.collection(name).info()))
    return infos.reduce((sum, { documents }) => sum + documents, 0)
  },
  status: () => `${sync.status} ${(sync.error as Error | undefined)?.message ?? ''}`.trim(),
  requests: () => performance.getEntriesByType('resource').filter(({ name }) => name.startsWith(server)).length,
  fetchMs: async () => {
    const beganMs = performance.now()
    const response = await fetch(`${server}/_up`, { cache: 'no-store' })
    await response.text()
    return performance.now() - beganMs
  },
}
