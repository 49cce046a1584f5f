/**
 * The layers of the library, lowest first, and the import bans that follow from that order. A layer imports itself and
 * what stands before it, types included. oxlint.config.ts turns these into one rule per layer.
 */
import { globSync } from 'node:fs'

export const LAYERS: readonly string[] = [
  'base',
  'codec',
  'storage',
  'pager',
  'btree',
  'kv',
  'document',
  'index',
  'view',
  'query',
  'relations',
  'replication',
  'database',
]

/** Layers of the backend, lowest first. `backend.ts` puts them together. */
export const BACKEND_LAYERS: readonly string[] = [
  'gateway',
  'fleet',
  'schedules',
  'fields',
  'upkeep',
  'settings',
  'definitions',
  'model',
  'access',
  'hooks',
  'migrations',
  'mails',
  'accounts',
  'files',
  'records',
  'sql',
  'imports',
  'events',
  'sync',
  'logs',
  'backups',
]

/** Rooms of the backend's layer `sync`, lowest first. `sync.ts` puts them together, and has their map. */
export const SYNC_ROOMS: readonly string[] = ['rules', 'feed', 'signals', 'push']

/** Layers of the server, lowest first. `server.ts` puts them together; `cli` stands above that. */
export const SERVER_LAYERS: readonly string[] = [
  'sandbox',
  'http',
  'tls',
  'realtime',
  'auth',
  'design',
  'outgoing',
  'replicator',
  'couch',
  'rest',
  'hooks',
  'migrations',
  'cli',
]

/** Layers of the admin page, lowest first. `app.tsx` puts them together; `views.ts` lists the views for the shell. */
export const ADMIN_LAYERS: readonly string[] = ['api', 'texts', 'state', 'parts', 'views', 'shell']

/** Folders of the sources that no list has: they would be held to nothing. */
export function unlistedFolders(root: string): string[] {
  const lists: Readonly<Record<string, readonly string[]>> = {
    db: LAYERS,
    backend: BACKEND_LAYERS,
    server: SERVER_LAYERS,
    admin: ADMIN_LAYERS,
  }
  const modules = globSync('packages/*/src/*/**/*.{ts,tsx}', { cwd: root })
  const folders = new Set(modules.map((path) => path.split('/').slice(0, 4).join('/')))
  const unlisted = [...folders].filter((path) => {
    const [, name = '', , folder = ''] = path.split('/')
    return lists[name]?.includes(folder) !== true
  })
  const rooms = new Set(globSync('packages/backend/src/sync/*/', { cwd: root }).map((path) => path.split('/')[4]!))
  return [...unlisted, ...[...rooms].filter((room) => !SYNC_ROOMS.includes(room))]
}

/** The only files that re-export; nothing inside the library imports them. */
const ENTRIES = ['index', 'storage', 'memory', 'indexeddb', 'opfs', 'sqlite', 'level']

/** Products that we measure ourselves against are dependencies of bench/ and of nothing else. */
const PEERS = [
  'pouchdb',
  'dexie',
  'rxdb',
  'lmdb',
  'classic-level',
  'level',
  'better-sqlite3',
  'sql',
  'lokijs',
  'idb',
  'localforage',
  'nedb',
]

/** An entry of the option `patterns` of the rule no-restricted-imports. */
export interface ImportBan {
  readonly regex: string
  readonly message: string
  /** Only these names. */
  readonly importNames?: string[]
}

export const PEER_BAN: ImportBan = {
  regex: `^(@sqlite\\.org|${PEERS.join('|')})([-./]|$)`,
  message: 'Peers are for bench/ and for differential tests only.',
}

/** Everything that files of `layer` may not import. */
export function bansOf(layer: string): readonly ImportBan[] {
  const position = LAYERS.indexOf(layer)
  const above = LAYERS.slice(position + 1)
  const bans: ImportBan[] = [
    {
      regex: `^(\\.\\./)+(${ENTRIES.join('|')})\\.ts$`,
      message: 'Only users of the library import its entries; import the defining file.',
    },
    {
      regex: '^(\\.\\./)+(test|testing|bench|demo|tools)/',
      message: 'The library imports nothing outside src.',
    },
    {
      regex: layer === 'storage' || layer === 'database' ? '^[^.#n]|^n[^o]' : '^[^.#]',
      message: 'The library has no runtime dependencies; node: modules are for storage/ and database/.',
    },
  ]
  if (above.length > 0) {
    bans.push({
      regex: `^(\\./)?(\\.\\./)+(${above.join('|')})/`,
      message: `${layer}/ is below ${above.join(', ')}: imports point down only, type imports included.`,
    })
    bans.push({ regex: '^#', message: 'Only database/ chooses the storage.' })
  }
  if (position > LAYERS.indexOf('storage') && above.length > 0) {
    bans.push({ regex: '^(\\.\\./)+storage/.+/', message: 'Nothing above storage/ knows which backend it has.' })
  }
  return bans
}

/** Everything that files of a layer of the backend may not import. */
export function backendBansOf(layer: string): readonly ImportBan[] {
  return [
    ...bansOfAbove(layer, BACKEND_LAYERS, 'backend|index|internal'),
    { regex: '^(fastify|@fastify|undici|node:http|@pannier/server)', message: 'The domain knows no HTTP.' },
  ]
}

/** Everything that files of a room of `sync` may not import. */
export function syncBansOf(room: string): readonly ImportBan[] {
  const above = [...SYNC_ROOMS.slice(SYNC_ROOMS.indexOf(room) + 1), 'sync.ts']
  const message = `sync/${room}/ is below ${above.join(', ')}: imports point down only, type imports included.`
  return [...backendBansOf('sync'), { regex: `^\\.\\./(${above.join('|')})`, message }]
}

/** Everything that files of a layer of the server may not import. */
export function serverBansOf(layer: string): readonly ImportBan[] {
  const bans = bansOfAbove(layer, SERVER_LAYERS, 'server|server-options|index')
  if (layer !== 'http' && layer !== 'couch') {
    bans.push({
      regex: '/http/http-error\\.ts$',
      importNames: ['HttpError', 'badRequest', 'notFound', 'conflict', 'tooLarge', 'documentTooLarge', 'asBadRequest'],
      message: 'Only http/ and couch/ make HttpErrors; throw a ServiceError.',
    })
  }
  return bans
}

/** Everything that files of a layer of the admin page may not import. */
export function adminBansOf(layer: string): readonly ImportBan[] {
  return bansOfAbove(layer, ADMIN_LAYERS, 'app|main')
}

function bansOfAbove(layer: string, layers: readonly string[], roots: string): ImportBan[] {
  const above = layers.slice(layers.indexOf(layer) + 1)
  if (above.length === 0) return []
  return [
    {
      regex: `^(\\./)?(\\.\\./)+((${above.join('|')})/|(${roots})\\.ts$)`,
      message: `${layer}/ is below ${above.join(', ')}: imports point down only, type imports included.`,
    },
  ]
}
