/** Many reads of one state of the database: a list, its total and what its records lead to agree. */
import { AssertionError, PannierError } from '../../base/errors.ts'
import { pauseIn } from '../../base/long-work.ts'
import type { MaybePromise } from '../../base/async.ts'
import type { CollectionState } from '../../document/catalog.ts'
import type { StoredDocument } from '../../document/document-reader.ts'
import type { HeldSnapshot, Snapshot } from '../../kv/key-value-store.ts'
import type { QueryRelations } from '../../query/query-run.ts'
import type { ColumnMemory, QuerySource } from '../../query/query-source.ts'
import { MigrationNeeded, type CollectionAccess, type CollectionWriting } from '../collection/collection-access.ts'
import { TransactionCollection } from '../collection/collection-operations.ts'
import type { JsonObject } from '../collection/document-types.ts'
import type { DatabaseContext } from '../database-context.ts'
import type { Database } from '../database.ts'
import { GuardReader } from './guard-reader.ts'

/** The readable part of a collection. */
type ReadCollection = Pick<TransactionCollection<JsonObject>, 'name' | 'get' | 'find' | 'list' | 'info'>

/**
 * Runs a function that reads the newest state, whatever is written meanwhile. The function may run again, if a collection has to be
 * migrated first.
 */
export async function readSnapshot<R>(database: Database, run: (reader: SnapshotReader) => R | Promise<R>): Promise<R> {
  for (;;) {
    const reader = new SnapshotReader(database)
    try {
      return await run(reader)
    } catch (error) {
      if (!(error instanceof MigrationNeeded)) throw error
      await error.migrate()
    } finally {
      reader.end()
    }
  }
}

/** Holds a snapshot of the newest state, until its `end` is called. Meanwhile no page of it is reused, so it is not for long. */
export function holdSnapshot(database: Database): SnapshotReader {
  return new SnapshotReader(database)
}

/** Reads one state. */
export class SnapshotReader {
  readonly #database: Database
  readonly #snapshot: HeldSnapshot
  #reader: GuardReader | undefined
  #ended = false

  constructor(database: Database) {
    this.#database = database
    this.#snapshot = database.context.store.snapshot()
  }

  /** A collection, also for `selectionQuery`. */
  collection(name: string): ReadCollection {
    const { access } = this.#database.collection<JsonObject>(name)
    return new TransactionCollection<JsonObject>(
      name,
      new SnapshotCollection(this.#database.context, access, () => this.#held()),
    )
  }

  /** Runs a synchronous function that reads, such as a rule. It may run again. */
  async read<T>(read: (reader: GuardReader) => T): Promise<T> {
    const snapshot = this.#held()
    const reader = (this.#reader ??= new GuardReader(snapshot, this.#database.context.catalog))
    return snapshot.attempt(() => read(reader))
  }

  /** By each of the ids, the documents whose field has it, in the order of creation: all of them, or `limit`. */
  async via(
    collection: string,
    field: string,
    ids: readonly string[],
    limit: number = Infinity,
  ): Promise<ReadonlyMap<string, readonly StoredDocument[]>> {
    const found = new Map<string, readonly StoredDocument[]>()
    const pause = pauseIn(this.#database.context.environment)
    for (const id of ids) {
      found.set(id, await this.read((reader) => reader.via(collection, field, id, limit)))
      await pause()
    }
    return found
  }

  /** The number of the newest commit that it has: a later state has a higher one. */
  get sequence(): number {
    return this.#snapshot.sequence
  }

  /** Ends the reading. */
  end(): void {
    this.#ended = true
    this.#snapshot.release()
  }

  #held(): HeldSnapshot {
    if (this.#ended) throw new PannierError('PANNIER_TRANSACTION_ENDED', 'The snapshot was read after its end.')
    return this.#snapshot
  }
}

class SnapshotCollection implements CollectionAccess {
  readonly writing: CollectionWriting
  readonly loadLiveHost: undefined
  readonly columns: ColumnMemory | undefined
  readonly #context: DatabaseContext
  readonly #held: () => HeldSnapshot

  constructor(context: DatabaseContext, { writing, columns }: CollectionAccess, held: () => HeldSnapshot) {
    this.writing = writing
    this.columns = columns
    this.#context = context
    this.#held = held
  }

  read<T>(read: (snapshot: Snapshot) => T): MaybePromise<T> {
    const snapshot = this.#held()
    this.#assertMigrated([this.writing.name])
    return snapshot.attempt(() => read(snapshot))
  }

  openSource(related: readonly string[] = []): QuerySource {
    const { name } = this.writing
    this.#assertMigrated([name, ...related])
    return this.#context.accessOf(name).sourceOn(this.#held())
  }

  get relations(): QueryRelations | undefined {
    return this.#context.relations?.queriesOf(this.writing.name)
  }

  known(): { readonly state: CollectionState | undefined; readonly committed: boolean } {
    return { state: this.writing.catalog.collection(this.#held(), this.writing.name), committed: true }
  }

  write(): Promise<never> {
    return Promise.reject(new AssertionError('a snapshot is only read'))
  }

  uploads(): undefined {
    return undefined
  }

  pending<T>(work: Promise<T>): Promise<T> {
    return work
  }

  #assertMigrated(names: readonly string[]): void {
    for (const name of names) {
      const access = this.#context.accessOf(name)
      if (access.isBehind(this.#held())) throw new MigrationNeeded(() => access.whenMigrated())
    }
  }
}
