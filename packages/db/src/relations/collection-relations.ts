/** What the queries of one collection know of its relations. */
import { andThen, type MaybePromise } from '../base/async.ts'
import { badArgument } from '../base/options.ts'
import type { Condition } from '../query/ast/normalise.ts'
import { parseSelector } from '../query/ast/parse-selector.ts'
import type { QuerySpecification } from '../query/planner/plan.ts'
import type { OpenSource, QueryRelations, QueryRun, RelatedStep } from '../query/query-run.ts'
import { followPath } from './relation-path.ts'
import { relate, relatedCollections } from './relate.ts'
import type { RelationGraph } from './relation-graph.ts'
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
    return relate(this.#graph, this.#collection, parseSelector(selector, {}, true))
  }

  relatedOf({ condition }: QuerySpecification): readonly string[] {
    return relatedCollections(condition)
  }

  checkOwn(call: string, paths: readonly string[]): void {
    for (const path of paths)
      if (followPath(this.#graph, this.#collection, path, `${call}: a path`).steps.length > 0)
        throw badArgument(call, 'a path must not go through a relation', path)
  }

  begin(open: OpenSource, query: QuerySpecification, check: () => void): MaybePromise<QueryRun> {
    const names = this.relatedOf(query)
    if (names.length === 0) return andThen(open(), (source) => ({ source, query }))
    return andThen(open(names), async (source) => {
      try {
        const related: RelatedStep[] = []
        const condition = await resolve({ source, check, related }, source, query.condition)
        return { source, query: { ...query, condition }, related }
      } catch (error) {
        source.release()
        throw error
      }
    })
  }
}
