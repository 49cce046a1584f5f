/// <reference lib="esnext.disposable" preserve="true" />
/** An open database. */
import { makeDisposable } from '../base/async.ts'
import { closedByCaller, isClosedByCaller, isPannierError, PannierError } from '../base/errors.ts'
import type { Environment } from '../base/environment.ts'
import { loadedModule } from '../base/lazy-module.ts'
import { Catalog } from '../document/catalog.ts'
import { idGenerator } from '../document/document-id.ts'
import { dropping, NAME_CHARS_MAX } from '../index/index-definition.ts'
import type { HeldTransaction, KeyValueStore } from '../kv/key-value-store.ts'
import { eitherSignal, type LongWork, type RunningWork } from '../base/long-work.ts'
import type { DatabaseStorage } from '../storage/page-store.ts'
import { lateStream } from './transfer/byte-stream.ts'
import type { DatabaseChange } from './feed/change-notifier.ts'
import { Collection } from './collection/collection.ts'
import { checkOptions, type OptionNames, badArgument, calling, checkListener } from '../base/options.ts'
import { chooseSettings, type ChosenSettings } from './collection/collection-settings.ts'
import type { CollectionOptions, DeclaredCollection } from './collection/declarations.ts'
import type { ByteChunks } from './transfer/byte-streams.ts'
import type { DatabaseContext } from './database-context.ts'
import type { JsonObject } from './collection/document-types.ts'
import type {
  DocumentOf,
  InputOf,
  KnownName,
  UnknownCollection,
  SchemaInput,
  SchemaOutput,
  StandardSchema,
} from './schema/standard-schema.ts'
import type { Related } from './schema/relation-types.ts'
import type { Encryption } from './encryption/encryption.ts'
import type { MoveOptions, MoveSource } from './lifecycle/move-database.ts'
import type { SnapshotOptions } from '../kv/write-snapshot.ts'
import type { CheckReport } from './check/check-database.ts'
import { Replication } from './replication/replication.ts'
import type { DatabaseReplicateOptions, DatabaseSyncOptions } from './replication/replication-options.ts'
import type { Transaction } from './collection/transaction.ts'
import { assertOutside } from './collection/transaction-scope.ts'

/** The parts that `open` hands to a database. */
export interface DatabaseParts {
  readonly name: string
  readonly storage: DatabaseStorage
  readonly store: KeyValueStore
  /** Checks what is below the trees; rejects with PANNIER_CORRUPT. */
  readonly checkPages?: (work: RunningWork) => Promise<void>
  /** Why nothing can be written; undefined if it can. */
  readonly damage?: () => PannierError | undefined
  /** Calls back once, if the database is gone, or the handle is of a state that the storage never had. */
  readonly onLost?: (listener: (error: PannierError) => void) => void
  /** Every write that was asked for before the call, as a snapshot file. */
  readonly exportSnapshot?: (options: SnapshotOptions) => Promise<ByteChunks>
  readonly handOver?: MoveSource['handOver']
  /** The keys of an encrypted database. */
  readonly encryption?: (context: DatabaseContext) => Encryption
  /** The most bytes of columns. Left out: no limit. */
  readonly columnBytesMax?: number
  readonly environment: Environment
  /** Names the database for all tabs that share it. */
  readonly tabs?: string | undefined
}

const SOURCE_CHARS_MAX = 120

const SETTINGS: OptionNames<Pick<CollectionOptions, 'history' | 'revisionsLimit'>> = {
  history: true,
  revisionsLimit: true,
}
const SNAPSHOT_OPTIONS: OptionNames<SnapshotOptions> = { sealed: true, signal: true, onProgress: true }

/** `Schemas`, `Relations`: those that it was opened with, by the names of the collections. */
export class Database<Schemas extends object = object, Relations extends object = object> {
  /** The name as given to `open`. */
  readonly name: string
  /** The passwords and keys that open it; undefined when it is not encrypted. */
  readonly encryption: Encryption | undefined
  /**
   * Resolves when the handle has ended: with undefined after `close()`, else with the reason. PANNIER_CLOSED: another handle (a tab, say)
   * has destroyed or moved the database, or the browser has thrown it away.
   *
   * @example
   * const db = await open('shop')
   * void db.closed.then((reason) => reason && location.reload())
   */
  readonly closed: Promise<PannierError | undefined>
  readonly #parts: DatabaseParts
  readonly #context: DatabaseContext
  readonly #closing = new AbortController()
  /** The answers of transactions. */
  readonly #answers = new Set<Promise<unknown>>()
  readonly #collectionsByName = new Map<string, Collection<JsonObject>>()
  readonly #listeners = new Set<(change: DatabaseChange) => void>()
  #stopListening: (() => void) | undefined
  /** Resolves when listeners have heard of all commits so far. */
  #told: Promise<unknown> = Promise.resolve()
  #closed: Promise<void> | undefined
  /** Whether its caller has closed it. */
  #isClosed = false
  #isMoving = false
  readonly #ended = Promise.withResolvers<PannierError | undefined>()

  /** @internal Use `open`. */
  constructor(parts: DatabaseParts) {
    const { store, environment } = parts
    const randomId = (): string => environment.randomId()
    this.name = parts.name
    this.#parts = parts
    this.#context = {
      store,
      catalog: new Catalog(randomId),
      environment,
      newIds: idGenerator(() => environment.wallClock(), randomId),
      liveUploads: new Set(),
      pending: new Set(),
      tabs: parts.tabs,
      relations: undefined,
      columns: { bytesMax: parts.columnBytesMax ?? Infinity, store: undefined },
      accessOf: (collection) => this.#collectionNamed(collection).declarations.access,
      opening: false,
      closing: this.#closing.signal,
    }
    this.encryption = parts.encryption?.(this.#context)
    this.closed = this.#ended.promise
    // Feeds and live queries would wait for ever.
    parts.onLost?.((error) => this.#lose(error))
  }

  /** The kind of the storage: 'indexeddb', 'sqlite', 'memory', … */
  get storage(): string {
    return this.#parts.storage.kind
  }

  /**
   * PANNIER_CORRUPT if the log of the database is damaged: commits after some point can't be replayed. The database is then read-only, in
   * its newest state before that: reading, exporting and snapshots work, and whatever writes rejects with this error. `repair` makes a healthy
   * database of it. Undefined while all is well.
   *
   * @example
   * const db = await open('shop')
   * if (db.damage) offerExport(db, db.damage.message)
   */
  get damage(): PannierError | undefined {
    return this.#parts.damage?.()
  }

  /**
   * A collection; it need not exist, as the first write creates it. Called again with more indexes it gets these as well.
   *
   * Its documents have the type that the schema gives, here or in `open`, else the type that is named. Where `open` was given
   * collections the compiler knows their names; another one is named with its type: `db.collection<Note>('notes')`.
   *
   * @throws PANNIER_INDEX_MISMATCH if an index was declared before with another definition.
   * @example
   * const people = db.collection<Person>('people', { indexes: ['age', ['city', '-age'], { on: 'tags', multi: true }] })
   */
  collection<Schema extends StandardSchema>(
    name: string,
    options: CollectionOptions<SchemaOutput<Schema>, Schema> & { readonly schema: Schema },
  ): Collection<SchemaOutput<Schema>, SchemaInput<Schema>>
  collection<Name extends KnownName<Schemas>>(
    name: Name,
    options?: CollectionOptions<DocumentOf<Schemas, Name>> & { readonly schema?: undefined },
  ): Collection<DocumentOf<Schemas, Name>, InputOf<Schemas, Name>, Related<Schemas, Relations, Name>>
  collection<T extends object = UnknownCollection>(name: string, options?: NoInfer<CollectionOptions<T>>): Collection<T>
  collection(name: string, options: CollectionOptions = {}): unknown {
    if (typeof name !== 'string' || name === '' || name.length > NAME_CHARS_MAX) {
      throw badArgument('collection()', `name must be a string of 1 to ${NAME_CHARS_MAX} characters`, name)
    }
    if (name.startsWith('_')) throw badArgument('collection()', "name must not start with '_'", name)
    this.#assertOpen()
    const collection = this.#collectionNamed(name)
    calling('collection()', () => collection.declarations.declare(options))
    return collection
  }

  /** A collection by its name, also for work that ends with the handle. */
  #collectionNamed(name: string): Collection<JsonObject> {
    const collection = this.#collectionsByName.get(name) ?? new Collection<JsonObject>(name, this.#context)
    this.#collectionsByName.set(name, collection)
    return collection
  }

  /**
   * The names of the collections that exist, sorted.
   *
   * @example
   * const names = await db.collections() // ['people', 'places']
   */
  async collections(): Promise<string[]> {
    return await this.#context.store.read((snapshot) => this.#context.catalog.names(snapshot))
  }

  /**
   * Makes a collection that has no documents yet, which the first write would do as well; false if there is one of that name.
   * `settings`: what it begins with where nothing is declared.
   *
   * @throws PANNIER_LIMIT_EXCEEDED if there are too many collections.
   * @example
   * await db.createCollection('places', { history: true })
   */
  async createCollection(
    name: string,
    settings: Pick<CollectionOptions, 'history' | 'revisionsLimit'> = {},
  ): Promise<boolean> {
    this.#assertOutside('createCollection')
    checkOptions('createCollection()', settings, SETTINGS)
    const initial: ChosenSettings = {}
    chooseSettings(initial, settings)
    const { writing } = this.collection<JsonObject>(name)
    const { store, catalog } = this.#context
    return await store.write((transaction) => {
      if (catalog.collection(transaction, name) !== undefined) return false
      writing.create(transaction, initial)
      return true
    })
  }

  /**
   * Drops a collection with its documents and indexes at once, whatever its size; false if it does not exist.
   *
   * @example
   * await db.dropCollection('places')
   */
  async dropCollection(name: string): Promise<boolean> {
    this.#assertOutside('dropCollection')
    const { store, catalog } = this.#context
    const dropped = await store.write((transaction) => {
      const state = catalog.collection(transaction, name)
      if (state !== undefined) dropping().dropCollection(transaction, catalog, state)
      return state
    })
    if (dropped === undefined) return false
    this.#collectionsByName.get(name)?.declarations.access.forget(dropped)
    return true
  }

  /**
   * Runs `body` in a transaction. When `body` resolves, everything that it wrote through `tx` is committed. When it
   * throws, nothing is. Resolves with what `body` returns.
   *
   * Transactions and other writes take turns, in all tabs. So inside `body` write through `tx` only. Awaiting a write
   * of the database itself (`people.insert(…)`) would wait for ever. Keep it short: others wait meanwhile. In a rare
   * case `body` runs again: this tab was frozen in the middle, and another one has written since.
   * docs/internals/transactions.md
   *
   * @throws PANNIER_DEADLOCK for writes of the database itself in `body`, where they can be detected: in Node
   *   everywhere, in a browser up to the first `await`. The console reports a long wait. PANNIER_WRITE_TIMEOUT after
   *   `writeWaitMsMax`
   * @example
   * await db.transaction(async (tx) => {
   *   const accounts = tx.collection<Account>('accounts')
   *   await accounts.update('a', (a) => ({ ...a, amount: a.amount - 10 }))
   *   await accounts.update('b', (b) => ({ ...b, amount: b.amount + 10 }))
   * })
   */
  async transaction<R>(body: (tx: Transaction<Schemas, Relations>) => R | Promise<R>): Promise<R> {
    if (typeof body !== 'function') throw badArgument('transaction()', 'body must be a function', body)
    assertOutside(this.#context, 'A transaction', 'Use its tx: transactions do not nest.')
    // Before it waits for the lease: a migration needs the lease itself. One that fails is the matter of those who use that collection.
    for (const { declarations } of this.#collectionsByName.values())
      if (declarations.migrations.running) await declarations.migrations.idle()
    // The lease is asked for at once, so that it comes before what is asked for after it.
    const begin = (): Promise<HeldTransaction> => this.#context.store.begin(() => sourceOf(body))
    const begun = begin()
    const loading = loadedModule(import('./collection/transaction.ts'))
    // Without the module nobody uses the lease. What fails here fails below.
    Promise.all([begun, loading.catch(() => begun.then((held) => held.rollback()))]).catch(() => {})
    const { runTransaction } = await loading
    const collectionOf = (name: string): Collection<JsonObject> => this.collection<JsonObject>(name)
    const answer = runTransaction(this.#context, begun, begin, body, collectionOf)
    this.#answers.add(answer)
    return answer.finally(() => this.#answers.delete(answer))
  }

  /**
   * Calls back after each commit, of this handle or another, with what it changed. The function returned ends it.
   *
   * @example
   * const stop = db.subscribe(({ collections }) => { if (collections.has('people')) refresh() })
   */
  subscribe(listener: (change: DatabaseChange) => void): () => void {
    this.#assertOpen()
    checkListener(listener)
    // A function of its own, so that one listener that is added twice is called twice.
    const own = (change: DatabaseChange): void => listener(change)
    if (this.#closing.signal.aborted) return () => {}
    this.#listeners.add(own)
    this.#stopListening ??= this.#listen()
    return () => {
      this.#listeners.delete(own)
      if (this.#listeners.size === 0) this.#endListening()
    }
  }

  /**
   * Makes sure that commits of other handles (tabs, workers) are seen. They notify each other anyway: handles of one
   * page or process at once, others in a moment. Call it when you hear of a change in another way and want to read it.
   *
   * @example
   * await db.refresh()
   */
  async refresh(): Promise<void> {
    this.#assertOutside('refresh')
    await this.#context.store.refresh()
  }

  /**
   * Writes everything that is only in the log to pages. It is done by itself in time; before a backup, say, it is of use.
   *
   * @example
   * await db.flush()
   */
  async flush(): Promise<void> {
    this.#assertOutside('flush')
    await this.#context.store.checkpoint()
  }

  /**
   * Reads everything and compares: pages, trees, documents with ids, indexes with documents. Takes as long as reading the
   * whole database. Others may read meanwhile. Writes wait while it reads the pages, which is its first half.
   *
   * @throws PANNIER_ABORTED
   * @example
   * const { ok, problems } = await db.check()
   * if (!ok) console.warn(problems.map(({ code, where, message }) => `${code} ${where}: ${message}`))
   */
  async check(options: LongWork = {}): Promise<CheckReport> {
    // Rarely needed, so nobody has to load it who does not call it.
    const { checkWhole } = await loadedModule(import('./check/check-database.ts'))
    return checkWhole(this.#context, this.#parts, options)
  }

  /**
   * The whole database as one portable file, for backups or to ship data. `open(name, { from })` makes a database of
   * it, in any storage. It holds every write that began before this call and no later one. Reads and writes continue
   * meanwhile. Pages are copied as they are, so it is as fast as reading. The room of what is deleted meanwhile is not
   * used again before the stream was read to its end or cancelled.
   *
   * The file of an encrypted database is sealed: anyone who can open the database at this time can restore it. With
   * `sealed: false` it is plain.
   *
   * @throws (the stream) PANNIER_ABORTED, PANNIER_CLOSED, PANNIER_CORRUPT, PANNIER_QUOTA_EXCEEDED
   * @example
   * await db.snapshot().pipeTo(Writable.toWeb(createWriteStream('shop.snapshot')))
   */
  snapshot(options: SnapshotOptions = {}): ReadableStream<Uint8Array> {
    this.#assertOpen()
    checkOptions('snapshot()', options, SNAPSHOT_OPTIONS)
    const { exportSnapshot } = this.#parts
    if (exportSnapshot === undefined) throw new PannierError('PANNIER_UNAVAILABLE', 'This storage makes no snapshots.')
    const signal = eitherSignal(this.#closing.signal, options.signal)
    return lateStream(async () => {
      const made = exportSnapshot({ ...options, signal })
      const [chunks, { chunkStream }] = await Promise.all([made, loadedModule(import('./transfer/byte-streams.ts'))])
      return chunkStream(chunks)
    })
  }

  /**
   * Replaces a password of an encrypted database. Only a few stored bytes change.
   *
   * @throws PANNIER_KEY_WRONG if `oldPassword` does not open it; PANNIER_NOT_ENCRYPTED.
   * @example
   * await db.changePassword('old password', 'new password')
   */
  async changePassword(oldPassword: string, newPassword: string): Promise<void> {
    if (!this.encryption) throw new PannierError('PANNIER_NOT_ENCRYPTED', 'The database is not encrypted.')
    await this.encryption.changePassword(oldPassword, newPassword)
  }

  /**
   * Moves the database to another storage, under the same name, and closes it. From then on it is opened there. The
   * original is deleted when the copy is complete; if the move fails, the original is unchanged. An interrupted move may
   * leave a complete copy, which the next move replaces if nobody has written to it. Other handles can read meanwhile;
   * their writes wait. They are closed with the deletion: PANNIER_CLOSED.
   *
   * @throws PANNIER_EXISTS if there is a database of that name; PANNIER_CLOSED if another handle has moved it; PANNIER_ENCRYPTED,
   *   PANNIER_KEY_WRONG, PANNIER_ABORTED, PANNIER_QUOTA_EXCEEDED
   * @example
   * await db.moveTo(opfs(), { onProgress: show })
   * const moved = await open('shop', { storage: firstOf(opfs(), indexedDb()) })
   */
  async moveTo(storage: DatabaseStorage, options: MoveOptions = {}): Promise<void> {
    this.#assertOpen()
    this.#assertOutside('moveTo')
    const { handOver } = this.#parts
    if (handOver === undefined) throw new PannierError('PANNIER_UNAVAILABLE', 'This storage makes no snapshots.')
    const { moveDatabase } = await loadedModule(import('./lifecycle/move-database.ts'))
    this.#isMoving = true
    await moveDatabase(this, { ...this.#parts, handOver }, storage, options).finally(() => (this.#isMoving = false))
  }

  /**
   * Keeps collections in step with CouchDB databases, all of them as one: `collection.sync` for each. Of collections that are named
   * in a list the database is the one of that name below `url`.
   *
   * @example
   * const sync = db.sync('https://example.org', { collections: ['people', 'places'], live: true })
   * sync.subscribe(() => show(sync.status, sync.progress.pending))
   */
  sync(url: string | URL, options: DatabaseSyncOptions): Replication {
    return new Replication(this.#context, { url, open: (name) => this.collection<JsonObject>(name) }, options)
  }

  /**
   * Replicates from one database or collection to another. Each may be anywhere and have options of its own. Two
   * servers replicate through here.
   *
   * @example
   * const target = { url: 'https://b.example.org/people', auth: { username: 'ann', password } }
   * await db.replicate({ from: 'https://a.example.org/people', to: target, create: false })
   */
  replicate(options: DatabaseReplicateOptions): Replication {
    this.#assertOpen()
    const { from, to, ...others } = options
    if (!from || !to) throw badArgument('db.replicate()', 'options must have from and to', options)
    return new Replication(this.#context, { source: from, target: to }, others)
  }

  /**
   * Finishes pending writes and releases everything. Idempotent.
   *
   * @example
   * await db.close()
   */
  async close(): Promise<void> {
    this.#assertOutside('close')
    this.#isClosed = true
    this.#closed ??= this.#closeOnce(closedByCaller())
    await this.#closed
  }

  /**
   * Closes the database and deletes it with everything in it, also when no room is left.
   *
   * @example
   * await db.destroy()
   */
  async destroy(): Promise<void> {
    await this.close()
    await this.#parts.storage.destroy(this.#parts.name)
  }

  /** Closes the database, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  /** @internal Resolves when the listeners of `subscribe` have heard of all commits that this handle has seen. */
  async heard(): Promise<void> {
    await this.#told
  }

  /** @internal The context for our own packages. */
  get context(): DatabaseContext {
    return this.#context
  }

  /** @internal Declares what the application opens the database with. `options`: for the work that this makes. */
  async begin(collections: Readonly<Record<string, DeclaredCollection>>, options: CollectionOptions): Promise<void> {
    this.#context.opening = true
    let declared: Readonly<Record<string, object>> = collections
    if (Object.values(collections).some((one: DeclaredCollection | undefined) => one?.relations !== undefined)) {
      const { relateCollections } = await loadedModule(import('./collection/related-writes.ts'))
      declared = relateCollections(this.#context, collections, (name) => this.#collectionsByName.get(name)!)
    }
    for (const [name, one] of Object.entries(declared))
      await this.collection<JsonObject>(name, { ...one, ...options }).declarations.loaded()
    await this.#resumeBuilds(options)
    this.#context.opening = false
  }

  /** Continues index builds that an earlier run has left. */
  async #resumeBuilds(options: CollectionOptions): Promise<void> {
    const { store, catalog } = this.#context
    const unfinished = await store.read((snapshot) =>
      catalog
        .names(snapshot)
        .filter((name) => catalog.collection(snapshot, name)!.indexes.some(({ builtTo }) => builtTo !== undefined)),
    )
    for (const name of unfinished) {
      const known = this.#collectionsByName.has(name)
      const collection = this.collection<JsonObject>(name)
      if (!known) collection.declarations.build(options)
    }
  }

  /** Listeners get commits in their order, also those that come while the notifier is loaded. */
  #listen(): () => void {
    const { store, catalog } = this.#context
    const names = new Map<number, string>()
    const learnNames = (): void => {
      const snapshot = store.snapshot()
      for (const name of catalog.names(snapshot)) names.set(catalog.collection(snapshot, name)!.number, name)
      snapshot.release()
    }
    learnNames()
    let told = loadedModule(import('./feed/change-notifier.ts')).then(
      ({ ChangeNotifier }) => new ChangeNotifier(store, catalog, this.#listeners, names),
    )
    this.#told = told
    told.catch((error: unknown) => {
      this.#endListening()
      throw error
    })
    return store.onCommit((notice) => {
      // At once: when the event comes, a collection may have come and gone. Most commits write to known ones alone.
      if (![...notice.trees.keys()].every((tree) => names.has(Number.parseInt(tree)))) learnNames()
      told = told.then(async (notifier) => {
        await notifier.tell(notice)
        return notifier
      })
      this.#told = told
    })
  }

  #endListening(): void {
    this.#stopListening?.()
    this.#stopListening = undefined
    this.#listeners.clear()
  }

  /** A handle whose database is gone releases everything by itself. Its own move has ended it, too. */
  #lose(error: PannierError): void {
    const reason = this.#isMoving ? closedByCaller() : error
    if (isPannierError(error, 'PANNIER_CLOSED')) this.#closed ??= this.#closeOnce(reason)
    else {
      this.#closing.abort(reason)
      this.#ended.resolve(reason)
    }
  }

  async #closeOnce(reason: PannierError): Promise<void> {
    const isOwn = isClosedByCaller(reason)
    this.#closing.abort(reason)
    for (const collection of this.#collectionsByName.values()) await collection.declarations.idle()
    await Promise.allSettled(this.#context.pending)
    // Listeners that hear of the end of a replication count what is unsent.
    await Promise.allSettled(this.#context.pending)
    this.#endListening()
    // The store of a database that is gone may fail to close.
    await this.#parts.store.close().catch((error: unknown) => {
      if (isOwn) throw error
    })
    // What was written is said before it counts as closed.
    await Promise.allSettled(this.#answers)
    this.#ended.resolve(isOwn ? undefined : reason)
  }

  #assertOutside(method: string): void {
    assertOutside(this.#context, `db.${method}`, 'Call it before or after.')
  }

  #assertOpen(): void {
    if (this.#isClosed) throw new PannierError('PANNIER_CLOSED', 'The database is closed.')
  }
}

/** The beginning of a function, by which its writer knows it again. */
function sourceOf(body: (...parameters: never[]) => unknown): string {
  const source = String(body).replaceAll(/\s+/g, ' ')
  return source.length > SOURCE_CHARS_MAX ? `${source.slice(0, SOURCE_CHARS_MAX)}…` : source
}

makeDisposable(Database, 'asyncDispose')
