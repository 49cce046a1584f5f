/** The relations of one collection for its queries. */
import { andThen, type MaybePromise } from '../base/async.ts'
import { badArgument } from '../base/options.ts'
import type { IndexDeclaration } from '../index/index-definition.ts'
import { pathsOf, type Condition } from '../query/ast/normalise.ts'
import type { QuerySpecification, SortField } from '../query/planner/plan.ts'
import type { QuerySource } from '../query/query-source.ts'
import type { FollowedQuery, OpenSource, QueryRelations, QueryRun, RelatedStep } from '../query/query-run.ts'
import { indexCondition } from '../query/selector-test.ts'
import { followPath, type RelationPath } from './relation-path.ts'
import { valuesAlong } from './related-values.ts'
import { parseRelated } from './parse-related.ts'
import { populatedCollections, populating, populationOf, type Population } from './populate.ts'
import { followedQuery } from './followed-query.ts'
import { relate, relatedCollections } from './relate.ts'
import type { RelationGraph } from './relation-graph.ts'
import { pageOfSort } from './page-of-sort.ts'
import type { Run } from './related-keys.ts'
import { resolve } from './resolve.ts'

export class CollectionRelations implements QueryRelations {
  readonly graph: RelationGraph
  readonly #collection: string

  constructor(graph: RelationGraph, collection: string) {
    this.graph = graph
    this.#collection = collection
  }

  get collections(): readonly string[] {
    return this.graph.collections
  }

  condition(selector: unknown): Condition {
    return relate(this.graph, this.#collection, parseRelated(selector))
  }

  followed(open: OpenSource, query: QuerySpecification): FollowedQuery | undefined {
    const [sort, population] = [this.#sortPaths(query), this.#populationOf(query)]
    return followedQuery(open, { collection: this.#collection, query, sort, population })
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

  checkCondition(call: string, condition: Condition): void {
    this.checkOwn(call, pathsOf(condition))
  }

  checkIndex(index: IndexDeclaration): void {
    // CouchDB knows no relations.
    if (index.dialect !== undefined) return
    const call = 'collection(): an index'
    this.checkOwn(
      call,
      index.fields.map(({ path }) => path),
    )
    if (index.where !== undefined) this.checkCondition(call, indexCondition(index))
  }

  begin(open: OpenSource, query: QuerySpecification, check: () => void): MaybePromise<QueryRun> {
    if (this.isPlain(query)) return andThen(open(), (source) => ({ source, query }))
    return andThen(open(this.#relatedOf(query)), async (source) => {
      try {
        const related: RelatedStep[] = []
        const run = { source, check, related }
        const condition = await this.conditionFor(run, source, query.condition)
        const sort: SortField[] = []
        for (const field of query.sort) sort.push(await this.sortFor(run, source, field))
        const populate = populating(run, source, this.#populationOf(query))
        const relation = this.#sortPaths(query)[0]?.steps[0]?.relation
        const narrow =
          relation === undefined || query.limit === Infinity
            ? undefined
            : (wanted: QuerySpecification) => pageOfSort(run, source, wanted, relation)
        return { source, query: { ...query, condition, sort }, related, populate, narrow }
      } catch (error) {
        source.release()
        throw error
      }
    })
  }

  /** Whether its own collection alone answers it. */
  protected isPlain(query: QuerySpecification): boolean {
    return this.#relatedOf(query).length === 0
  }

  /** A condition on fields and numbers of the documents alone. */
  protected conditionFor(run: Run, source: QuerySource, condition: Condition): Promise<Condition> {
    return resolve(run, source, condition)
  }

  /** `empty`: what the field of a related document counts as where it has no value. */
  protected async sortFor(run: Run, source: QuerySource, field: SortField, empty?: unknown): Promise<SortField> {
    const { path } = field
    const { steps, rest } = this.#follow('sort()', path)
    if (steps.length === 0) return field
    const values = await valuesAlong(run, source, steps, rest, empty)
    return { ...field, path: steps[0]!.name, through: { path, values } }
  }

  /** The collections that the query reads beside its own. */
  #relatedOf(query: QuerySpecification): readonly string[] {
    const sorted = this.#sortPaths(query).flatMap(({ steps }) => steps.map(({ to }) => to))
    return [...relatedCollections(query.condition), ...sorted, ...populatedCollections(this.#populationOf(query))]
  }

  #sortPaths({ sort }: QuerySpecification): readonly RelationPath[] {
    return sort.map(({ path }) => this.#follow('sort()', path))
  }

  #populationOf({ populate: paths = [], fields }: QuerySpecification): Population {
    return populationOf(this.graph, this.#collection, paths, fields)
  }

  #follow(call: string, path: string): RelationPath {
    return followPath(this.graph, this.#collection, path, `${call}: a path`)
  }
}
