/** How a query begins: on a source, after the relations that it follows were resolved and columns have answered. */
import { andThen, type MaybePromise } from '../base/async.ts'
import { loadedModule } from '../base/lazy-module.ts'
import { calling } from '../base/options.ts'
import { expressionsOf, isAlways, normalise, type Condition, type RelatedCondition } from './ast/normalise.ts'
import { parseSelector, type SelectorMeaning } from './ast/parse-selector.ts'
import type { EmptyValues } from './aggregate/specification.ts'
import type { StoredDocument } from '../document/document-reader.ts'
import { planQuery, type Plan, type Planned, type QuerySpecification } from './planner/plan.ts'
import { COLUMNS_USE, type QuerySource } from './query-source.ts'
import { prepareRegexes } from './regex/check-regex.ts'
import type { IndexDeclaration } from '../index/index-definition.ts'

/** `related`: the collections that are read too, in the same snapshot. */
export type OpenSource = (related?: readonly string[]) => MaybePromise<QuerySource>

/** How the queries of a collection follow relations (relations/). */
export interface QueryRelations {
  /** The values that missing ones count as in groups and aggregates. */
  readonly empty?: EmptyValues
  /** Throws an ArgumentError for a wrong selector. */
  condition(selector: unknown): Condition
  /** All collections that relations can lead to. */
  readonly collections: readonly string[]
  /** How a live query follows relations; undefined: it does not. */
  followed(open: OpenSource, query: QuerySpecification): FollowedQuery | undefined
  /** Throws a TypeError for a path through a relation, where `call` takes none. */
  checkOwn(call: string, paths: readonly string[]): void
  /** As `checkOwn`, for all paths of a condition. */
  checkCondition(call: string, condition: Condition): void
  /** As `checkOwn`, for all paths of an index. */
  checkIndex(index: IndexDeclaration): void
  /** Throws a TypeError for a path that sort, fields or populate do not take. */
  check(query: QuerySpecification): void
  /** Opens a source, and makes a plain query of one that follows relations. `check` may throw. */
  begin(open: OpenSource, query: QuerySpecification, check: () => void): MaybePromise<QueryRun>
}

/** A document that a commit has written or deleted, as it is now. */
export interface ChangedDocument {
  readonly id: string
  readonly document: StoredDocument | undefined
  /** As it was at the commit that was announced before. Only where queries of this or another collection follow relations. */
  readonly before?: StoredDocument | undefined
}

/** The changes of a commit in a collection. */
export interface News {
  readonly sequence: number
  readonly collection: string
  readonly changed: readonly ChangedDocument[]
}

/** How a live query follows relations. */
export interface FollowedQuery {
  /** The collections that the query reads, its own first. */
  readonly collections: readonly [string, ...string[]]
  open(): MaybePromise<QuerySource>
  /** Whether it reads something else of the document now. */
  reads(collection: string, changed: ChangedDocument): boolean
  /** The ids of the documents whose rows the news may have changed; undefined: it takes too much to tell. */
  affected(source: QuerySource, news: readonly News[]): Promise<ReadonlySet<string> | undefined>
  /** The documents that match; undefined: it takes too much to tell. */
  matching(source: QuerySource, ids: readonly string[]): Promise<MatchingDocuments | undefined>
}

/** Documents, and what makes rows of them. */
export interface MatchingDocuments extends Pick<QueryRun, 'query' | 'populate'> {
  readonly documents: readonly StoredDocument[]
}

/** A query on its snapshot; its source has to be released. */
export interface QueryRun extends Planned {
  readonly source: QuerySource
  /** Changes rows: they get related documents in place of ids. */
  readonly populate?: ((rows: readonly object[]) => Promise<void>) | undefined
  /** How related steps were followed, for explain. */
  readonly related?: readonly RelatedStep[]
}

/** The condition of a selector that must not follow relations: a TypeError tells what is wrong with it. */
export function ownCondition(
  call: string,
  selector: unknown,
  meaning?: SelectorMeaning,
  relations?: QueryRelations,
): Condition {
  const condition = calling(call, () => normalise(parseSelector(selector, meaning)))
  // CouchDB knows no relations.
  if (meaning?.dialect === undefined) relations?.checkCondition(call, condition)
  return condition
}

/** Loads what the regular expressions of the condition need, and opens. */
export function openFor(condition: Condition, open: OpenSource): OpenSource {
  const expressions = expressionsOf(condition)
  return (related) => andThen(prepareRegexes(expressions), () => open(related))
}

/**
 * The query, with sets of documents in place of what columns tell faster. If it is the same there may be the plan for
 * what is asked. `check` may throw.
 *
 * @param asked What will be asked of the source: it decides whether a column is worth it.
 */
export async function withColumns(
  source: QuerySource,
  query: QuerySpecification,
  check: () => void,
  asked: QuerySpecification = query,
): Promise<Planned> {
  const documents = source.documents.count()
  if (source.kept === undefined || documents < COLUMNS_USE.documentsMin) return { query }
  const plan = await source.attempt(() => planQuery(source, asked))
  const isWalk = plan.sort === undefined && isAlways(query.condition)
  if (isWalk || plan.cost < documents * COLUMNS_USE.costShareMin) return { query, plan }
  const { answerByColumns } = await loadedModule(import('./columns/answer.ts'))
  return answerByColumns(source, query, asked, plan, check)
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
