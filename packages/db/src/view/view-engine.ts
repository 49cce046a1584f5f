/** One view of one collection: defines it if it is missing, brings it up to date, runs its queries. */
import { throwIfCancelled } from '../base/long-work.ts'
import { PannierError } from '../base/errors.ts'
import type { Environment } from '../base/environment.ts'
import { functionToken } from '../base/callback.ts'
import { loadAhead } from '../base/lazy-module.ts'
import { LruMap } from '../base/lru-map.ts'
import { checkOptions, type OptionNames } from '../base/options.ts'
import type { MaybePromise } from '../base/async.ts'
import { numberKey } from '../codec/key-encoding.ts'
import type { Catalog } from '../document/catalog.ts'
import { DocumentReader, existingTree } from '../document/document-reader.ts'
import type { KeyValueStore, Snapshot } from '../kv/key-value-store.ts'
import { reducing } from '../kv/merged-tree.ts'
import { defineView, dropView, lastPurgeOf, readView, rowsTree } from './view-catalog.ts'
import { type CheckedView, checkedView, signatureOf, type ViewFunctions } from './view-definition.ts'
import {
  type ReducedRow,
  type ViewInfo,
  type ViewResult,
  type ViewRow,
  checkViewOptions,
  type ViewOptions,
} from './view-options.ts'
import { fewRows, offsetOf, rowReducer, viewRows, type ViewSource } from './view-query.ts'
import type { RowReducer } from './row-reducer.ts'
import { missesDocuments, updateView, type UpdateOptions } from './update-view.ts'

export interface ViewContext {
  readonly store: KeyValueStore
  readonly catalog: Catalog
  readonly environment: Environment
  /** Name of the collection. */
  readonly name: string
  /** Aborted when the database is closed. */
  readonly closing: AbortSignal
  /** Resolves when the documents may be read: they may have to be migrated first. */
  readonly whenReadable?: () => Promise<void>
  readonly rowBytesMax?: number | undefined
  /** A store in memory, for the rows of one view that is not kept. */
  readonly openRows: () => Promise<KeyValueStore>
}

const UPDATES_MAX = 10

type Waiting = Pick<UpdateOptions, 'signal' | 'onProgress'>
const WAITING: OptionNames<Waiting> = { signal: true, onProgress: true }

/** A query that is under way. */
interface Opened {
  readonly source: ViewSource
  readonly updateSeq: number
  readonly release: () => void
}

export class ViewEngine {
  readonly view: CheckedView
  readonly #context: ViewContext
  /** Where the rows are: the store of the documents, or one of its own. */
  readonly #rows: KeyValueStore
  readonly #reducer: RowReducer | undefined
  #updating: Promise<void> | undefined

  constructor(context: ViewContext, view: CheckedView, rows: KeyValueStore) {
    this.#context = context
    this.view = view
    this.#rows = rows
    this.#reducer = view.reduce === undefined ? undefined : rowReducer(view.reduce)
    if (this.#reducer !== undefined) loadAhead(reducing)
  }

  async query(options: ViewOptions): Promise<ViewResult> {
    const reducer = this.#reducerFor(options)
    const { source, updateSeq, release } = await this.#open(options)
    try {
      const tree = source.rows
      const few = reducer === undefined && tree !== undefined ? await fewRows(source, tree, options) : undefined
      if (few !== undefined) return { total: tree!.count(), updateSeq, ...few }
      const rows: (ViewRow | ReducedRow)[] = []
      const offset =
        reducer === undefined && tree !== undefined ? await source.attempt(() => offsetOf(source, tree, options)) : 0
      for await (const batch of viewRows(source, options, reducer)) for (const row of batch) rows.push(row)
      return reducer === undefined ? { total: tree?.count() ?? 0, offset, updateSeq, rows } : { updateSeq, rows }
    } finally {
      release()
    }
  }

  async *rows(options: ViewOptions): AsyncGenerator<ViewRow | ReducedRow, void, undefined> {
    const reducer = this.#reducerFor(options)
    const { source, release } = await this.#open(options)
    try {
      for await (const batch of viewRows(source, options, reducer)) {
        throwIfCancelled(options.signal, 'The query')
        yield* batch
      }
    } finally {
      release()
    }
  }

  /** Resolves when everything that was written before the call is in the view. */
  async update(waiting: Waiting = {}): Promise<void> {
    checkOptions('update()', waiting, WAITING)
    await this.#context.whenReadable?.()
    const { target, isBehind } = await this.#progress()
    if (!isBehind) return
    // More than once only if another handle defines the view again all the time.
    for (let attempt = 0; attempt < UPDATES_MAX && (await this.#progress(target)).isBehind; attempt++) {
      const running = this.#updating
      if (running !== undefined) {
        // Somebody else's, for whom it may fail, or who may give up.
        await running.catch(() => {})
        throwIfCancelled(waiting.signal, 'The view update')
        continue
      }
      this.#updating = this.#update(waiting)
      try {
        await this.#updating
      } finally {
        this.#updating = undefined
      }
    }
  }

  async info(): Promise<Omit<ViewInfo, 'name'>> {
    const { store, catalog, name } = this.#context
    return store.read((snapshot) => {
      const collection = catalog.collection(snapshot, name)
      const { state, rows } = this.#beside(snapshot, (beside) => {
        const found = collection && this.#stateIn(beside, collection.number)
        const tree = found && existingTree(beside, rowsTree(collection!.number, found.number))
        return { state: found, rows: tree?.count() ?? 0 }
      })
      const bodies = collection && existingTree(snapshot, collection.trees.bodies)
      const updateSeq = state?.builtTo ?? 0
      return {
        rows,
        updateSeq,
        pending: bodies?.count({ gte: numberKey(updateSeq + 1) }) ?? 0,
        failures: state?.failures ?? 0,
        lastFailure: state?.lastFailure,
      }
    })
  }

  async drop(): Promise<boolean> {
    const { store, catalog, name } = this.#context
    const { storedName } = this.view
    const wasDropped = await store.write((transaction) => {
      const collection = catalog.collection(transaction, name)
      return collection !== undefined && dropView(transaction, collection.number, storedName)
    })
    if (this.#rows === store) return wasDropped
    // Above, what an earlier version of the view has left.
    const number = await store.read((snapshot) => catalog.collection(snapshot, name)?.number)
    const hadRows =
      number !== undefined && (await this.#rows.write((transaction) => dropView(transaction, number, storedName)))
    return wasDropped || hadRows
  }

  /** The state of the rows beside that of the documents. What is read of it is in memory. */
  #beside<T>(documents: Snapshot, read: (rows: Snapshot) => T): T {
    if (this.#rows === this.#context.store) return read(documents)
    const rows = this.#rows.snapshot()
    try {
      return read(rows)
    } finally {
      rows.release()
    }
  }

  #reducerFor(options: ViewOptions): RowReducer | undefined {
    return checkViewOptions(options, this.#reducer !== undefined) ? this.#reducer : undefined
  }

  async #open(options: ViewOptions): Promise<Opened> {
    const { store, catalog, name, whenReadable } = this.#context
    const { update = 'before', signal, onProgress } = options
    throwIfCancelled(signal, 'The query')
    await whenReadable?.()
    if (update === 'before') await this.update({ signal, onProgress })
    const snapshot = store.snapshot()
    const rows = this.#rows === store ? snapshot : this.#rows.snapshot()
    const release = (): void => {
      snapshot.release()
      rows.release()
      // Nobody waits for this update. A later query that needs it reports the failure.
      if (update === 'after') this.update().catch(() => {})
    }
    const collection = catalog.collection(snapshot, name)
    const state = collection && this.#stateIn(rows, collection.number)
    if (update === 'before' && collection !== undefined && state === undefined) {
      release()
      throw new PannierError(
        'PANNIER_INDEX_MISMATCH',
        'Another handle keeps redefining this view. Use the same functions and version everywhere.',
      )
    }
    const source: ViewSource = {
      rows: state && existingTree(rows, rowsTree(collection!.number, state.number)),
      documents: collection && new DocumentReader(snapshot, collection),
      collation: this.view.collation,
      attempt: (step) => snapshot.attempt(step),
    }
    return { source, updateSeq: state?.builtTo ?? 0, release }
  }

  #stateIn(snapshot: Snapshot, collectionNumber: number): ReturnType<typeof readView> {
    const state = readView(snapshot, collectionNumber, this.view.storedName)
    return state?.signature === this.view.signature ? state : undefined
  }

  /** `target`: what has to be in the view; by default what is committed now. */
  #progress(target?: number): MaybePromise<{ readonly target: number; readonly isBehind: boolean }> {
    const { store, catalog, name } = this.#context
    return store.read((snapshot) => {
      const collection = catalog.collection(snapshot, name)
      if (collection === undefined) return { target: 0, isBehind: false }
      const bodies = existingTree(snapshot, collection.trees.bodies)
      const wanted = target ?? bodies.lastNumber
      return this.#beside(snapshot, (rows) => {
        const state = this.#stateIn(rows, collection.number)
        if (state === undefined || state.builtTo < wanted) return { target: wanted, isBehind: true }
        const hasPurges = lastPurgeOf(rows, collection.number) > state.purgesSeen || missesDocuments(state, bodies)
        return { target: wanted, isBehind: hasPurges }
      })
    })
  }

  async #update({ signal, onProgress }: Waiting): Promise<void> {
    const { store, catalog, name, environment, closing, rowBytesMax } = this.#context
    const { view } = this
    const isDefined = await store.read((snapshot) => {
      const collection = catalog.collection(snapshot, name)
      if (collection === undefined) return true
      return this.#beside(snapshot, (rows) => this.#stateIn(rows, collection.number) !== undefined)
    })
    if (!isDefined) await this.#define()
    const cancelled = signal === undefined ? closing : AbortSignal.any([signal, closing])
    const parts = { store, rows: this.#rows, catalog, name, view, environment, rowBytesMax }
    await updateView({ ...parts, signal: cancelled, onProgress })
  }

  async #define(): Promise<void> {
    const { store, catalog, name } = this.#context
    const { view } = this
    if (this.#rows !== store) {
      const number = await store.read((snapshot) => catalog.collection(snapshot, name)?.number)
      if (number !== undefined) await this.#rows.write((transaction) => defineView(transaction, number, view, 0))
      return
    }
    await store.write((transaction) => {
      const collection = catalog.collection(transaction, name)
      if (collection === undefined) return
      const { lastNumber } = existingTree(transaction, collection.trees.bodies)
      defineView(transaction, collection.number, view, lastNumber)
    })
  }
}

/** Engines that are kept for each function; what is stored does not depend on them. */
const ENGINES_MAX = 64

export class ViewEngines {
  readonly #context: ViewContext
  /** The engines by the function that they may not outlive. */
  readonly #engines = new WeakMap<object, LruMap<string, Promise<ViewEngine>>>()

  constructor(context: ViewContext) {
    this.#context = context
  }

  engine(name: string | undefined, functions: ViewFunctions): Promise<ViewEngine> {
    const view = checkedView(functions, name)
    const { map, reduce, isKept, storedName, signature } = view
    const owner = typeof reduce === 'function' ? reduce : isKept ? this : map
    let engines = this.#engines.get(owner)
    if (engines === undefined) this.#engines.set(owner, (engines = new LruMap(ENGINES_MAX)))
    const token = isKept ? null : functionToken(this.#context.environment, map)
    const identity = signatureOf([storedName, signature, token, typeof reduce === 'string' ? reduce : null])
    let engine = engines.get(identity)
    if (engine === undefined) {
      engine = this.#open(view)
      engines.set(identity, engine)
    }
    return engine
  }

  async #open(view: CheckedView): Promise<ViewEngine> {
    const { store, openRows } = this.#context
    return new ViewEngine(this.#context, view, view.isKept ? store : await openRows())
  }
}
