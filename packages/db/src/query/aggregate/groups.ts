/** Groups of documents and their aggregates: an immutable value, with methods that compute it. */
import { loadedModule } from '../../base/lazy-module.ts'
import { checkedCount, badArgument, calling } from '../../base/options.ts'
import { fieldNames, parseOrderedField } from '../../codec/field-path.ts'
import type { OrderedPath } from '../../index/index-definition.ts'
import type { Condition } from '../ast/normalise.ts'
import type { BuiltPredicate } from '../ast/predicate.ts'
import type { FieldPath, Selector } from '../field-types.ts'
import { ownCondition } from '../query-run.ts'
import type { QuerySource } from '../query-source.ts'
import type { AggregateExplanation } from './run-aggregate.ts'
import { parseAggregates, type Aggregated, type Aggregates, type GroupsSpecification } from './specification.ts'

/** Runs something on the documents that a query matches. */
type OnSource = <R>(run: (source: QuerySource, condition: Condition, check: () => void) => Promise<R>) => Promise<R>

/**
 * Rows have the fields that documents are grouped by, as far as they are there, and the aggregates. They come in the order of
 * the former, unless they are sorted. `Row`: the rows; `Document`: what is grouped.
 */
export class Groups<Row extends object, Document extends object> implements AsyncIterable<Row> {
  readonly #onSource: OnSource
  readonly #checkPaths: (paths: readonly string[]) => void
  readonly #specification: GroupsSpecification

  /** @internal Use `query.groupBy`. */
  constructor(onSource: OnSource, specification: GroupsSpecification, checkPaths: (paths: readonly string[]) => void) {
    this.#onSource = onSource
    this.#checkPaths = checkPaths
    this.#specification = specification
  }

  /**
   * Adds aggregates of each group to its row.
   *
   * @example
   * const cities = await people.find().groupBy('city').aggregate({ people: { $count: true }, oldest: { $max: 'age' } }).toArray()
   */
  aggregate<const Wanted extends Aggregates<Document>>(
    wanted: Wanted,
  ): Groups<Row & Aggregated<Document, Wanted>, Document> {
    const steps = parseAggregates(wanted)
    this.#checkPaths(steps.map(({ path }) => path))
    const names = this.#specification.groupPaths.map((path) => fieldNames(path)[0])
    for (const { name } of steps)
      if (names.includes(name))
        throw badArgument('aggregate()', 'the name of an aggregate must not be a field of groupBy()', name)
    return this.#with({ steps })
  }

  /**
   * Only groups whose rows match.
   *
   * @example
   * await people.find().groupBy('city').aggregate({ n: { $count: true } }).having({ n: { $gte: 10 } }).toArray()
   */
  having(selector: Selector<Row> | BuiltPredicate): Groups<Row, Document> {
    return this.#with({ having: ownCondition('having()', selector) })
  }

  /**
   * Sorts by fields of the rows; of equals those with lower groups come first.
   *
   * @example
   * await people.find().groupBy('city').aggregate({ n: { $count: true } }).sort('-n').toArray()
   */
  sort(...fields: OrderedPath<FieldPath<Row>>[]): Groups<Row, Document> {
    return this.#with({ sort: calling('sort()', () => (fields as string[]).map(parseOrderedField)) })
  }

  /**
   * Skips this number of rows at the start.
   *
   * @example
   * await people.find().groupBy('city').aggregate({ n: { $count: true } }).sort('-n').skip(1).toArray()
   */
  skip(rows: number): Groups<Row, Document> {
    return this.#with({ skip: checkedCount(rows, 'skip') })
  }

  /**
   * The highest number of rows.
   *
   * @example
   * await people.find().groupBy('city').aggregate({ n: { $count: true } }).sort('-n').limit(5).toArray()
   */
  limit(rows: number): Groups<Row, Document> {
    return this.#with({ limit: checkedCount(rows, 'limit') })
  }

  /**
   * @throws PANNIER_LIMIT_EXCEEDED if the distinct values of a single group don't fit into memory; PANNIER_ABORTED.
   *
   * @example
   * const cities = await people.find().groupBy('city').aggregate({ n: { $count: true } }).toArray()
   */
  toArray(): Promise<Row[]> {
    return this.#run(this.#specification)
  }

  /**
   * The first group, or undefined.
   *
   * @example
   * const largest = await people.find().groupBy('city').aggregate({ n: { $count: true } }).sort('-n').first()
   */
  async first(): Promise<Row | undefined> {
    const { limit } = this.#specification
    const [row] = await this.#run({ ...this.#specification, limit: Math.min(limit, 1) })
    return row
  }

  /**
   * How many groups there are that `having` lets through, whatever skip and limit say.
   *
   * @example
   * const cities = await people.find().groupBy('city').aggregate({ n: { $count: true } }).count()
   */
  async count(): Promise<number> {
    const specification = { ...this.#specification, sort: [], skip: 0, limit: Infinity }
    return this.#onSource(async (source, condition, check) => {
      const { countGroups } = await loadedModule(import('./rows.ts'))
      return countGroups(source, condition, specification, check)
    })
  }

  /**
   * How they would be computed now.
   *
   * @example
   * const { way } = await people.find().groupBy('city').aggregate({ n: { $count: true } }).explain()
   */
  explain(): Promise<AggregateExplanation> {
    const { empty, groupPaths, steps } = this.#specification
    return this.#onSource(async (source, condition) => {
      const { explainAggregate } = await loadedModule(import('./run-aggregate.ts'))
      return explainAggregate(source, { condition, empty, groupPaths, steps, groupBytesMax: Infinity })
    })
  }

  /** Iterates over the groups, one after another. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Row, void, undefined> {
    yield* await this.toArray()
  }

  #with<R extends object = Row>(changes: Partial<GroupsSpecification>): Groups<R, Document> {
    return new Groups<R, Document>(this.#onSource, { ...this.#specification, ...changes }, this.#checkPaths)
  }

  #run(specification: GroupsSpecification): Promise<Row[]> {
    return this.#onSource(async (source, condition, check) => {
      // Most applications don't aggregate.
      const { groupRows } = await loadedModule(import('./rows.ts'))
      return (await groupRows(source, condition, specification, check)) as Row[]
    })
  }
}
