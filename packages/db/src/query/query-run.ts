/** How a query begins: on a source, after the relations that it follows were resolved and columns have answered. */
import type { MaybePromise } from '../base/async.ts'
import { loadedModule } from '../base/lazy-module.ts'
import { leavesOf, type Condition, type LeafCondition, type RelatedCondition } from './ast/normalise.ts'
import { isOnePoint } from './ast/value-set.ts'
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
  /** Gives a query for the same rows of fewer documents. */
  readonly narrow?: ((query: QuerySpecification) => Promise<QuerySpecification>) | undefined
  /** Changes rows: they get related documents in place of ids. */
  readonly populate?: ((rows: readonly object[]) => Promise<void>) | undefined
  /** How relations were followed, for explain. */
  readonly related?: readonly RelatedStep[]
}

/** When columns are a gain: the least number of documents, and the least cost of a plan, by that of a walk of them all. */
export const COLUMNS_USE: { documentsMin: number; costShareMin: number } = { documentsMin: 2000, costShareMin: 0.2 }

/**
 * The query, with sets of documents in place of what columns tell faster. `check` may throw.
 *
 * @param asked What will be asked of the source: it decides whether a column is worth it.
 */
export function withColumns(
  source: QuerySource,
  query: QuerySpecification,
  check: () => void,
  asked: QuerySpecification = query,
): MaybePromise<QuerySpecification> {
  if (source.kept === undefined || source.documents.count() < COLUMNS_USE.documentsMin) return query
  if (!leavesOf(query.condition).some((leaf) => isForColumns(source, leaf))) return query
  return loadedModule(import('./columns/answer.ts')).then(({ answerByColumns }) =>
    answerByColumns(source, query, asked, check),
  )
}

/** Whether it looks for text, or for several values among the elements of arrays: of a field that has a multi index. */
export function isForColumns({ indexes }: QuerySource, leaf: LeafCondition): boolean {
  if (leaf.kind === 'contains') return !leaf.negated
  const isOfElements =
    leaf.kind === 'within'
      ? !leaf.whole && !leaf.self && leaf.collation === undefined && !isOnePoint(leaf.values)
      : leaf.kind === 'elements' && leaf.which !== 'keys'
  return isOfElements && indexes.some(({ multi, fields }) => multi && fields[0]!.path === leaf.path)
}

/** One step along a relation, as it was answered. */
export interface RelatedStep {
  readonly condition: RelatedCondition
  /** For the related documents. */
  readonly plan: Plan
  readonly query: QuerySpecification
  /** From what the ids were read. */
  readonly way: 'documents' | 'entries' | 'column'
  /** How many ids there were; undefined: a column needs none. */
  readonly ids: number | undefined
  /** The steps of the condition that related documents have to meet. */
  readonly related: readonly RelatedStep[]
}
