/** A collection of an open database: its documents and its indexes. */
import { badArgument, checkChoice, checkOptions, type OptionNames } from '../../base/options.ts'
import type { MaybePromise } from '../../base/async.ts'
import { loadedModule } from '../../base/lazy-module.ts'
import { dropping, type IndexDeclaration } from '../../index/index-definition.ts'
import type { DuplicateKey } from '../../index/unique.ts'
import type { QuerySource } from '../../query/query-source.ts'
import type { Selector } from '../../query/query.ts'
import { lateStream, type ByteSource } from '../transfer/byte-stream.ts'
import { ChangeFeed, feedSpecification, type ChangesOptions } from '../feed/change-feed.ts'
import { TransactionCollection } from './collection-operations.ts'
import type { CollectionWriting } from './collection-access.ts'
import type { DatabaseContext } from '../database-context.ts'
import { Declarations } from './declarations.ts'
import type { Identified, JsonObject, Stored } from './document-types.ts'
import type { ExportFormat } from '../transfer/export-documents.ts'
import type { ImportTarget } from '../transfer/import-documents.ts'
import type { ImportOptions, ImportResult } from '../transfer/import-options.ts'
import { Replication } from '../replication/replication.ts'
import type {
  CollectionReplicateOptions,
  ReplicationOptions,
  ReplicationTarget,
} from '../replication/replication-options.ts'
import type { ReplicationDirection } from '../../replication/types.ts'
import type { MigrationFailure, RetryResult } from '../schema/migration-failures.ts'
import { eitherSignal, type LongWork } from '../../base/long-work.ts'
import { assertOutside } from './transaction-scope.ts'
import { CollectionViews } from './view.ts'
import type { BuiltInReduce, BuiltInResult, ReduceFunction, View, ViewDefinition, ViewOptions } from './view.ts'
import type { ViewAnswer, ViewResult } from './view.ts'

/** Options of `collection.export`. */
export interface ExportOptions<T extends object> extends LongWork {
  /** The format; 'ndjson' when left out. */
  readonly format?: ExportFormat | undefined
  /** Only documents that it matches. */
  readonly selector?: Selector<Identified<T>> | undefined
  /** The content of attachments too, as base64, and not only their names. */
  readonly attachments?: boolean | undefined
}

const EXPORT_OPTIONS: OptionNames<ExportOptions<object>> = {
  format: true,
  selector: true,
  attachments: true,
  signal: true,
  onProgress: true,
}

/** The result of `collection.indexes()` for one index. */
export interface IndexInfo extends IndexDeclaration {
  /** Whether it is ready. False while it is being built. */
  readonly ready: boolean
}

/** The documents of one collection, with its indexes, views, feeds and replications. */
export class Collection<
  T extends object,
  Input extends object = T,
  Asked extends object = Identified<T>,
> extends TransactionCollection<T, Input, Asked> {
  /** @internal */
  readonly declarations: Declarations
  readonly #context: DatabaseContext
  readonly #views: CollectionViews

  /** @internal Use `database.collection(name)`. */
  constructor(name: string, context: DatabaseContext) {
    const declarations = new Declarations(name, context)
    super(name, declarations.access)
    this.declarations = declarations
    this.#context = context
    const whenReadable = async (): Promise<void> => await this.access.read(() => undefined)
    this.#views = new CollectionViews({ ...context, name, whenReadable })
  }

  /**
   * Resolves when documents of older versions are migrated and every declared index is built. Reads and writes wait for
   * the migration, not for indexes. (A collection without documents needs neither.) An index that is declared here and
   * was dropped elsewhere is built again.
   *
   * @throws PANNIER_INDEX_MISMATCH if an index of the same name exists with another definition; PANNIER_SCHEMA_NEWER if newer
   *   code has migrated the collection; PANNIER_ABORTED if it was cancelled.
   * @example
   * const people = db.collection('people', { indexes: ['age'] })
   * await people.ready()
   */
  async ready(): Promise<void> {
    assertOutside(this.#context, 'ready()', 'Call it before or after.')
    await this.declarations.ready()
  }

  /**
   * The changes, in their order: each document that was written or deleted after `since`, once, with its newest
   * revision. docs/internals/change-feed.md is the contract.
   *
   * @throws While it is read: PANNIER_ABORTED; PANNIER_EPOCH_MISMATCH if `since` cannot be of this collection.
   *   PANNIER_NOT_FOUND if the collection is dropped meanwhile, and PANNIER_CLOSED; a live feed just ends in both
   *   cases.
   * @example
   * for await (const { seq, id, doc } of people.changes({ since, live: true, docs: true, signal })) show(id, doc)
   */
  changes(options: ChangesOptions<T> = {}): ChangeFeed<T> {
    const { store, environment, closing } = this.#context
    const openSource = (): MaybePromise<QuerySource> => this.access.openSource()
    const now = (): number => (closing.aborted ? 0 : this.#lastSeq())
    const specification = feedSpecification(options, now, this.access.relations)
    return new ChangeFeed<T>({ store, environment, closing, openSource }, specification)
  }

  /**
   * The documents that could not be migrated, each with the reason. They are kept as they were.
   *
   * @example
   * for (const { id, message } of await people.migrationFailures()) console.warn(id, message)
   */
  migrationFailures(): Promise<MigrationFailure[]> {
    return this.declarations.migrations.failures()
  }

  /**
   * Tries again to migrate the documents that could not be migrated.
   *
   * @throws PANNIER_ABORTED
   * @example
   * const { migrated, failed } = await people.retryMigration()
   */
  retryMigration(options: LongWork = {}): Promise<RetryResult> {
    return this.declarations.migrations.retry(options)
  }

  /**
   * The indexes that the collection has.
   *
   * @example
   * for (const { name, ready } of await people.indexes()) console.log(name, ready)
   */
  async indexes(): Promise<IndexInfo[]> {
    const state = await this.#context.store.read((snapshot) => this.#context.catalog.collection(snapshot, this.name))
    return (state?.indexes ?? []).map(({ number: _, builtTo, ...declaration }) => ({
      ...declaration,
      ready: builtTo === undefined,
    }))
  }

  /**
   * Documents that share a key of a unique index. Replication may bring them, because replicas must not differ. Reports
   * at most `limit` keys (100 by default).
   *
   * @throws PANNIER_NOT_FOUND if there is no such index, or it is being built.
   * @example
   * for (const { key, ids } of await people.duplicates('email')) console.log(key, ids)
   */
  async duplicates(name: string, options: { readonly limit?: number } = {}): Promise<DuplicateKey[]> {
    const { findDuplicates } = await loadedModule(import('./duplicates.ts'))
    const source = await this.access.openSource()
    try {
      return await findDuplicates(source, name, options)
    } finally {
      source.release()
    }
  }

  /**
   * Drops an index at once, whatever its size; false if it does not exist. It is no longer declared here. Other handles
   * that have declared it build it again when they declare it again or call `ready()`.
   *
   * @example
   * await people.dropIndex('age')
   */
  async dropIndex(name: string): Promise<boolean> {
    const { store, catalog } = this.#context
    assertOutside(this.#context, 'dropIndex()', 'Call it before or after.')
    this.declarations.forget(name)
    return await store.write((transaction) => {
      const state = catalog.collection(transaction, this.name)
      return state !== undefined && dropping().dropIndex(transaction, catalog, state, name)
    })
  }

  /**
   * A map/reduce view. It is stored under this name, so it need not be built again after the next `open`. A view with
   * another source (or `version`) replaces it.
   *
   * @throws PANNIER_LIMIT_EXCEEDED (when it is queried) if the collection has too many views.
   * @example
   * const byCity = people.view('byCity', { map: (person, emit) => emit(person.city), reduce: '_count', version: 1 })
   * const { rows } = await byCity.query({ group: true })
   */
  view<K, V>(name: string, definition: ViewDefinition<Stored<T>, K, V, undefined>): View<Stored<T>, K, V>
  view<K, V, B extends BuiltInReduce>(
    name: string,
    definition: ViewDefinition<Stored<T>, K, V, B>,
  ): View<Stored<T>, K, V, BuiltInResult<B, V>>
  view<K, V, R>(
    name: string,
    definition: ViewDefinition<Stored<T>, K, V, ReduceFunction<K, V, R>>,
  ): View<Stored<T>, K, V, R>
  view(name: string, definition: unknown): unknown {
    if (name === undefined) throw badArgument('view()', 'the name of a view must be given', name)
    return this.#views.view(name, definition)
  }

  /**
   * Runs a query of a view that has no name. What it builds serves the next query with the same function objects. With a `version` it is
   * kept in the database, for equal source and version, as long as there are not too many others.
   *
   * @example
   * await people.mapReduce({ map: (person, emit) => emit(person.age) }, { gte: 18, limit: 10 })
   */
  mapReduce<K, V>(
    definition: ViewDefinition<Stored<T>, K, V, undefined>,
    options?: ViewOptions,
  ): Promise<ViewResult<K, V, ViewAnswer<Stored<T>, K, V, never>>>
  mapReduce<K, V, B extends BuiltInReduce>(
    definition: ViewDefinition<Stored<T>, K, V, B>,
    options?: ViewOptions,
  ): Promise<ViewResult<K, V, ViewAnswer<Stored<T>, K, V, BuiltInResult<B, V>>>>
  mapReduce<K, V, R>(
    definition: ViewDefinition<Stored<T>, K, V, ReduceFunction<K, V, R>>,
    options?: ViewOptions,
  ): Promise<ViewResult<K, V, ViewAnswer<Stored<T>, K, V, R>>>
  mapReduce(definition: unknown, options?: ViewOptions): Promise<unknown> {
    return this.#views.view(undefined, definition).query(options)
  }

  /**
   * The documents as JSON text, as they are now, made as it is read. docs/internals/import-export.md describes the formats.
   *
   * @throws (the stream) PANNIER_ABORTED, PANNIER_CLOSED
   * @example
   * await people.export({ format: 'ndjson' }).pipeTo(Writable.toWeb(createWriteStream('people.ndjson')))
   */
  export(options: ExportOptions<T> = {}): ReadableStream<Uint8Array> {
    checkOptions('export()', options, EXPORT_OPTIONS)
    checkChoice('export()', 'format', options.format, ['ndjson', 'json', 'couchdb', 'couchdb-bulk', 'replica'])
    this.find(options.selector as Selector<Asked> | undefined)
    return lateStream(async () => {
      const { relations } = this.access
      const source = await this.access.openSource(relations?.collections)
      const { exportStream } = await loadedModule(import('../transfer/export-documents.ts'))
      const { environment, closing } = this.#context
      const signal = eitherSignal(closing, options.signal)
      const selector = options.selector as Selector<JsonObject>
      return exportStream(source, { ...options, selector, relations, name: 'The export', environment, signal })
    })
  }

  /**
   * Reads documents from JSON text: lines, an array, or CouchDB's `_all_docs` or `_bulk_docs`. They are written in
   * batches, each all or nothing; one that can't be written is reported and the others are written all the same.
   *
   * @throws PANNIER_FORMAT_WRONG if the text around the documents is damaged or cut off; PANNIER_ABORTED, PANNIER_CLOSED,
   *   PANNIER_QUOTA_EXCEEDED; what the source throws. `details` tells what was imported until then.
   * @example
   * const { imported, failed } = await people.import(await openAsBlob('people.ndjson'), { mode: 'upsert' })
   */
  import(source: ByteSource, options: ImportOptions = {}): Promise<ImportResult> {
    const { closing, environment } = this.#context
    const loading = loadedModule(import('../transfer/import-documents.ts'))
    return this.access.pending(
      loading.then(({ importDocuments }) =>
        importDocuments(source, this as unknown as ImportTarget, options, { closing, environment }),
      ),
    )
  }

  /**
   * Keeps this collection and another one, or a CouchDB database, in step: what changes on either side comes to the other.
   * docs/internals/replication.md is the contract.
   *
   * @throws (when it is awaited) PANNIER_PEER_UNREACHABLE, if it is not to try again; PANNIER_PEER_REFUSED, PANNIER_NOT_FOUND,
   *   PANNIER_ABORTED, and what storages throw. Wrong options reject with a TypeError.
   * @example
   * const sync = people.sync('https://example.org/people', { live: true })
   */
  sync(target: ReplicationTarget, options: ReplicationOptions = {}): Replication {
    return this.#replication(target, options, 'push', 'pull')
  }

  /**
   * Replicates in one direction: `to` sends changes of this collection, `from` fetches changes of another one.
   * Takes the same targets and options as `sync`.
   *
   * @throws TypeError if not exactly one of `to` and `from` is given. When awaited, as `sync`.
   * @example
   * const { docsWritten } = await people.replicate({ from: 'https://example.org/people', selector: { city: 'Oslo' } })
   */
  replicate(options: CollectionReplicateOptions): Replication {
    const { to, from, ...others } = options
    if (!to === !from) throw badArgument('replicate()', 'options must have either to or from', options)
    return this.#replication((to ?? from)!, others, to ? 'push' : 'pull')
  }

  #replication(
    target: ReplicationTarget,
    options: ReplicationOptions,
    ...directions: ReplicationDirection[]
  ): Replication {
    return new Replication(this.#context, { collection: this, target, directions }, options)
  }

  /** @internal Creates what a write into a missing collection needs. */
  get writing(): CollectionWriting {
    return this.access.writing
  }

  /** The newest sequence number. */
  #lastSeq(): number {
    const { store, catalog } = this.#context
    const snapshot = store.snapshot()
    try {
      const state = catalog.collection(snapshot, this.name)
      return state === undefined ? 0 : snapshot.tree(state.trees.bodies)!.lastNumber
    } finally {
      snapshot.release()
    }
  }
}
