/**
 * Keeps readers and writers away from a collection as long as documents in it have to be migrated, and old code away from a
 * newer version. What is looked at is the very snapshot or transaction that is read or written, so there is no gap, whichever
 * tab migrates.
 */
import { andThen, type MaybePromise } from '../../base/async.ts'
import type { Snapshot, WriteTransaction } from '../../kv/key-value-store.ts'
import type { QuerySource } from '../../query/query-source.ts'
import type { CollectionAccess, CollectionWriting } from '../collection/collection-access.ts'
import type { CollectionSchema } from './collection-schema.ts'

/** A transaction has met a collection that has to be migrated first: then it has to start over. */
export class MigrationNeeded extends Error {
  /** Resolves when it is done. */
  readonly migrate: () => Promise<void>

  constructor(migrate: () => Promise<void>) {
    super('The transaction starts over when the collection is migrated.')
    this.migrate = migrate
  }
}

export class VersionedAccess implements CollectionAccess {
  readonly writing: CollectionWriting
  readonly loadLiveHost: CollectionAccess['loadLiveHost']
  readonly #inner: CollectionAccess
  readonly #schema: CollectionSchema
  readonly #whenMigrated: () => Promise<void>

  /** `whenMigrated` resolves when it is worth another look. */
  constructor(inner: CollectionAccess, schema: CollectionSchema, whenMigrated: () => Promise<void>) {
    this.writing = inner.writing
    this.loadLiveHost = inner.loadLiveHost
    this.#inner = inner
    this.#schema = schema
    this.#whenMigrated = whenMigrated
  }

  read<T>(read: (snapshot: Snapshot) => T): MaybePromise<T> {
    const inner = this.#inner
    if (this.#schema.version === undefined) return inner.read(read)
    const result = inner.read((snapshot) => (this.#mustWait(snapshot, false) ? WAIT : read(snapshot)))
    return andThen(result, (value) =>
      value === WAIT ? this.#whenMigrated().then(() => this.read(read)) : (value as T),
    )
  }

  async write<T>(write: (transaction: WriteTransaction) => T): Promise<T> {
    for (;;) {
      const result = await this.#inner.write((transaction) =>
        this.#mustWait(transaction, true) ? WAIT : write(transaction),
      )
      if (result !== WAIT) return result as T
      await this.#whenMigrated()
    }
  }

  openSource(): MaybePromise<QuerySource> {
    if (this.#schema.version === undefined) return this.#inner.openSource()
    return andThen(this.#inner.openSource(), (source) => this.#checkedSource(source))
  }

  uploads(): ReturnType<CollectionAccess['uploads']> {
    return this.#inner.uploads()
  }

  known(): ReturnType<CollectionAccess['known']> {
    return this.#inner.known()
  }

  pending<T>(work: Promise<T>): Promise<T> {
    return this.#inner.pending(work)
  }

  #checkedSource(source: QuerySource): MaybePromise<QuerySource> {
    let waits = true
    try {
      const { collection } = source.documents
      // A collection that does not exist has the number 0.
      waits = this.#schema.needsMigration(collection.number === 0 ? undefined : collection, false)
    } finally {
      if (waits) source.release()
    }
    return waits ? this.#whenMigrated().then(() => this.openSource()) : source
  }

  #mustWait(snapshot: Snapshot, writes: boolean): boolean {
    const { catalog, name } = this.writing
    return this.#schema.needsMigration(catalog.collection(snapshot, name), writes)
  }
}

const WAIT: unique symbol = Symbol('wait')
