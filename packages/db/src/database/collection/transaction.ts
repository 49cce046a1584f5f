/** A transaction as its function sees it: several reads and writes, all or nothing, isolated from other writers. */
import type { Environment } from '../../base/environment.ts'
import { andThen, isPromise, type MaybePromise } from '../../base/async.ts'
import { isPannierError } from '../../base/errors.ts'
import type { CollectionState } from '../../document/catalog.ts'
import type { HeldSnapshot, HeldTransaction, Snapshot, WriteTransaction } from '../../kv/key-value-store.ts'
import { transactionEnded } from '../../kv/transaction.ts'
import type { QueryRelations } from '../../query/query-run.ts'
import type { QuerySource } from '../../query/query-source.ts'
import type { Related } from '../schema/relation-types.ts'
import type { Collection } from './collection.ts'
import { TransactionCollection } from './collection-operations.ts'
import { MigrationNeeded, type CollectionAccess, type CollectionWriting } from './collection-access.ts'
import type { Declarations } from './declarations.ts'
import type { DatabaseContext } from '../database-context.ts'
import type { JsonObject } from './document-types.ts'
import { querySource } from './query-source.ts'
import { runInScope } from './transaction-scope.ts'
import type { DocumentOf, InputOf, KnownName, UnknownCollection } from '../schema/standard-schema.ts'

/** Runs of a transaction that another handle got ahead of. */
const STALE_ATTEMPTS_MAX = 20

type CollectionOf = (name: string) => Collection<JsonObject>

/** `begun`: the first attempt, which waits for the lease; `begin` begins further ones. */
export async function runTransaction<Schemas extends object, Relations extends object, R>(
  context: DatabaseContext,
  begun: Promise<HeldTransaction>,
  begin: () => Promise<HeldTransaction>,
  body: (tx: Transaction<Schemas, Relations>) => R | Promise<R>,
  collectionOf: CollectionOf,
): Promise<R> {
  const runOnce = async (held: HeldTransaction): Promise<R> => {
    const tx = new Transaction<Schemas, Relations>(context, held, collectionOf)
    const scope = { context, ended: false }
    let result: R
    try {
      result = await runInScope(scope, () => body(tx))
      await tx.settle()
      tx.end()
      if (tx.postponed !== undefined) throw tx.postponed
      await held.commit()
    } catch (error) {
      await tx.settleSteps()
      throw tx.postponed ?? error
    } finally {
      scope.ended = true
      tx.end()
      held.rollback()
    }
    // Everything is written: from here on nothing may fail.
    tx.committed()
    return result
  }
  for (let attempt = 1; ; attempt++) {
    try {
      return await runOnce(await (attempt === 1 ? begun : begin()))
    } catch (error) {
      if (error instanceof MigrationNeeded) await error.migrate()
      else if (attempt === STALE_ATTEMPTS_MAX || !isPannierError(error, 'PANNIER_STALE')) throw error
    }
  }
}

/** `Schemas`, `Relations`: those that the database was opened with, by the names of the collections. */
export class Transaction<Schemas extends object = object, Relations extends object = object> {
  readonly #context: DatabaseContext
  readonly #held: HeldTransaction
  readonly #collectionOf: CollectionOf
  readonly #touched = new Set<string>()
  readonly #declared = new Map<string, Pick<Declarations, 'afterWrite'>>()
  /** Reads and writes that wait for the storage. */
  readonly #steps = new Set<Promise<unknown>>()
  /** Writes, and what will end in one. */
  readonly #work = new Set<Promise<unknown>>()
  /** @internal Steps of queries that were begun, and queries that have not come to their end. */
  taken = 0
  /** @internal */
  openQueries = 0
  #postponed: MigrationNeeded | undefined
  #ended = false

  /** @internal */
  constructor(context: DatabaseContext, held: HeldTransaction, collectionOf: CollectionOf) {
    this.#context = context
    this.#held = held
    this.#collectionOf = collectionOf
  }

  /**
   * The collection inside the transaction. Reads include what the transaction has written, which nobody else sees
   * before its end. Steps that overlap take effect in the order in which they were asked for. A query answers by what
   * was written before it began. What is written meanwhile changes nothing in a loop over its rows.
   * docs/internals/transactions.md is the contract.
   *
   * @example
   * await db.transaction(async (tx) => {
   *   const accounts = tx.collection<Account>('accounts')
   *   await accounts.upsert({ _id: 'a', amount: 10 })
   * })
   */
  collection<Name extends KnownName<Schemas>>(
    name: Name,
  ): TransactionCollection<DocumentOf<Schemas, Name>, InputOf<Schemas, Name>, Related<Schemas, Relations, Name>>
  collection<T extends object = UnknownCollection>(name: string): TransactionCollection<T>
  collection(name: string): unknown {
    this.#assertActive()
    return new TransactionCollection<JsonObject>(name, this.accessOf(name))
  }

  /** @internal */
  accessOf(name: string): TransactionAccess {
    const { writing, declarations } = this.#collectionOf(name)
    this.#declared.set(name, declarations)
    const { migrations } = declarations
    // It must not wait for a migration, which would wait for the lease.
    const postpone = (): MigrationNeeded => (this.#postponed ??= new MigrationNeeded(() => migrations.migrate()))
    return new TransactionAccess(this, writing, postpone)
  }

  /** @internal */
  relationsOf(name: string): QueryRelations | undefined {
    return this.#context.relations?.queriesOf(name)
  }

  /** @internal Set when the transaction has to start over, whatever its function makes of it. */
  get postponed(): MigrationNeeded | undefined {
    return this.#postponed
  }

  /**
   * @internal Waits for calls that were not awaited; rejects if one of the writes fails. A query that continues by
   *   itself takes its next step within a turn of the event loop. Any other query ends with the transaction.
   */
  async settle(): Promise<void> {
    while (this.#work.size > 0 || (await this.#isMoving()))
      await Promise.all([...this.#work, Promise.allSettled(this.#steps)])
  }

  /** @internal As `settle`, when the transaction has failed: only for what the storage has to answer, however that ends. */
  async settleSteps(): Promise<void> {
    while (await this.#isMoving()) await Promise.allSettled(this.#steps)
  }

  async #isMoving(): Promise<boolean> {
    if (this.#steps.size > 0) return true
    const { taken } = this
    if (this.openQueries > 0) await this.#context.environment.yield()
    return this.#steps.size > 0 || this.taken > taken
  }

  /** @internal */
  end(): void {
    this.#ended = true
  }

  /** @internal Tells each collection that was written to. Never throws: the transaction is written. */
  committed(): void {
    const { store, catalog } = this.#context
    try {
      for (const name of this.#touched) {
        const state = store.read((snapshot) => catalog.collection(snapshot, name))
        if (!isPromise(state)) this.#declared.get(name)!.afterWrite(state?.number)
      }
    } catch {
      // The handle is closed. The next one looks by itself.
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
    const held = this.active
    this.#touched.add(name)
    const written = (async () => held.attempt(() => write(held)))()
    return this.pending(kept(this.#steps, written))
  }

  /** @internal Work that is pending: the transaction does not end before it has. */
  pending<T>(work: Promise<T>): Promise<T> {
    return kept(this.#work, work)
  }

  /** @internal As `pending`, of what changes nothing. */
  reading<T>(work: MaybePromise<T>): MaybePromise<T> {
    return isPromise(work) ? kept(this.#steps, work) : work
  }

  #assertActive(): void {
    if (this.#ended) throw transactionEnded()
  }
}

/** In the set until it has ended. */
function kept<T>(set: Set<Promise<unknown>>, work: Promise<T>): Promise<T> {
  set.add(work)
  const done = (): void => void set.delete(work)
  work.then(done, done)
  return work
}

class TransactionAccess implements CollectionAccess {
  readonly writing: CollectionWriting
  readonly loadLiveHost: undefined
  readonly columns: undefined
  readonly #transaction: Transaction
  readonly #postpone: () => MigrationNeeded

  constructor(transaction: Transaction, writing: CollectionWriting, postpone: () => MigrationNeeded) {
    this.#transaction = transaction
    this.writing = writing
    this.#postpone = postpone
  }

  read<T>(read: (snapshot: Snapshot) => T): MaybePromise<T> {
    const transaction = this.#transaction
    const view = transaction.active.view()
    const readMigrated = (snapshot: Snapshot): T => {
      this.#assertMigrated(this.#state(snapshot), false)
      return read(snapshot)
    }
    return transaction.reading(andThen(view, (seen) => seen.attempt(() => readMigrated(seen))))
  }

  write<T>(write: (transaction: WriteTransaction) => T): Promise<T> {
    return this.#transaction.write(this.writing.name, (transaction) => {
      this.#assertMigrated(this.#state(transaction), true)
      return write(transaction)
    })
  }

  #state(snapshot: Snapshot): CollectionState | undefined {
    return this.writing.catalog.collection(snapshot, this.writing.name)
  }

  /** @throws MigrationNeeded, so that the transaction starts over; PANNIER_SCHEMA_NEWER */
  #assertMigrated(state: CollectionState | undefined, writes: boolean): void {
    const { schema } = this.writing
    if (!writes && schema.version === undefined) return
    if (schema.needsMigration(state, writes)) throw this.#postpone()
  }

  /** No uploads: another transaction would wait for this one to end. */
  uploads(): undefined {
    return undefined
  }

  pending<T>(work: Promise<T>): Promise<T> {
    return this.#transaction.pending(work)
  }

  get relations(): QueryRelations | undefined {
    return this.#transaction.relationsOf(this.writing.name)
  }

  /** A source of the transaction's writes so far. */
  openSource(related: readonly string[] = []): MaybePromise<QuerySource> {
    const transaction = this.#transaction
    return transaction.reading(andThen(transaction.active.view(), (view) => this.#sourceOf(view, related)))
  }

  /** The source of a query; each step counts as under way. */
  #sourceOf(view: HeldSnapshot, related: readonly string[]): QuerySource {
    const transaction = this.#transaction
    const source = this.#sourceOn(view, () => {
      view.release()
      transaction.openQueries--
    })
    transaction.openQueries++
    try {
      this.#assertMigrated(this.#state(view), false)
      for (const name of related) {
        const access = transaction.accessOf(name)
        access.#assertMigrated(access.#state(view), false)
      }
    } catch (error) {
      source.release()
      throw error
    }
    return {
      ...source,
      attempt: (step) => {
        transaction.taken++
        return transaction.reading(source.attempt(step))
      },
      pause: () => transaction.reading(source.pause()),
    }
  }

  #sourceOn(view: HeldSnapshot, release: () => void): QuerySource {
    const transaction = this.#transaction
    const other = (name: string): QuerySource => transaction.accessOf(name).#sourceOn(view, () => {})
    return querySource(view, this.writing, transaction.environment, release, undefined, other)
  }

  known(): { readonly state: CollectionState | undefined; readonly committed: boolean } {
    return { state: this.#state(this.#transaction.active), committed: false }
  }
}
