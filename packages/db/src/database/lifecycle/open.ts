/** Opens databases. */
import { defaultCacheBytes } from '#default-storage'
import { throwIfCancelled } from '../../base/long-work.ts'
import { loadedModule } from '../../base/lazy-module.ts'
import { registerReducers } from '../../btree/reducer.ts'
import type { Coordinator } from '../../storage/coordinator.ts'
import type { WaitLimits } from '../../kv/wait-watch.ts'
import { openKeyValueStore } from '../../kv/open.ts'
import type { Durability, PageStore, DatabaseStorage } from '../../storage/page-store.ts'
import type { ByteSource } from '../transfer/byte-stream.ts'
import type { Credential } from '../../storage/encrypted/slots.ts'
import { checkOptions, type OptionNames, badArgument } from '../../base/options.ts'
import type { CollectionOptions, DeclaredCollection } from '../collection/declarations.ts'
import { coordinatorFor } from '../coordination/coordinator.ts'
import { Database } from '../database.ts'
import type { SchemaOutput } from '../schema/standard-schema.ts'
import { inStorage } from './storage-choice.ts'
import { systemEnvironment } from './environment.ts'
import type { Environment } from '../../base/environment.ts'
import { rehearseOnce } from './rehearsal.ts'

/** Options of `open`. */
export interface OpenOptions<Schemas extends object = Record<string, unknown>, Relations extends object = object> {
  /** Where to keep it: `memory()`, `indexedDb()`, `sqlite()`. By default IndexedDB in a browser and an SQLite file in Node. */
  readonly storage?: DatabaseStorage
  /**
   * When a write has succeeded: 'relaxed' (default): it survives the end of the tab or process; 'strict': also a loss of power.
   */
  readonly durability?: Durability
  /**
   * Encrypts a new database, and opens one that is encrypted. One of a password, a `CryptoKey` and a recovery key, which opens only.
   */
  readonly encryption?: Credential
  /**
   * Memory for cached pages. By default 64 MiB. In Node the databases that a process has open share a 16th of the
   * machine's memory, if that is more. Columns, which some queries make, take as much again at most; by default 64 MiB.
   */
  readonly cacheBytesMax?: number
  /**
   * How long a write, or a transaction, may wait for others of all tabs, in milliseconds. After that it fails with
   * PANNIER_WRITE_TIMEOUT, and nothing of it is written. A write that the storage has not answered by then fails with
   * PANNIER_OUTCOME_UNKNOWN. By default there is no limit; the console reports a long wait.
   */
  readonly writeWaitMsMax?: number
  /** Clock, timers and chance, for tests (`virtualEnvironment` of `pannier/testing`). The real ones when left out. */
  readonly environment?: Environment
  /** Collections with their indexes, settings and schemas, as for `db.collection(name, options)`, and their relations. */
  readonly collections?: {
    readonly [Name in keyof Schemas]: DeclaredCollection<SchemaOutput<Schemas[Name]>, Schemas[Name]>
  } & { readonly [Name in keyof Relations]: { readonly relations?: Relations[Name] } }
  /**
   * A snapshot (`db.snapshot()`) to make the database from. The database must not exist yet. A function is called only
   * if it does not exist; otherwise the existing database is opened.
   */
  readonly from?: ByteSource | (() => ByteSource | Promise<ByteSource>)
  /** Called while a snapshot is read, then while indexes are built, with the part that is done, 0 to 1. */
  readonly onProgress?: (done: number) => void
  /** Gives up reading a snapshot, opening, and later building indexes, with PANNIER_ABORTED. */
  readonly signal?: AbortSignal
}

registerReducers(async (id) => (await loadedModule(import('../../view/reducers.ts'))).reducerOfId(id))

const OPEN_OPTIONS: OptionNames<OpenOptions> = {
  storage: true,
  durability: true,
  encryption: true,
  cacheBytesMax: true,
  collections: true,
  from: true,
  writeWaitMsMax: true,
  environment: true,
  onProgress: true,
  signal: true,
}

const CACHE_BYTES_MAX_MIN: number = 1024 * 1024

/**
 * Opens a database, creating it if need be. The same one may be opened several times, in one or in many tabs.
 *
 * @param name In Node the path of a file. In a browser any name; it is shared by all pages of the origin.
 * @throws PANNIER_LOCKED if another process has the file open; PANNIER_OPEN_FAILED, PANNIER_UNAVAILABLE,
 *   PANNIER_ENCRYPTED, PANNIER_NOT_ENCRYPTED, PANNIER_KEY_WRONG, PANNIER_FORMAT_WRONG, PANNIER_FORMAT_NEWER, PANNIER_CORRUPT, PANNIER_QUOTA_EXCEEDED; with `from` also PANNIER_EXISTS. When
 *   a snapshot can't be restored nothing of it stays.
 * @example
 * await using db = await open('shop', { collections: { people: { indexes: ['age', ['city', '-age']] } } })
 * const people = db.collection<Person>('people')
 * @example
 * const db = await open('notes', { encryption: { password } })
 * @example
 * // The first time, the database comes from a snapshot that is downloaded.
 * const db = await open('shop', { from: async () => (await fetch('/shop.snapshot')).body! })
 */
export function open<Schemas extends object = object, const Relations extends object = object>(
  name: string,
  options: OpenOptions<Schemas, Relations> = {},
): Promise<Database<Schemas, Relations>> {
  checkOptions('open()', options, OPEN_OPTIONS)
  const limits = limitsOf(name, options)
  const checked = options as OpenOptions
  return inStorage('open()', name, checked, (storage) => openIn(storage, name, checked, limits)) as Promise<
    Database<Schemas, Relations>
  >
}

interface Limits {
  readonly durability: Durability
  readonly cacheBytesMax: number | ((databases: number) => number)
  readonly waits: WaitLimits
}

/** @throws TypeError for wrong arguments of `open` */
export function limitsOf(
  name: string,
  options: Pick<OpenOptions, 'durability' | 'cacheBytesMax' | 'writeWaitMsMax'>,
  call = 'open()',
): Limits {
  if (typeof name !== 'string' || name === '') throw badArgument(call, 'name must be a string that is not empty', name)
  const { durability = 'relaxed', cacheBytesMax, writeWaitMsMax = Infinity } = options
  if (durability !== 'relaxed' && durability !== 'strict')
    throw badArgument(call, "durability must be 'relaxed' or 'strict'", durability)
  if (cacheBytesMax !== undefined && !(cacheBytesMax >= CACHE_BYTES_MAX_MIN))
    throw badArgument(call, `cacheBytesMax must be a number from ${CACHE_BYTES_MAX_MIN}`, cacheBytesMax)
  if (!(writeWaitMsMax > 0))
    throw badArgument(call, 'writeWaitMsMax must be a number of milliseconds above 0', writeWaitMsMax)
  return { durability, cacheBytesMax: cacheBytesMax ?? defaultCacheBytes, waits: { waitMsMax: writeWaitMsMax, warn } }
}

/** For the developer, who would see a page that hangs. */
function warn(message: string): void {
  // oxlint-disable-next-line no-console
  console.warn(message)
}

async function openIn(storage: DatabaseStorage, name: string, options: OpenOptions, limits: Limits): Promise<Database> {
  const { collections = {}, onProgress, signal, environment = systemEnvironment() } = options
  const sealing =
    options.encryption &&
    (await loadedModule(import('../encryption/encryption.ts'))).sealing(options.encryption, options.from !== undefined)
  // Meanwhile the coordinator makes its first steps and modules are loaded: it takes its time where a worker has to be started.
  const sealed = sealing?.open(storage, name)
  const opening: Promise<PageStore> = sealed ?? storage.open(name)
  opening.catch(() => {})
  let database: Database | undefined
  let coordinator: Coordinator | undefined
  try {
    coordinator = coordinatorFor(storage, name, environment)
    if (options.from !== undefined) {
      const { restore } = await loadedModule(import('./restore.ts'))
      await restore(options.from, {
        name,
        storage,
        store: await opening,
        coordinator,
        environment,
        durability: limits.durability,
        signal,
        onProgress,
        unseal: sealing?.unseal,
      })
    }
    const opened = openKeyValueStore({ store: opening, coordinator, environment, ...limits })
    if (storage.scope === 'origin') rehearseOnce(environment, (...parts) => openIn(...parts, limits))
    const store = await opened
    database = new Database({
      name,
      storage,
      store,
      columnBytesMax: options.cacheBytesMax ?? defaultCacheBytes(Infinity),
      checkPages: (work) => store.check(work),
      damage: () => store.damage,
      onLost: (listener) => store.onLost(listener),
      exportSnapshot: (work) => store.exportSnapshot(work),
      handOver: (work, run) => store.handOver(work, run),
      ...(sealed && sealing!.parts(await sealed, store)),
      environment,
      tabs: storage.scope === 'origin' && 'locks' in navigator ? storage.identify(name) : undefined,
    })
    throwIfCancelled(signal, 'The opening')
    const building: CollectionOptions = {
      ...(signal !== undefined && { signal }),
      ...(onProgress !== undefined && { onProgress }),
    }
    await database.begin(collections, building)
    return database
  } catch (error) {
    if (database !== undefined) await database.close()
    else {
      coordinator?.close()
      await opening.then(
        (pages) => pages.close(),
        () => {},
      )
    }
    throw error
  }
}
