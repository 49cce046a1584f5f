/** Reads and writes of a collection outside transactions. */
import { loadedModule } from '../../base/lazy-module.ts'
import { andThen, type MaybePromise } from '../../base/async.ts'
import { type CollectionState, DEFAULT_SETTINGS } from '../../document/catalog.ts'
import { defineIndexes, type IndexDeclaration } from '../../index/index-definition.ts'
import { indexMaintenance } from '../../index/maintain-indexes.ts'
import type { HeldSnapshot, Snapshot, WriteTransaction } from '../../kv/key-value-store.ts'
import type { LiveHost } from '../../query/live/live-types.ts'
import type { QueryRelations } from '../../query/query-run.ts'
import type { ColumnMemory, KeptMemory, QuerySource } from '../../query/query-source.ts'
import { selectorTest } from '../../query/selector-test.ts'
import type { CollectionAccess, CollectionWriting } from './collection-access.ts'
import type { DatabaseContext, SnapshotAccess } from '../database-context.ts'
import type { ChosenSettings } from './collection-settings.ts'
import { querySource } from './query-source.ts'
import type { CollectionSchema } from '../schema/collection-schema.ts'
import { assertOutside } from './transaction-scope.ts'

/** The declaration of a collection, as far as writes must know. */
export interface Declared {
  readonly indexes: ReadonlyMap<string, IndexDeclaration>
  readonly settings: Readonly<ChosenSettings>
  readonly schema: CollectionSchema
  /** Called after each write, with the number of the collection if there is one. */
  afterWrite(collectionNumber: number | undefined): void
}

/** The collection has to be migrated before anybody reads or writes it. */
const MUST_MIGRATE: unique symbol = Symbol('must migrate')

/**
 * Reads the newest state; each write is a transaction of its own. While documents have to be migrated, reads and writes wait. The
 * very snapshot or transaction that is used says so, whichever tab migrates.
 */
export class StoreAccess implements CollectionAccess, SnapshotAccess {
  readonly writing: CollectionWriting
  readonly loadLiveHost: () => Promise<LiveHost>
  readonly #name: string
  readonly #context: DatabaseContext
  readonly #declared: Declared
  readonly whenMigrated: () => Promise<void>
  readonly #kept: KeptMemory
  /** The collection after the last write here. */
  #written: CollectionState | undefined

  /** `whenMigrated` resolves when it is worth another look. */
  constructor(name: string, context: DatabaseContext, declared: Declared, whenMigrated: () => Promise<void>) {
    const { catalog } = context
    const { indexes, settings, schema } = declared
    this.#name = name
    this.#context = context
    this.#kept = { columns: context.columns }
    this.#declared = declared
    this.whenMigrated = whenMigrated
    this.loadLiveHost = async () => {
      const { watchCollection } = await loadedModule(import('./live-watcher.ts'))
      return watchCollection(context, name, schema)
    }
    const declaredIndexes = (): IndexDeclaration[] => [...indexes.values()]
    const maintenance = indexMaintenance(selectorTest, declaredIndexes)
    this.writing = {
      catalog,
      name,
      create: (transaction, initial) => {
        const state = schema.markNew(
          transaction,
          catalog,
          catalog.create(transaction, name, { ...initial, ...settings }),
        )
        return defineIndexes(transaction, catalog, state, declaredIndexes())
      },
      // The backend changes relations while the database is open.
      get maintenance() {
        return context.relations?.maintenanceOf(name, maintenance) ?? maintenance
      },
      get deleteRules() {
        return context.relations?.deleteRulesOf(name)
      },
      settings: () => ({ ...DEFAULT_SETTINGS, ...settings }),
      newIds: context.newIds,
      schema,
      declaredIndexes,
    }
  }

  read<T>(read: (snapshot: Snapshot) => T): MaybePromise<T> {
    const { store, catalog } = this.#context
    const { schema } = this.#declared
    if (schema.version === undefined) return store.read(read)
    const result = store.read((snapshot) =>
      schema.needsMigration(catalog.collection(snapshot, this.#name), false) ? MUST_MIGRATE : read(snapshot),
    )
    return andThen(result, (value) =>
      value === MUST_MIGRATE ? this.whenMigrated().then(() => this.read(read)) : (value as T),
    )
  }

  async write<T>(write: (transaction: WriteTransaction) => T): Promise<T> {
    const { store, catalog } = this.#context
    const { schema } = this.#declared
    for (;;) {
      this.#assertOutside()
      let state: CollectionState | undefined
      const result = await store.write((transaction) => {
        if (schema.needsMigration(catalog.collection(transaction, this.#name), true)) return MUST_MIGRATE
        const written = write(transaction)
        state = catalog.collection(transaction, this.#name)
        return written
      })
      if (result !== MUST_MIGRATE) {
        this.#written = state
        this.#declared.afterWrite(state?.number)
        return result as T
      }
      await this.whenMigrated()
    }
  }

  uploads(): DatabaseContext {
    this.#assertOutside()
    return this.#context
  }

  pending<T>(work: Promise<T>): Promise<T> {
    const { pending } = this.#context
    pending.add(work)
    const done = (): void => void pending.delete(work)
    work.then(done, done)
    return work
  }

  #assertOutside(): void {
    const name = JSON.stringify(this.#name)
    assertOutside(this.#context, `A write to the collection ${name}`, `Use tx.collection(${name}).`)
  }

  get relations(): QueryRelations | undefined {
    return this.#context.relations?.queriesOf(this.#name)
  }

  get columns(): ColumnMemory {
    return this.#kept.columns
  }

  /** Forgets what queries have kept of a collection that was dropped. */
  forget(collection: CollectionState): void {
    this.#kept.sets = undefined
    this.#kept.columns.store?.forget(collection)
  }

  openSource(related: readonly string[] = []): MaybePromise<QuerySource> {
    const { store, accessOf } = this.#context
    const snapshot = store.snapshot()
    const source = this.sourceOn(snapshot, () => snapshot.release())
    let behind: SnapshotAccess | undefined
    try {
      behind = this.isBehind(snapshot) ? this : related.map(accessOf).find((access) => access.isBehind(snapshot))
    } catch (error) {
      source.release()
      throw error
    }
    if (behind === undefined) return source
    source.release()
    return behind.whenMigrated().then(() => this.openSource(related))
  }

  sourceOn(snapshot: HeldSnapshot, release: () => void = () => {}): QuerySource {
    const { environment, accessOf } = this.#context
    const other = (name: string): QuerySource => accessOf(name).sourceOn(snapshot)
    return querySource(snapshot, this.writing, environment, release, this.#kept, other)
  }

  isBehind(snapshot: Snapshot): boolean {
    const { schema } = this.#declared
    if (schema.version === undefined) return false
    return schema.needsMigration(this.#context.catalog.collection(snapshot, this.#name), false)
  }

  known(): { readonly state: CollectionState | undefined; readonly committed: boolean } {
    const { store, catalog } = this.#context
    // The catalog is always in memory.
    const state = this.#written ?? store.read((snapshot) => catalog.collection(snapshot, this.#name))
    return { state: state as CollectionState | undefined, committed: true }
  }
}
