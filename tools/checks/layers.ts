/**
 * The layers of the library, lowest first, and the import bans that follow from that order. A layer imports itself and
 * what stands before it, types included. oxlint.config.ts turns these into one rule per layer.
 */
import { globSync } from 'node:fs'
import type { Module } from './module-graph.ts'

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

/** The only files that re-export; nothing inside the library imports them. */
const ENTRIES = ['index', 'storage', 'memory', 'indexeddb', 'opfs', 'sqlite', 'level']

/** A folder, or files that lie in no folder, by the name of their layer. */
type Layer = string | readonly [name: string, files: readonly string[]]

/** The layers of each package, lowest first. A file imports its own layer and those before it. */
export const PACKAGE_LAYERS: Readonly<Record<string, readonly Layer[]>> = {
  rules: [
    ['values', ['ast', 'errors', 'records', 'selection', 'values', 'time', 'kinds']],
    ['language', ['scan', 'parse', 'print']],
    [
      'meaning',
      ['schema', 'column', 'plan', 'reach', 'request', 'leaf', 'path', 'required-text', 'evaluate', 'bind', 'check'],
    ],
    ['queries', ['sort', 'compile-test', 'compile-rule', 'compile']],
    ['cut', ['cut-atoms', 'cut-groups', 'cut-rule', 'cut-cost', 'holdings', 'viewer', 'cut']],
    ['entry', ['index']],
  ],
  db: [...LAYERS, ['entries', [...ENTRIES, 'all', 'internal', 'limits', 'types']]],
  jsonstore: [
    ['values', ['codes', 'promise', 'sync-options', 'users', 'values', 'errors', 'call']],
    [
      'documents',
      [
        'search-fields',
        'conditions',
        'query-part',
        'stored-document',
        'adapter',
        'match',
        'session',
        'dirty',
        'find-options',
        'plan-query',
      ],
    ],
    ['operations', ['find', 'writes', 'provision', 'sync', 'init-options', 'collection', 'store', 'import-data']],
    ['entries', ['wl', 'index', 'script']],
  ],
  stores: [
    ['store', ['store']],
    ['stores', ['client-stores', 'draft-store', 'live-store', 'live-search', 'replication-store', 'tabs-store']],
    ['entry', ['index']],
  ],
  react: [
    ['store', ['use-store']],
    ['hooks', ['use-client', 'use-draft', 'use-live', 'use-replication']],
    ['entry', ['index']],
  ],
  vue: [
    ['store', ['use-store']],
    ['composables', ['use-client', 'use-draft', 'use-live']],
    ['entry', ['index']],
  ],
  svelte: [
    ['store', ['create-store']],
    ['runes', ['create-client', 'create-draft', 'create-live']],
    ['entry', ['index']],
  ],
  solid: [
    ['store', ['create-store']],
    ['primitives', ['create-client', 'create-draft', 'create-live']],
    ['entry', ['index']],
  ],
  angular: [
    ['store', ['inject-store']],
    ['signals', ['inject-client', 'inject-draft', 'inject-live']],
    ['entry', ['index']],
  ],
  devtools: ['model', 'view', ['entries', ['index', 'element']]],
  'tanstack-db': [
    ['subsets', ['subset']],
    ['sync', ['sync-run', 'whole-run', 'demand-run']],
    ['options', ['database-collection', 'client-collection']],
    ['entry', ['index']],
  ],
  pocketbase: ['protocol', 'thread', 'host', ['entry', ['index']]],
  postgres: [
    ['statements', ['errors', 'options', 'statements']],
    ['connections', ['connections', 'schema', 'hub', 'one-postgres']],
    ['storage', ['copying', 'places', 'postgres-coordinator', 'following-coordinator', 'postgres-database', 'move']],
    ['entry', ['index']],
  ],
  'sqlite-storage': [
    ['values', ['connection', 'errors', 'schema']],
    ['storage', ['sqlite-database', 'storage']],
    ['drivers', ['drivers', 'durable-object']],
    ['entry', ['index']],
  ],
  pouchdb: [
    ['contract', ['options', 'pouch', 'pouchdb-packages.d']],
    'platform',
    ['values', ['failures', 'answer', 'code-unit-order', 'revision-trees', 'attachments', 'documents']],
    ['place', ['shared-place']],
    [
      'methods',
      [
        'wrapping',
        'methods',
        'reads',
        'bulk-reads',
        'lists',
        'changes',
        'local-documents',
        'own-revisions',
        'writes',
        'fronts',
        'upkeep',
      ],
    ],
    'query',
    ['entry', ['adapter', 'move', 'index']],
  ],
  client: [
    ['values', ['client-error', 'declaration', 'plain-values', 'writes']],
    ['server', ['server', 'event-stream', 'signals']],
    ['device', ['store', 'one-tab', 'overlay', 'can', 'files', 'local-transaction', 'undeclared', 'merging']],
    ['accounts', ['account', 'oauth2', 'passkeys', 'lease', 'sign-in']],
    ['sync', ['pull', 'outcomes', 'sync-loop', 'report', 'replica']],
    ['entry', ['write', 'collection', 'client', 'index']],
  ],
  backend: [...BACKEND_LAYERS, ['assembly', ['service-hooks', 'backend', 'internal', 'index']]],
  server: [
    ...SERVER_LAYERS.slice(0, -1),
    ['assembly', ['own-databases', 'server-options', 'server', 'index']],
    ...SERVER_LAYERS.slice(-1),
  ],
  admin: [
    ['surroundings', ['environment', 'sheets.d']],
    'api',
    ['words', ['texts']],
    'texts',
    'state',
    'parts',
    'views',
    ['list of views', ['views']],
    'shell',
    ['page', ['app', 'main', 'service-worker']],
  ],
}

/** Files of packages that are in no layer, and imports that point up. */
export function layerOffences(modules: ReadonlyMap<string, Pick<Module, 'imports'>>): string[] {
  return [...modules].flatMap(([path, { imports }]) => {
    const from = placeOf(path)
    if (from === undefined) return []
    if (from.at === -1) return [`${path}: in no layer`]
    return imports.flatMap(({ target }) => {
      const to = placeOf(target)
      return to?.name === from.name && to.at > from.at ? [`${path} imports ${target}, which is above it`] : []
    })
  })
}

/** The package of a source file, and which of its layers the file is in. Undefined: the file is of no package's sources. */
function placeOf(path: string): { readonly name: string; readonly at: number } | undefined {
  const [, name, inside] = /^packages\/([\w-]+)\/src\/(.+)\.tsx?$/.exec(path) ?? []
  if (name === undefined || inside === undefined) return undefined
  const [folder = ''] = inside.split('/', 1)
  const isRoot = folder === inside
  const isIn = (layer: Layer): boolean =>
    typeof layer === 'string' ? !isRoot && layer === folder : isRoot && layer[1].includes(inside)
  return { name, at: (PACKAGE_LAYERS[name] ?? []).findIndex(isIn) }
}

/** Folders of the layer `sync` of the backend that are in no list of rooms. */
export function unlistedRooms(root: string): string[] {
  const rooms = globSync('packages/backend/src/sync/*/', { cwd: root }).map((path) => path.split('/')[4]!)
  return rooms.filter((room) => !SYNC_ROOMS.includes(room))
}

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
  regex: `^(?!pouchdb-adapter-pannier$)(@sqlite\\.org|${PEERS.join('|')})([-./]|$)`,
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

/** `model` runs SELECTs, `definitions` makes keys of unique indexes, `migrations` copies the file. */
const SQLITE_LAYERS: readonly string[] = ['model', 'definitions', 'migrations']

/** Everything that files of a layer of the backend may not import. */
export function backendBansOf(layer: string): readonly ImportBan[] {
  return [
    ...bansOfAbove(layer, BACKEND_LAYERS, 'backend|index|internal'),
    { regex: '^(fastify|@fastify|undici|node:http|@pannier/server)', message: 'The domain knows no HTTP.' },
    ...(SQLITE_LAYERS.includes(layer) ? [] : [{ regex: '^node:sqlite$', message: 'SELECTs run in model/.' }]),
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
