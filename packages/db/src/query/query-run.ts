/** How a query begins: on a source, after the relations that it follows were resolved. */
import type { MaybePromise } from '../base/async.ts'
import type { Condition, RelatedCondition } from './ast/normalise.ts'
import type { Plan, QuerySpecification } from './planner/plan.ts'
import type { QuerySource } from './query-source.ts'

/** `related`: the collections that are read too, in the same snapshot. */
export type OpenSource = (related?: readonly string[]) => MaybePromise<QuerySource>

/** How the queries of a collection follow relations (relations/). */
export interface QueryRelations {
  /** Throws an ArgumentError for a wrong selector. */
  condition(selector: unknown): Condition
  /** All collections that relations can lead to. */
  readonly collections: readonly string[]
  /** The collections that the query reads beside its own. */
  relatedOf(query: QuerySpecification): readonly string[]
  /** Throws a TypeError for a path through a relation, where `call` takes none. */
  checkOwn(call: string, paths: readonly string[]): void
  /** Throws a TypeError for a path that sort, fields or populate do not take. */
  check(query: QuerySpecification): void
  /** Opens a source, and makes a plain query of one that follows relations. `check` may throw. */
  begin(open: OpenSource, query: QuerySpecification, check: () => void): MaybePromise<QueryRun>
}

/** A query on its snapshot; its source has to be released. */
export interface QueryRun {
  readonly source: QuerySource
  readonly query: QuerySpecification
  /** Changes rows: they get related documents in place of ids. */
  readonly populate?: ((rows: readonly object[]) => Promise<void>) | undefined
  /** How relations were followed, for explain. */
  readonly related?: readonly RelatedStep[]
}

/** One step along a relation, as it was answered. */
export interface RelatedStep {
  readonly condition: RelatedCondition
  /** For the related documents. */
  readonly plan: Plan
  readonly query: QuerySpecification
  /** From what the ids were read. */
  readonly way: 'documents' | 'entries'
  /** How many ids there were. */
  readonly ids: number
  /** The steps of the condition that related documents have to meet. */
  readonly related: readonly RelatedStep[]
}
