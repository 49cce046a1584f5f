/** Makes contenders in a page. The bundle holds all of them; each is evaluated only when it runs. */
import type { Contender } from './contender.ts'
import { OPERATIONS, PASSWORD } from './contender.ts'
import { remote, serve } from './remote.ts'
import type { Port } from './remote.ts'

const LOADERS: Readonly<Record<string, (workerUrl: string) => Promise<Contender>>> = {
  pannier: async () => new (await import('./pannier.ts')).PannierContender(),
  'pannier-encrypted': async () => {
    return new (await import('./pannier.ts')).PannierContender({ encryption: { password: PASSWORD } })
  },
  jsonstore: async () => new (await import('./json-store.ts')).JsonStoreContender(),
  'jsonstore-encrypted': async () => new (await import('./json-store.ts')).JsonStoreContender(PASSWORD),
  'pannier-opfs': async () => {
    const { opfs } = await import('pannier/opfs')
    return new (await import('./pannier.ts')).PannierContender({ storage: opfs() })
  },
  'pannier-memory': async () => {
    const { memory } = await import('pannier/memory')
    return new (await import('./pannier.ts')).PannierContender({ storage: memory() })
  },
  'indexed-db': async () => new (await import('./indexed-db.ts')).IndexedDbContender('relaxed'),
  'indexed-db-strict': async () => new (await import('./indexed-db.ts')).IndexedDbContender('strict'),
  dexie: async () => new (await import('./dexie.ts')).DexieContender(),
  rxdb: async () => new (await import('./rxdb.ts')).RxDbContender(),
  'pouchdb-idb': async () => {
    const { default: plugin } = await import('pouchdb-adapter-idb')
    return new (await import('./pouchdb.ts')).PouchDbContender('idb', plugin)
  },
  'pouchdb-indexeddb': async () => {
    const { default: plugin } = await import('pouchdb-adapter-indexeddb')
    return new (await import('./pouchdb.ts')).PouchDbContender('indexeddb', plugin)
  },
  'sqlite-wasm': async (workerUrl) => remote<Contender>(new Worker(workerUrl, { type: 'module' }), OPERATIONS),
  tinybase: async () => new (await import('./tinybase.ts')).TinyBaseContender(),
  lokijs: async () => new (await import('./lokijs.ts')).LokiJsContender(),
  'floor-storage': async () => {
    const { indexedDbRecords } = await import('./floor-indexed-db.ts')
    return new (await import('./floor.ts')).FloorContender(indexedDbRecords())
  },
  'floor-json': async () => {
    const { FloorContender, memoryRecords } = await import('./floor.ts')
    return new FloorContender(memoryRecords())
  },
}

/** `workerUrl`: a script that calls `serveInWorker`; by default that of the page itself, as tools/browser serves it. */
export function makeInBrowser(name: string, workerUrl = '/page.js'): Promise<Contender> {
  const load = LOADERS[name]
  if (load === undefined) throw new TypeError(`${name} does not run in a browser`)
  return load(workerUrl)
}

/** The script of a measured page is that of its worker too. */
export const isWorker: boolean = typeof document === 'undefined'

/** Synchronous access to files is for workers alone: the worker's end of 'sqlite-wasm'. Calls wait until it is loaded. */
export function serveInWorker(): void {
  const port = globalThis as unknown as Port
  const loaded = Promise.all([import('./sql.ts'), import('./sqlite-wasm.ts')])
  serve(
    port,
    loaded.then(([{ SqlContender }, { sqliteWasmDriver }]) => new SqlContender(sqliteWasmDriver)),
  )
}
