/**
 * The contenders as data: where each runs, its packages, its gaps, and the documentation that its configuration
 * follows.
 */
import type { Capability } from './contender.ts'

export type Place = 'node' | 'chromium' | 'firefox' | 'webkit'

export interface ContenderFacts {
  readonly name: string
  readonly title: string
  /** Packages whose versions are reported. None: part of the platform. */
  readonly packages: readonly string[]
  readonly places: readonly Place[]
  /** 'floor': what the same bytes cost at least, and no database. */
  readonly kind: 'persistent' | 'memory' | 'floor'
  /** Part of a run that does not ask for all. */
  readonly core: boolean
  readonly gaps: Readonly<Partial<Record<Capability, string>>>
  /** The documentation that its adapter follows. */
  readonly documentation: string
}

const BROWSERS: readonly Place[] = ['chromium', 'firefox', 'webkit']
const EVERYWHERE: readonly Place[] = ['node', ...BROWSERS]
/** Map/reduce views, and replication. */
const ARE_LIKE_COUCHDB = /^(pannier|pouchdb)/
const NOT_LIKE_COUCHDB: ContenderFacts['gaps'] = {
  views: 'has no map/reduce views',
  replicas: 'does not replicate between two databases by itself',
}
const JSON_ONLY = 'stores JSON: bytes would be attachments or base64'
const NO_BYTES: ContenderFacts['gaps'] = { bytes: JSON_ONLY }
const JSON_STORE_GAPS: ContenderFacts['gaps'] = {
  ...NO_BYTES,
  buildIndexes: 'search fields are declared when a collection is made',
}
const IN_MEMORY = 'keeps everything in memory only'

function notMade(reason: string, ...capabilities: Capability[]): Partial<Record<Capability, string>> {
  return Object.fromEntries(capabilities.map((capability) => [capability, reason]))
}

const FLOOR_GAPS = notMade(
  'a floor for bulk writes and full reads only',
  'insert',
  'buildIndexes',
  'get',
  'countAges',
  'findByCity',
  'pageById',
  'update',
  'delete',
  'deleteMany',
  'bytes',
)

export const CONTENDERS: readonly ContenderFacts[] = [
  contender('pannier', 'Pannier', EVERYWHERE, 'README.md', { core: true, gaps: NO_BYTES }),
  contender('pannier-encrypted', 'Pannier, encrypted', EVERYWHERE, 'docs/internals/encryption.md', { gaps: NO_BYTES }),
  contender('jsonstore', 'JSONStore API on Pannier', EVERYWHERE, 'packages/jsonstore/README.md', {
    gaps: JSON_STORE_GAPS,
  }),
  contender('jsonstore-encrypted', 'JSONStore API on Pannier, encrypted', EVERYWHERE, 'packages/jsonstore/README.md', {
    gaps: JSON_STORE_GAPS,
  }),
  // WebKit on GTK has no origin private file system.
  contender('pannier-opfs', 'Pannier on OPFS', ['chromium', 'firefox'], 'docs/internals/opfs.md', {
    core: true,
    gaps: NO_BYTES,
  }),
  contender('indexed-db', 'IndexedDB, relaxed', BROWSERS, 'https://developer.mozilla.org/docs/Web/API/IndexedDB_API', {
    core: true,
  }),
  contender(
    'indexed-db-strict',
    'IndexedDB, strict',
    BROWSERS,
    'https://w3c.github.io/IndexedDB/#transaction-durability-hint',
  ),
  contender('dexie', 'Dexie', BROWSERS, 'https://dexie.org/docs/Tutorial/Best-Practices', {
    packages: ['dexie'],
    core: true,
  }),
  contender('rxdb', 'RxDB on Dexie', BROWSERS, 'https://rxdb.info/rx-storage-dexie.html', {
    packages: ['rxdb', 'rxjs'],
    gaps: { ...NO_BYTES, buildIndexes: 'indexes belong to the schema; another schema is a migration of all documents' },
  }),
  contender('pouchdb-idb', 'PouchDB, idb', BROWSERS, 'https://pouchdb.com/adapters.html', {
    packages: ['pouchdb-core', 'pouchdb-adapter-idb', 'pouchdb-find'],
    gaps: NO_BYTES,
  }),
  contender('pouchdb-indexeddb', 'PouchDB, indexeddb', BROWSERS, 'https://pouchdb.com/adapters.html', {
    packages: ['pouchdb-core', 'pouchdb-adapter-indexeddb', 'pouchdb-find'],
    gaps: NO_BYTES,
    core: true,
  }),
  contender(
    'sqlite-wasm',
    'SQLite WASM on OPFS',
    ['chromium', 'firefox'],
    'https://sqlite.org/wasm/doc/trunk/persistence.md#vfs-opfs-sahpool',
    {
      packages: ['@sqlite.org/sqlite-wasm'],
      gaps: NO_BYTES,
      core: true,
    },
  ),
  contender('node-sqlite', 'node:sqlite', ['node'], 'https://nodejs.org/api/sqlite.html', {
    core: true,
    gaps: NO_BYTES,
  }),
  contender('lmdb', 'lmdb', ['node'], 'https://github.com/kriszyp/lmdb-js#readme', {
    packages: ['lmdb'],
    gaps: { longKeys: 'keys of at most 1,978 bytes' },
    core: true,
  }),
  contender('classic-level', 'classic-level', ['node'], 'https://github.com/Level/classic-level#readme', {
    packages: ['classic-level'],
    gaps: NO_BYTES,
    core: true,
  }),
  contender('pannier-level', 'Pannier on LevelDB', ['node'], 'README.md', {
    packages: ['classic-level'],
    gaps: NO_BYTES,
  }),
  contender('pouchdb-leveldb', 'PouchDB, leveldb', ['node'], 'https://pouchdb.com/adapters.html', {
    packages: ['pouchdb-core', 'pouchdb-adapter-leveldb', 'pouchdb-find'],
    gaps: NO_BYTES,
    core: true,
  }),
  contender('pouchdb-memory', 'PouchDB, in memory', ['node'], 'https://pouchdb.com/adapters.html', {
    packages: ['pouchdb-core', 'pouchdb-adapter-memory', 'pouchdb-find'],
    kind: 'memory',
    gaps: { ...NO_BYTES, keep: IN_MEMORY },
  }),
  contender('pannier-memory', 'Pannier, in memory', EVERYWHERE, 'README.md', {
    kind: 'memory',
    gaps: { ...NO_BYTES, keep: IN_MEMORY },
  }),
  contender('tinybase', 'TinyBase', EVERYWHERE, 'https://tinybase.org/guides/using-indexes/', {
    packages: ['tinybase'],
    kind: 'memory',
    gaps: { ...NO_BYTES, nested: 'cells are scalars', keep: IN_MEMORY },
  }),
  contender(
    'lokijs',
    'LokiJS',
    EVERYWHERE,
    'https://techfort.github.io/LokiJS/tutorial-Indexing%20and%20Query%20performance.html',
    {
      packages: ['lokijs'],
      kind: 'memory',
      gaps: { ...NO_BYTES, keep: IN_MEMORY },
    },
  ),
  contender('floor-storage', 'Floor: same bytes, few records', EVERYWHERE, 'docs/internals/performance.md', {
    kind: 'floor',
    gaps: { ...FLOOR_GAPS, ...notMade('it would have to read everything', 'count') },
    core: true,
  }),
  contender('floor-json', 'Floor: JSON in memory', EVERYWHERE, 'docs/internals/performance.md', {
    kind: 'floor',
    gaps: { ...FLOOR_GAPS, ...notMade('it would have to read everything', 'count'), keep: IN_MEMORY },
    core: true,
  }),
]

export function factsOf(name: string): ContenderFacts {
  const facts = CONTENDERS.find((one) => one.name === name)
  if (facts === undefined) throw new TypeError(`there is no contender ${name}`)
  return facts
}

/** Why it can't do all of these, if so. */
export function gapOf(facts: ContenderFacts, needs: readonly Capability[]): string | undefined {
  const missing = needs.find((capability) => facts.gaps[capability] !== undefined)
  return missing === undefined ? undefined : facts.gaps[missing]
}

function contender(
  name: string,
  title: string,
  places: readonly Place[],
  documentation: string,
  rest: Partial<Pick<ContenderFacts, 'packages' | 'kind' | 'core' | 'gaps'>> = {},
): ContenderFacts {
  const gaps = { ...(ARE_LIKE_COUCHDB.test(name) ? {} : NOT_LIKE_COUCHDB), ...rest.gaps }
  return { name, title, places, documentation, packages: [], kind: 'persistent', core: false, ...rest, gaps }
}
