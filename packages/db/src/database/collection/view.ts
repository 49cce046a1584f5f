/** The public interface of views. The code is loaded on first use. */
import { loadedModule } from '../../base/lazy-module.ts'
import type { KeyValueStore } from '../../kv/key-value-store.ts'
import type { NumberStatistics } from '../../view/reducers.ts'
import type { BuiltInReduce, Emit, MapMany, ReduceFunction, ViewFunctions } from '../../view/view-definition.ts'
import type { ViewEngines, ViewContext, ViewEngine } from '../../view/view-engine.ts'
import { checkViewFunctions } from '../../view/view-functions.ts'
import type { ReducedRow, ViewInfo, ViewResult, ViewRow, ViewOptions } from '../../view/view-options.ts'

/** The parts of a view. Functions must be pure: the same for the same document each time. */
export interface ViewDefinition<Document, Key, Value, Reduce> {
  /**
   * Called with each document; what it emits are the rows. To have rows typed, say what `emit` takes: `emit: Emit<string, number>`.
   * A document for which it throws is left out (`info()` tells).
   */
  readonly map: (document: Document, emit: Emit<Key, Value>) => unknown
  /**
   * Maps many documents at a time, instead of `map`: for functions that run elsewhere, in a thread or a sandbox. Needs
   * a `version`. If it rejects, the update of the view ends with that error and continues with the next query.
   */
  readonly mapMany?: MapMany<Document>
  /** The function that reduces rows of equal keys (or all rows). The built-in ones are kept in the tree and cost no walk. */
  readonly reduce?: Reduce
  /**
   * With it the database keeps what was built, for later runs and other tabs. Change it when the functions mean something else although
   * the source of `map` is the same: they use another value from outside, say. Without it the rows are in memory, and belong to this very
   * function: another one with the same source starts again.
   */
  readonly version?: string | number
  /** The order of strings in keys: the name of one that `registerCollation` was given. By default that of code points. */
  readonly collation?: string
}

/** The result of a built-in reduce. */
export type BuiltInResult<Reduce, Value> = Reduce extends '_sum'
  ? Value
  : Reduce extends '_stats'
    ? NumberStatistics
    : number

/** The result of a query without `reduce: false`. */
export type ViewAnswer<Document, Key, Value, Result> = [Result] extends [never]
  ? ViewRow<Key, Value, Document>
  : ReducedRow<Key | null, Result>

/**
 * A map/reduce view. It is built by the first query and kept up to date by those that follow, each with what was written since. A view
 * with a `version` is kept in the database.
 *
 * @example
 * const byCity = people.view('byCity', {
 *   map: (person, emit: Emit<string, number>) => emit(person.city ?? '', person.age),
 *   reduce: '_stats',
 *   version: 1,
 * })
 * const { rows } = await byCity.query({ group: true })
 */
export class View<Document, Key = unknown, Value = unknown, Result = never> {
  /** Undefined: an ad-hoc view. */
  readonly name: string | undefined
  readonly #engine: () => Promise<ViewEngine>

  /** @internal Use `collection.view`. */
  constructor(name: string | undefined, engine: () => Promise<ViewEngine>) {
    this.name = name
    this.#engine = engine
  }

  /**
   * The rows that the options ask for, or what they reduce to.
   *
   * @throws PANNIER_ABORTED if it was cancelled. A TypeError for options that go against each other.
   * @example
   * await byCity.query({ gte: 'A', lt: 'B', reduce: false, limit: 20 })
   */
  query(
    options: ViewOptions & { readonly reduce: false },
  ): Promise<ViewResult<Key, Value, ViewRow<Key, Value, Document>>>
  query(options?: ViewOptions): Promise<ViewResult<Key, Value, ViewAnswer<Document, Key, Value, Result>>>
  query(options: ViewOptions = {}): Promise<unknown> {
    return this.#engine().then((engine) => engine.query(options))
  }

  /**
   * As `query`, one row after another, so that they need not all be in memory.
   *
   * @example
   * for await (const { key, value } of byCity.rows({ reduce: false })) console.log(key, value)
   */
  rows(
    options: ViewOptions & { readonly reduce: false },
  ): AsyncGenerator<ViewRow<Key, Value, Document>, void, undefined>
  rows(options?: ViewOptions): AsyncGenerator<ViewAnswer<Document, Key, Value, Result>, void, undefined>
  async *rows(options: ViewOptions = {}): AsyncGenerator<unknown, void, undefined> {
    yield* (await this.#engine()).rows(options)
  }

  /**
   * Takes in what was written; a query does so by itself. Of use when a first build is to be done before it is needed.
   *
   * @example
   * await byCity.update({ onProgress: (done) => show(done) })
   */
  async update(options: Pick<ViewOptions, 'signal' | 'onProgress'> = {}): Promise<void> {
    await (await this.#engine()).update(options)
  }

  /**
   * How large the view is, and how much of the collection it has taken in.
   *
   * @example
   * const { rows, pending } = await byCity.info()
   */
  async info(): Promise<ViewInfo> {
    const { name = '' } = this
    return { name, ...(await (await this.#engine()).info()) }
  }

  /**
   * Forgets what was built at once, whatever its size; the next query builds it again. False if nothing was built.
   *
   * @example
   * await byCity.drop()
   */
  async drop(): Promise<boolean> {
    return (await this.#engine()).drop()
  }
}

/** Makes views of one collection. Equal definitions share what they do. */
export class CollectionViews {
  readonly #context: Omit<ViewContext, 'openRows'>
  #loaded: Promise<ViewEngines> | undefined

  constructor(context: Omit<ViewContext, 'openRows'>) {
    this.#context = context
  }

  /** Throws a TypeError for what is no view. */
  view(name: string | undefined, functions: unknown): View<unknown, unknown, unknown, unknown> {
    const checked = functions as ViewFunctions
    checkViewFunctions(checked, name)
    // A defined view will be queried. The first query reports a failure to load.
    this.#load().catch(() => {})
    let engine: Promise<ViewEngine> | undefined
    const load = async (): Promise<ViewEngine> => {
      try {
        return (await this.#load()).engine(name, checked)
      } catch (error) {
        // The next one to ask tries again.
        engine = undefined
        throw error
      }
    }
    return new View(name, () => (engine ??= load()))
  }

  #load(): Promise<ViewEngines> {
    this.#loaded ??= loadedModule(import('../../view/view-engine.ts')).then(
      ({ ViewEngines }) => new ViewEngines({ ...this.#context, openRows: () => this.#openRows() }),
      (error: unknown) => {
        this.#loaded = undefined
        throw error
      },
    )
    return this.#loaded
  }

  async #openRows(): Promise<KeyValueStore> {
    const { openPrivateRows } = await loadedModule(import('./private-rows.ts'))
    return openPrivateRows(this.#context.environment)
  }
}

export type { BuiltInReduce, Emit, ReduceFunction, ViewOptions }
export type { NumberStatistics, ReducedRow, ViewInfo, ViewResult, ViewRow }
