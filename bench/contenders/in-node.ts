/** Makes contenders in Node. Each is loaded only when it runs. */
import { PASSWORD } from './contender.ts'
import type { Contender } from './contender.ts'

const LOADERS: Readonly<Record<string, () => Promise<Contender>>> = {
  pannier: async () => new (await import('./pannier.ts')).PannierContender(),
  'pannier-encrypted': async () => {
    return new (await import('./pannier.ts')).PannierContender({ encryption: { password: PASSWORD } })
  },
  jsonstore: async () => new (await import('./json-store.ts')).JsonStoreContender(),
  'jsonstore-encrypted': async () => new (await import('./json-store.ts')).JsonStoreContender(PASSWORD),
  'pannier-memory': async () => {
    const { memory } = await import('pannier/memory')
    return new (await import('./pannier.ts')).PannierContender({ storage: memory() })
  },
  'pannier-level': async () => {
    const [{ level }, { ClassicLevel }] = await Promise.all([import('pannier/level'), import('classic-level')])
    return new (await import('./pannier.ts')).PannierContender({ storage: level((path) => new ClassicLevel(path)) })
  },
  'node-sqlite': async () => {
    const { nodeSqliteDriver } = await import('./node-sqlite.ts')
    return new (await import('./sql.ts')).SqlContender(nodeSqliteDriver)
  },
  lmdb: async () => new (await import('./lmdb.ts')).LmdbContender(),
  'classic-level': async () => new (await import('./classic-level.ts')).ClassicLevelContender(),
  'pouchdb-leveldb': async () => {
    const { default: plugin } = await import('pouchdb-adapter-leveldb')
    return new (await import('./pouchdb.ts')).PouchDbContender('leveldb', plugin)
  },
  'pouchdb-memory': async () => {
    const { default: plugin } = await import('pouchdb-adapter-memory')
    return new (await import('./pouchdb.ts')).PouchDbContender('memory', plugin)
  },
  tinybase: async () => new (await import('./tinybase.ts')).TinyBaseContender(),
  lokijs: async () => new (await import('./lokijs.ts')).LokiJsContender(),
  'floor-storage': async () => {
    const { fileRecords } = await import('./floor-file.ts')
    return new (await import('./floor.ts')).FloorContender(fileRecords())
  },
  'floor-json': async () => {
    const { FloorContender, memoryRecords } = await import('./floor.ts')
    return new FloorContender(memoryRecords())
  },
}

export function makeInNode(name: string): Promise<Contender> {
  const load = LOADERS[name]
  if (load === undefined) throw new TypeError(`${name} does not run in Node`)
  return load()
}
