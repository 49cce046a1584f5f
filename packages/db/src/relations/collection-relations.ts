/** What the queries of one collection know of its relations. */
import { andThen, type MaybePromise } from '../base/async.ts'
import { badArgument } from '../base/options.ts'
import type { Condition } from '../query/ast/normalise.ts'
import type { QuerySpecification, SortField } from '../query/planner/plan.ts'
import type { OpenSource, QueryRelations, QueryRun, RelatedStep } from '../query/query-run.ts'
import { followPath, type RelationPath } from './relation-path.ts'
import { valuesAlong } from './related-values.ts'
import { parseRelated } from './parse-related.ts'
import { populate, populatedCollections, populationOf, type Population } from './populate.ts'
import { relate, relatedCollections } from './relate.ts'
import type { RelationGraph } from './relation-graph.ts'
import { pageOfSort } from './page-of-sort.ts'
import { resolve } from './resolve.ts'

export class CollectionRelations implements QueryRelations {
  readonly #graph: RelationGraph
  readonly #collection: string

  constructor(graph: RelationGraph, collection: string) {
    this.#graph = graph
    this.#collection = collection
  }

  get collections(): readonly string[] {
    return this.#graph.collections
  }

  condition(selector: unknown): Condition {
    return relate(this.#graph, this.#collection, parseRelated(selector))
  }

  relatedOf(query: QuerySpecification): readonly string[] {
    const { condition, sort } = query
    const sorted = sort.flatMap(({ path }) => this.#follow('sort()', path).steps.map(({ to }) => to))
    return [...relatedCollections(condition), ...sorted, ...populatedCollections(this.#populationOf(query))]
  }

  check(query: QuerySpecification): void {
    for (const { path } of query.sort)
      if (this.#follow('sort()', path).steps.some(({ many }) => many))
        throw badArgument('sort()', 'a path must lead to one document', path)
    this.checkOwn('fields()', query.fields ?? [])
    this.#populationOf(query)
  }

  checkOwn(call: string, paths: readonly string[]): void {
    for (const path of paths)
      if (this.#follow(call, path).steps.length > 0)
        throw badArgument(call, 'a path must not go through a relation', path)
  }

  begin(open: OpenSource, query: QuerySpecification, check: () => void): MaybePromise<QueryRun> {
    const names = this.relatedOf(query)
    if (names.length === 0) return andThen(open(), (source) => ({ source, query }))
    return andThen(open(names), async (source) => {
      try {
        const related: RelatedStep[] = []
        const run = { source, check, related }
        const condition = await resolve(run, source, query.condition)
        const sort: SortField[] = []
        for (const field of query.sort) {
          const { steps, rest } = this.#follow('sort()', field.path)
          if (steps.length === 0) sort.push(field)
          else {
            const through = { path: field.path, values: await valuesAlong(run, source, steps, rest) }
            sort.push({ ...field, path: steps[0]!.name, through })
          }
        }
        const population = this.#populationOf(query)
        const populated =
          population.size === 0 ? undefined : (rows: readonly object[]) => populate(run, source, rows, population)
        const relation = sort[0]?.through && this.#follow('sort()', query.sort[0]!.path).steps[0]!.relation
        const narrow =
          relation === undefined || query.limit === Infinity
            ? undefined
            : (wanted: QuerySpecification) => pageOfSort(run, source, wanted, relation)
        return { source, query: { ...query, condition, sort }, related, populate: populated, narrow }
      } catch (error) {
        source.release()
        throw error
      }
    })
  }

  #populationOf({ populate: paths = [], fields }: QuerySpecification): Population {
    return populationOf(this.#graph, this.#collection, paths, fields)
  }

  #follow(call: string, path: string): RelationPath {
    return followPath(this.#graph, this.#collection, path, `${call}: a path`)
  }
}
