/**
 * A query: an immutable value, with methods that answer it. Nothing is read before one is called. Each answer comes
 * from one snapshot, which is released as soon as the answer is complete or no longer wanted.
 */
import { throwIfCancelled } from '../base/long-work.ts'
import { andThen, isPromise, type MaybePromise } from '../base/async.ts'
import { checkedCount, checkOptions, type OptionNames, badArgument, calling } from '../base/options.ts'
import { loadedModule } from '../base/lazy-module.ts'
import { checkFieldPaths, outermostPaths, parseOrderedField } from '../codec/field-path.ts'
import { Groups } from './aggregate/groups.ts'
import type { AggregateExplanation } from './aggregate/run-aggregate.ts'
import type { Aggregated, Aggregates } from './aggregate/specification.ts'
import { identityOf, isAlways, type Condition } from './ast/normalise.ts'
import { checkedCollation, type SelectorMeaning } from './ast/parse-selector.ts'
import type { BuiltPredicate } from './ast/predicate.ts'
import { BATCH_ROWS_MAX, BATCH_ROWS_MIN, BATCH_ROWS_WHOLE, type Operator } from './operators/operator.ts'
import type { OrderedPath } from '../index/index-definition.ts'
import { LiveCount, LiveQuery } from './live/live-query.ts'
import type { LiveHost, LiveOptions, LiveRequest } from './live/live-types.ts'
import type { FieldPath, FieldValue, Projected, Selector } from './field-types.ts'
import type { Explanation } from './planner/explanation.ts'
import { CREATED } from './planner/access-path.ts'
import { isCreation, type Plan, type QuerySpecification, planQuery } from './planner/plan.ts'
import { openFor, ownCondition, withColumns, type OpenSource, type QueryRelations, type QueryRun } from './query-run.ts'
import type { QuerySource } from './query-source.ts'
import { buildOperators } from './operators/build.ts'

export type { Explanation, Selector }

/** Options of `explain`. */
export interface ExplainOptions {
  /** Answer the query too, and tell what that took. */
  readonly run?: boolean
}

/** The result of `page`. */
export interface Page<T extends object> {
  /** As skip and limit say. */
  readonly rows: T[]
  /** All documents that match, whatever skip and limit say. */
  readonly total: number
}

const EXPLAIN_OPTIONS: OptionNames<ExplainOptions> = { run: true }
const LIVE_OPTIONS: OptionNames<LiveOptions> = { signal: true }
const MEANING: OptionNames<SelectorMeaning> = { dialect: true, collation: true }

type DistinctValues<Document, Path extends string> = Exclude<FieldValue<Document, Path>, undefined>[]

/** Loads what live queries need. One function for each collection; undefined where queries cannot be live. */
export type LoadLiveHost = (() => Promise<LiveHost>) | undefined

/** Checks the selector (or takes what `where` has built): a TypeError tells what is wrong with it. */
export function createQuery<T extends object, Document extends object = T>(
  open: OpenSource,
  selector: Selector<Document> | BuiltPredicate,
  loadHost?: LoadLiveHost,
  meaning: SelectorMeaning = {},
  relations?: QueryRelations,
): Query<T, Document> {
  checkOptions('find()', meaning, MEANING)
  // CouchDB knows no relations.
  const related = meaning.dialect === undefined ? relations : undefined
  const condition =
    related === undefined
      ? ownCondition('find()', selector, meaning)
      : calling('find()', () => related.condition(selector))
  const collation = checkedCollation(meaning)
  const specification = { condition, sort: [], skip: 0, limit: Infinity, fields: undefined, collation }
  return new Query<T, Document>(
    { open: openFor(condition, open), loadHost, relations: related },
    specification,
    undefined,
  )
}

/** Where a query comes from. */
interface QueryOrigin {
  readonly open: OpenSource
  readonly loadHost: LoadLiveHost
  readonly relations: QueryRelations | undefined
}

/** `T`: the rows; `Document`: the documents behind them. */
export class Query<T extends object, Document extends object = T> implements AsyncIterable<T> {
  readonly #origin: QueryOrigin
  readonly #specification: QuerySpecification
  readonly #abortSignal: AbortSignal | undefined

  /** @internal Use `collection.find`. */
  constructor(origin: QueryOrigin, specification: QuerySpecification, abortSignal: AbortSignal | undefined) {
    this.#origin = origin
    this.#specification = specification
    this.#abortSignal = abortSignal
  }

  /**
   * Sorts by these fields, '-' before one for descending; replaces an earlier sort. The order among rows that agree in all
   * of them is unspecified: add '_id' for a total order. `'$created'` is the order in which this database got the documents.
   *
   * @example
   * await people.find().sort('-age', 'name').toArray()
   */
  sort(...fields: OrderedPath<FieldPath<Document> | typeof CREATED>[]): Query<T, Document> {
    const sort = calling('sort()', () => (fields as string[]).map(parseOrderedField))
    if (new Set(sort.map(({ path }) => path)).size < sort.length)
      throw badArgument('sort()', 'fields must differ', fields.join())
    return this.#with<T>({ sort })
  }

  /**
   * Skips this number of rows at the start.
   *
   * @example
   * await people.find().sort('name').skip(20).limit(10).toArray()
   */
  skip(rows: number): Query<T, Document> {
    return this.#with<T>({ skip: checkedCount(rows, 'skip') })
  }

  /**
   * The highest number of rows.
   *
   * @example
   * await people.find().sort('-age').limit(10).toArray()
   */
  limit(rows: number): Query<T, Document> {
    return this.#with<T>({ limit: checkedCount(rows, 'limit') })
  }

  /**
   * Exactly these fields of each document; `_id` and `_rev` only if they are named. A dotted path gives objects inside it.
   *
   * @example
   * const names = await people.find().fields('name', 'city').toArray()
   */
  fields<Path extends FieldPath<Document>>(...paths: Path[]): Query<Projected<Document, Path> & object, Document> {
    return this.#with({ fields: outermostPaths(checkFieldPaths(paths, 'fields()')) })
  }

  /**
   * Rows get related documents in place of ids, from the same snapshot: of a relation of many, or of a back-relation, an
   * array. A related document that does not exist is null, and left out of an array. Replaces earlier paths.
   *
   * @example
   * const db = await open('blog', { collections: { users: {}, posts: { relations: { author: 'users' } } } })
   * const rows = await db.collection('posts').find().populate('author').toArray()
   */
  populate(...paths: string[]): Query<Readonly<Record<string, unknown>>, Document> {
    if (this.#origin.relations === undefined)
      throw badArgument('populate()', 'paths must go through relations that open() declares', paths.join())
    return this.#with({ populate: checkFieldPaths(paths, 'populate()') })
  }

  /**
   * Once it is aborted, what this query has under way ends with PANNIER_ABORTED.
   *
   * @example
   * await people.find().signal(AbortSignal.timeout(1000)).toArray()
   */
  signal(signal: AbortSignal): Query<T, Document> {
    return new Query<T, Document>(this.#origin, this.#specification, signal)
  }

  /**
   * Computes aggregates over all documents that match, whatever skip and limit say.
   *
   * @example
   * const { people, oldest } = await query.aggregate({ people: { $count: true }, oldest: { $max: 'age' } })
   */
  async aggregate<const Wanted extends Aggregates<Document>>(wanted: Wanted): Promise<Aggregated<Document, Wanted>> {
    const row = await this.#grouped<object>([]).aggregate(wanted).first()
    // Undefined for what there is no value of.
    return { ...Object.fromEntries(Object.keys(wanted).map((name) => [name, undefined])), ...row } as never
  }

  /**
   * The different values of a field, ascending. An array counts as a whole.
   *
   * @example
   * const cities = await people.find().distinct('city')
   */
  async distinct<Path extends FieldPath<Document>>(path: Path): Promise<DistinctValues<Document, Path>> {
    const { values } = await this.aggregate({ values: { $distinct: path } })
    return values as DistinctValues<Document, Path>
  }

  /**
   * Groups the documents that match, whatever skip and limit say, by the values of fields. An array counts as a whole.
   *
   * @example
   * const cities = await people.find({ active: true }).groupBy('city')
   *   .aggregate({ people: { $count: true }, age: { $avg: 'age' } })
   *   .having({ people: { $gte: 10 } }).sort('-people').limit(20).toArray()
   */
  groupBy<Path extends FieldPath<Document>>(...paths: Path[]): Groups<Projected<Document, Path> & object, Document> {
    const checked = checkFieldPaths(paths, 'groupBy()')
    if (outermostPaths(checked).length < checked.length)
      throw badArgument('groupBy()', 'fields must not lie inside each other', paths.join())
    return this.#grouped(checked)
  }

  /**
   * How `aggregate` would compute it now; nothing is computed.
   *
   * @example
   * const { way } = await query.explainAggregate({ oldest: { $max: 'age' } })
   */
  explainAggregate<const Wanted extends Aggregates<Document>>(wanted: Wanted): Promise<AggregateExplanation> {
    return this.#grouped<object>([]).aggregate(wanted).explain()
  }

  /**
   * The documents, as an array.
   *
   * @example
   * const adults = await people.find({ age: { $gte: 18 } }).toArray()
   */
  async toArray(): Promise<T[]> {
    const all: T[] = []
    for await (const rows of this.#batches(this.#specification, BATCH_ROWS_WHOLE))
      for (const row of rows) all.push(row as T)
    return all
  }

  /**
   * The first document, or undefined. Reads no more than it needs.
   *
   * @example
   * const oldest = await people.find().sort('-age').first()
   */
  async first(): Promise<T | undefined> {
    const { limit } = this.#specification
    const [row] = await this.#with<T>({ limit: Math.min(limit, 1) }).toArray()
    return row
  }

  /**
   * How many documents the selector matches, whatever skip and limit say.
   *
   * @example
   * const adults = await people.find({ age: { $gte: 18 } }).count()
   */
  async count(): Promise<number> {
    const { source, query, plan } = await this.#begin(countedBy(this.#specification))
    try {
      return await countRows(source, query, () => this.#checkAborted(), plan)
    } finally {
      source.release()
    }
  }

  /**
   * A page of a list: the rows, and how many documents the selector matches in all. Both are as of one moment.
   *
   * @example
   * const { rows, total } = await people.find({ city: 'Oslo' }).sort('name').skip(40).limit(20).page()
   */
  async page(): Promise<Page<T>> {
    const run = await this.#begin(this.#specification, true)
    try {
      const total = await countRows(run.source, countedBy(run.query), () => this.#checkAborted(), run.plan)
      const rows: T[] = []
      const paged = await withColumns(run.source, run.query, () => this.#checkAborted())
      for await (const batch of this.#batchesOf({ ...run, ...paged }, BATCH_ROWS_WHOLE, paged.plan))
        for (const row of batch) rows.push(row as T)
      return { rows, total }
    } finally {
      run.source.release()
    }
  }

  /**
   * How the query would be answered now. It is planned but not run. With `run` it is run, and the result has the rows
   * of each step and the pages that were read. As text it is a tree.
   *
   * @example
   * console.log(String(await people.find({ age: { $gte: 18 } }).explain()))
   */
  async explain(options: ExplainOptions = {}): Promise<Explanation> {
    checkOptions('explain()', options, EXPLAIN_OPTIONS)
    // Rarely needed, so loaded on first use.
    const { explainQuery } = await loadedModule(import('./planner/explain.ts'))
    const { source, query, related } = await this.#begin(this.#specification)
    try {
      return await explainQuery(source, query, related, options.run === true ? () => this.#checkAborted() : undefined)
    } finally {
      source.release()
    }
  }

  /**
   * The rows as they are now and as they change with each commit, of whichever handle. Ties of the sort are in the order of
   * their ids. It begins at once and is at work until it is closed. docs/internals/live-queries.md is the contract.
   *
   * @example
   * const live = people.find({ city: 'Oslo' }).sort('name').limit(20).live({ signal })
   * for await (const { rows, changes } of live) render(rows)
   */
  live(options: LiveOptions = {}): LiveQuery<T> {
    const { sort } = this.#specification
    if (sort.some(isCreation))
      throw badArgument('live()', `the sort must not have '${CREATED}'`, sort.map(({ path }) => path).join())
    return new LiveQuery<T>(this.#liveHost(), this.#liveRequest(options, this.#specification))
  }

  /**
   * The count as it is now and as it changes with each commit, of whichever handle: that of `count()`. It begins at once and
   * is at work until it is closed. docs/internals/live-queries.md is the contract.
   *
   * @example
   * const unread = messages.find({ read: false }).liveCount({ signal })
   * for await (const count of unread) show(count)
   */
  liveCount(options: LiveOptions = {}): LiveCount {
    return new LiveCount(this.#liveHost(), this.#liveRequest(options, countedBy(this.#specification)))
  }

  /**
   * Whether the other query asks for the same of the same collection (of this handle), so that it would give the same.
   *
   * @example
   * people.find({ age: 31 }).isSame(people.find({ age: 31 })) // true
   */
  isSame<U extends object, D extends object>(other: Query<U, D>): boolean {
    return (
      // What only stands for a query is another one.
      #origin in other &&
      other.#origin.loadHost === this.#origin.loadHost &&
      identityOf(other.#specification) === identityOf(this.#specification)
    )
  }

  /** Rows as they are read, from one snapshot, which is held until the loop ends or is left. */
  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    const { limit } = this.#specification
    const batchRows = limit === Infinity ? BATCH_ROWS_MIN : BATCH_ROWS_WHOLE
    for await (const rows of this.#batches(this.#specification, batchRows)) yield* rows as T[]
  }

  #liveHost(): Promise<LiveHost> {
    const { loadHost } = this.#origin
    if (loadHost === undefined)
      throw new TypeError('live(): a live query must not be inside a transaction, got one that is')
    return loadHost()
  }

  #liveRequest(options: LiveOptions, specification: QuerySpecification): LiveRequest {
    checkOptions('live() and liveCount()', options, LIVE_OPTIONS)
    const { signal = this.#abortSignal } = options
    const { open, relations } = this.#origin
    const followed = relations?.followed(open, specification)
    return { specification, followed, open: () => this.#relate(specification, () => {}), signal }
  }

  #with<U extends object>(changes: Partial<QuerySpecification>): Query<U, Document> {
    const query = { ...this.#specification, ...changes }
    this.#origin.relations?.check(query)
    return new Query<U, Document>(this.#origin, query, this.#abortSignal)
  }

  #grouped<Row extends object>(groupPaths: readonly string[]): Groups<Row, Document> {
    const all: Condition = { kind: 'and', of: [] }
    const { relations } = this.#origin
    relations?.checkOwn('groupBy()', groupPaths)
    return new Groups<Row, Document>(
      async (run) => {
        const { source, query } = await this.#begin(this.#specification)
        try {
          return await run(source, query.condition, () => this.#checkAborted())
        } finally {
          source.release()
        }
      },
      { empty: relations?.empty, groupPaths, steps: [], having: all, sort: [], skip: 0, limit: Infinity },
      (paths) => relations?.checkOwn('aggregate()', paths),
    )
  }

  async *#batches(wanted: QuerySpecification, batchRows: number): AsyncGenerator<object[], void, undefined> {
    const run = await this.#begin(wanted)
    try {
      yield* this.#batchesOf(run, batchRows, run.plan)
    } finally {
      run.source.release()
    }
  }

  /** Batches double from `batchRows` on. */
  async *#batchesOf(
    { source, query, narrow, populate }: QueryRun,
    batchRows: number,
    planned: Plan | undefined,
  ): AsyncGenerator<object[], void, undefined> {
    const narrowed = narrow === undefined ? query : await narrow(query)
    const plan = narrowed === query ? planned : undefined
    const rows: Operator<object> = await source.attempt(() => planRows(source, narrowed, plan))
    for (let count = batchRows; ; count = Math.min(count * 2, BATCH_ROWS_MAX)) {
      this.#checkAborted()
      const attempted = source.attempt(() => rows.next(count))
      const batch = isPromise(attempted) ? await attempted : attempted
      if (batch === undefined) return
      if (populate !== undefined) await populate(batch)
      if (batch.length > 0) yield batch
      const paused = source.pause()
      if (isPromise(paused)) await paused
    }
  }

  /** `counts`: the total is asked for too. */
  async #begin(query: QuerySpecification, counts = false): Promise<QueryRun> {
    const check = (): void => this.#checkAborted()
    const run = await this.#relate(query, check)
    try {
      return { ...run, ...(await withColumns(run.source, run.query, check, counts ? countedBy(run.query) : run.query)) }
    } catch (error) {
      run.source.release()
      throw error
    }
  }

  /** Without columns: a live query also tests documents that come later. */
  #relate(query: QuerySpecification, check: () => void): MaybePromise<QueryRun> {
    check()
    const { open, relations } = this.#origin
    return relations === undefined
      ? andThen(open(), (source) => ({ source, query }))
      : relations.begin(open, query, check)
  }

  #checkAborted(): void {
    throwIfCancelled(this.#abortSignal, 'The query')
  }
}

function countedBy(query: QuerySpecification): QuerySpecification {
  return { ...query, sort: [], skip: 0, limit: Infinity, fields: [], populate: [] }
}

/** May throw a Miss. */
function planRows(source: QuerySource, query: QuerySpecification, plan: Plan | undefined): Operator<object> {
  // Whole documents are read from nothing else.
  if (query.fields === undefined && query.limit > 0) source.documents.prefetch()
  return buildOperators(source, plan ?? planQuery(source, query), query)
}

/** How many rows there are: known at once where no walk is needed to tell. `check` is called again and again, and may throw. */
async function countRows(
  source: QuerySource,
  query: QuerySpecification,
  check: () => void,
  planned: Plan | undefined,
): Promise<number> {
  const plan = planned ?? (await source.attempt(() => planQuery(source, query)))
  if (plan.byRank) return plan.rows
  if (isAlways(plan.residual) && plan.access.kind !== 'scan') {
    const { countDocuments } = await loadedModule(import('./sets/collect-set.ts'))
    return countDocuments(source, plan.access, check)
  }
  const operator = await source.attempt(() => buildOperators(source, plan, query))
  for (let count = 0; ;) {
    check()
    const batch = await source.attempt(() => operator.next(BATCH_ROWS_MAX))
    if (batch === undefined) return count
    count += batch.length
    const paused = source.pause()
    if (isPromise(paused)) await paused
  }
}
