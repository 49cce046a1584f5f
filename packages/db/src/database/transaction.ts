/** A transaction as its function sees it: several reads and writes, all or nothing, that nobody else comes between. */
import type { Environment } from '../base/environment.ts'
import { isPromise } from '../base/maybe-promise.ts'
import type { MaybePromise } from '../base/maybe-promise.ts'
import type { CollectionState } from '../document/collection-state.ts'
import type { HeldTransaction, Snapshot, WriteTransaction } from '../kv/key-value-store.ts'
import type { QuerySource } from '../query/query-source.ts'
import type { Collection } from './collection.ts'
import { CollectionOperations } from './collection-operations.ts'
import type { CollectionAccess, CollectionWriting } from './collection-access.ts'
import type { DatabaseContext } from './database-context.ts'
import type { JsonObject } from './document-types.ts'
import { querySource } from './query-source.ts'
import type { DocumentOf, InputOf } from './schema/declared-types.ts'
import { MigrationNeeded, VersionedAccess } from './schema/versioned-access.ts'

/** `Schemas`: those that the database was opened with, by the names of the collections. */
export class Transaction<Schemas extends object = object> {
  readonly #context: DatabaseContext
  readonly #held: HeldTransaction
  readonly #collectionOf: (name: string) => Collection<JsonObject>
  readonly #touched = new Set<string>()
  readonly #pending = new Set<Promise<unknown>>()
  #postponed: MigrationNeeded | undefined
  #ended = false

  /** @internal */
  constructor(context: DatabaseContext, held: HeldTransaction, collectionOf: (name: string) => Collection<JsonObject>) {
    this.#context = context
    this.#held = held
    this.#collectionOf = collectionOf
  }

  /**
   * The collection inside the transaction: what is read through it includes what the transaction has written, which nobody
   * else sees before it ends. Write nothing into a collection while a loop over one of its queries is under way.
   */
  collection<Name extends string>(name: Name): CollectionOperations<DocumentOf<Schemas, Name>, InputOf<Schemas, Name>>
  collection<T extends object>(name: string): CollectionOperations<T>
  collection(name: string): unknown {
    this.#assertActive()
    const collection = this.#collectionOf(name)
    const access = new TransactionAccess(this, collection.writing)
    // It must not wait for a migration, which would wait for its turn.
    const postpone = (): Promise<never> => {
      this.#postponed ??= new MigrationNeeded(() => collection.declarations.migrations.migrate())
      return Promise.reject(this.#postponed)
    }
    return new CollectionOperations<JsonObject>(name, new VersionedAccess(access, collection.writing.schema, postpone))
  }

  /** @internal Set when the transaction has to start over, whatever its function makes of it. */
  get postponed(): MigrationNeeded | undefined {
    return this.#postponed
  }

  /** @internal The operations that were not waited for. Rejects if one of them failed. */
  async settle(): Promise<void> {
    while (this.#pending.size > 0) await Promise.all(this.#pending)
  }

  /** @internal */
  end(): void {
    this.#ended = true
  }

  /** @internal Tells each collection that was written to. */
  committed(): void {
    const { store, catalog } = this.#context
    for (const name of this.#touched) {
      const state = store.read((snapshot) => catalog.collection(snapshot, name))
      if (!isPromise(state)) this.#collectionOf(name).declarations.afterWrite(state?.number)
    }
  }

  /** @internal */
  get environment(): Environment {
    return this.#context.environment
  }

  /** @internal */
  get active(): HeldTransaction {
    this.#assertActive()
    return this.#held
  }

  /** @internal */
  write<T>(name: string, write: (transaction: WriteTransaction) => T): Promise<T> {
    const held = this.#held
    this.#assertActive()
    this.#touched.add(name)
    return this.pending(Promise.resolve(held.attempt(() => write(held))))
  }

  /** @internal The transaction does not end before it has. */
  pending<T>(work: Promise<T>): Promise<T> {
    this.#pending.add(work)
    const done = (): void => void this.#pending.delete(work)
    work.then(done, done)
    return work
  }

  #assertActive(): void {
    if (this.#ended)
      throw new TypeError('The transaction has ended; use it only inside its function, and wait for what it does.')
  }
}

class TransactionAccess implements CollectionAccess {
  readonly writing: CollectionWriting
  readonly loadLiveHost: undefined
  readonly #transaction: Transaction

  constructor(transaction: Transaction, writing: CollectionWriting) {
    this.#transaction = transaction
    this.writing = writing
  }

  read<T>(read: (snapshot: Snapshot) => T): MaybePromise<T> {
    const held = this.#transaction.active
    return held.attempt(() => read(held))
  }

  write<T>(write: (transaction: WriteTransaction) => T): Promise<T> {
    return this.#transaction.write(this.writing.name, write)
  }

  /** Another transaction would wait for this one to end. */
  uploads(): undefined {
    return undefined
  }

  pending<T>(work: Promise<T>): Promise<T> {
    return this.#transaction.pending(work)
  }

  openSource(): QuerySource {
    const { active, environment } = this.#transaction
    return querySource(active, this.writing, environment, () => {})
  }

  known(): { readonly state: CollectionState | undefined; readonly committed: boolean } {
    return { state: this.writing.catalog.collection(this.#transaction.active, this.writing.name), committed: false }
  }
}
