/** A collection of an open database: its documents and its indexes. */
import type { MaybePromise } from '../base/maybe-promise.ts'
import type { CollectionState } from '../document/collection-state.ts'
import { buildIndexes } from '../index/build-indexes.ts'
import { defineIndexes, dropIndex, indexMismatch, missingIndexes } from '../index/define-indexes.ts'
import { parseIndexInput, sameIndex } from '../index/index-definition.ts'
import type { IndexDeclaration, IndexField, IndexInput } from '../index/index-definition.ts'
import { maintainIndexes } from '../index/maintain-indexes.ts'
import type { Snapshot, WriteTransaction } from '../kv/key-value-store.ts'
import type { QuerySource } from '../query/query-source.ts'
import { CollectionOperations } from './collection-operations.ts'
import type { CollectionAccess, CollectionWriting } from './collection-operations.ts'
import type { DatabaseContext } from './database-context.ts'
import type { Stored } from './document-types.ts'
import { querySource } from './query-source.ts'
import { CollectionViews } from './view.ts'
import type { BuiltInReduce, BuiltInResult, ReduceFunction, View, ViewDefinition, ViewOptions } from './view.ts'
import type { ViewAnswer, ViewResult } from './view.ts'

export interface CollectionOptions {
  /**
   * Indexes that the collection is to have, beside those that it has. They are built in the background: `ready()` waits for
   * them; until then queries do without them.
   */
  readonly indexes?: readonly IndexInput[]
  /** Cancels building them; what was built is gone on with when the database is opened next. */
  readonly signal?: AbortSignal
  /** Called while they are built, with the part that is done, 0 to 1. */
  readonly onProgress?: (done: number) => void
}

/** What `collection.indexes()` tells. */
export interface IndexInfo {
  readonly name: string
  readonly fields: readonly IndexField[]
  readonly multi: boolean
  /** False while it is being built. */
  readonly ready: boolean
}

export class Collection<T extends object> extends CollectionOperations<T> {
  readonly #context: DatabaseContext
  readonly #declared: Map<string, IndexDeclaration>
  /** The collection (by number) that is known to have the indexes that were declared. */
  #settledNumber: number | undefined
  #building: Promise<void> = Promise.resolve()
  readonly #views: CollectionViews

  /** @internal Use `database.collection(name)`. */
  constructor(name: string, context: DatabaseContext) {
    const declared = new Map<string, IndexDeclaration>()
    super(name, new StoreAccess(name, context, declared, (number) => this.afterWrite(number)))
    this.#context = context
    this.#declared = declared
    this.#views = new CollectionViews({ ...context, name })
  }

  /** @internal */
  declare(options: CollectionOptions): void {
    const declarations = (options.indexes ?? []).map(parseIndexInput)
    for (const declaration of declarations) {
      const known = this.#declared.get(declaration.name)
      if (known !== undefined && !sameIndex(known, declaration)) throw indexMismatch(declaration.name)
    }
    const news = declarations.filter(({ name }) => !this.#declared.has(name))
    for (const declaration of news) this.#declared.set(declaration.name, declaration)
    if (news.length > 0) this.build(options)
  }

  /** @internal Also goes on with builds that an earlier run has left. */
  build(options: CollectionOptions = {}): void {
    const work = this.#building.then(
      () => this.#buildMissing(options),
      () => this.#buildMissing(options),
    )
    // Whoever waits for `ready` hears of a failure.
    work.catch(() => {})
    this.#building = work
  }

  /** @internal Resolves when nothing is being built, whether that succeeded or not. */
  async idle(): Promise<void> {
    await this.#building.catch(() => {})
  }

  /**
   * Resolves when every index that was declared is built. (A collection that has no documents yet needs nothing built.)
   *
   * @throws PANNIER_INDEX_MISMATCH if an index of the same name exists with another definition; PANNIER_ABORTED if the build
   *   was cancelled.
   * @example
   * const people = db.collection('people', { indexes: ['age'] })
   * await people.ready()
   */
  ready(): Promise<void> {
    return this.#building
  }

  /** The indexes that the collection has. */
  async indexes(): Promise<IndexInfo[]> {
    const state = await this.#context.store.read((snapshot) => this.#context.catalog.collection(snapshot, this.name))
    return (state?.indexes ?? []).map(({ name, fields, multi, builtTo }) => ({
      name,
      fields,
      multi,
      ready: builtTo === undefined,
    }))
  }

  /** Forgets an index at once, whatever its size; false if there is none of that name. */
  async dropIndex(name: string): Promise<boolean> {
    const { store, catalog } = this.#context
    this.#declared.delete(name)
    return await store.write((transaction) => {
      const state = catalog.collection(transaction, this.name)
      return state !== undefined && dropIndex(transaction, catalog, state, name)
    })
  }

  /**
   * A map/reduce view. It is stored under this name, so it need not be built again when the database is opened next; one of
   * another source (or `version`) takes its place.
   *
   * @throws PANNIER_LIMIT (when it is queried) if the collection has too many views.
   * @example
   * const byCity = people.view('byCity', { map: (person, emit) => emit(person.city), reduce: '_count' })
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
    if (name === undefined) throw new TypeError('a view has a name')
    return this.#views.view(name, definition)
  }

  /**
   * Runs a query of a view that has no name. What it builds is kept for the next one with equal functions, as long as there are
   * not too many others.
   *
   * @example
   * await people.query({ map: (person, emit) => emit(person.age) }, { gte: 18, limit: 10 })
   */
  query<K, V>(
    definition: ViewDefinition<Stored<T>, K, V, undefined>,
    options?: ViewOptions,
  ): Promise<ViewResult<K, V, ViewAnswer<Stored<T>, K, V, never>>>
  query<K, V, B extends BuiltInReduce>(
    definition: ViewDefinition<Stored<T>, K, V, B>,
    options?: ViewOptions,
  ): Promise<ViewResult<K, V, ViewAnswer<Stored<T>, K, V, BuiltInResult<B, V>>>>
  query<K, V, R>(
    definition: ViewDefinition<Stored<T>, K, V, ReduceFunction<K, V, R>>,
    options?: ViewOptions,
  ): Promise<ViewResult<K, V, ViewAnswer<Stored<T>, K, V, R>>>
  query(definition: unknown, options?: ViewOptions): Promise<unknown> {
    return this.#views.view(undefined, definition).query(options)
  }

  /** @internal Creates what a write into a missing collection needs. */
  get writing(): CollectionWriting {
    return this.access.writing
  }

  /** @internal After a write into the collection with this number. */
  afterWrite(number: number | undefined): void {
    if (this.#declared.size > 0 && number !== undefined && number !== this.#settledNumber) this.build()
  }

  async #buildMissing({ signal, onProgress }: CollectionOptions): Promise<void> {
    const { name } = this
    const context = this.#context
    const { store, catalog, environment, closing } = context
    const declarations = [...this.#declared.values()]
    const read = (): MaybePromise<CollectionState | undefined> =>
      store.read((snapshot) => catalog.collection(snapshot, name))
    let state = await read()
    if (state === undefined) {
      // Another handle may have made it just now.
      await store.refresh()
      state = await read()
      if (state === undefined) return
    }
    if (missingIndexes(state, declarations).length > 0) {
      state = await store.write((transaction) => {
        const current = catalog.collection(transaction, name)
        return current && defineIndexes(transaction, catalog, current, declarations)
      })
    }
    if (state?.indexes.some(({ builtTo }) => builtTo !== undefined)) {
      // Most runs of an application build nothing, so it is loaded only for this.
      const cancelled = signal === undefined ? closing : AbortSignal.any([signal, closing])
      await buildIndexes({ store, catalog, name, environment, signal: cancelled, onProgress })
    }
    this.#settledNumber = state?.number
  }
}

/** Reads the newest state; each write is a transaction of its own. */
class StoreAccess implements CollectionAccess {
  readonly writing: CollectionWriting
  readonly #name: string
  readonly #context: DatabaseContext
  readonly #afterWrite: (collectionNumber: number | undefined) => void

  constructor(
    name: string,
    context: DatabaseContext,
    declared: ReadonlyMap<string, IndexDeclaration>,
    afterWrite: (collectionNumber: number | undefined) => void,
  ) {
    const { catalog } = context
    this.#name = name
    this.#context = context
    this.#afterWrite = afterWrite
    this.writing = {
      catalog,
      name,
      create: (transaction) =>
        defineIndexes(transaction, catalog, catalog.create(transaction, name), [...declared.values()]),
      maintain: maintainIndexes,
      newIds: context.newIds,
    }
  }

  read<T>(read: (snapshot: Snapshot) => T): MaybePromise<T> {
    return this.#context.store.read(read)
  }

  async write<T>(write: (transaction: WriteTransaction) => T): Promise<T> {
    const { store, catalog } = this.#context
    let number: number | undefined
    const result = await store.write((transaction) => {
      const written = write(transaction)
      number = catalog.collection(transaction, this.#name)?.number
      return written
    })
    this.#afterWrite(number)
    return result
  }

  openSource(): QuerySource {
    const snapshot = this.#context.store.snapshot()
    return querySource(snapshot, this.#context.catalog, this.#name, () => snapshot.release())
  }

  known(): { readonly state: CollectionState | undefined; readonly committed: boolean } {
    const { store, catalog } = this.#context
    const snapshot = store.snapshot()
    try {
      return { state: catalog.collection(snapshot, this.#name), committed: true }
    } finally {
      snapshot.release()
    }
  }
}
