/**
 * A rule after its names are resolved: conditions over joined rows, as the SQL that PocketBase makes of it. A record
 * is admitted if some choice of one row for each join meets the condition.
 */
import type { Collection, Field } from './schema.ts'
import type { SqlValue } from './values.ts'

/** A row of the record itself, of related records, or of a list's elements. Two conditions with one join speak of one row. */
export type Join =
  | {
      readonly kind: 'record'
      readonly collection: Collection
      readonly isUnsaved: boolean
      readonly parent?: undefined
    }
  /** The related record whose id is in the parent's field, or is the parent's element. */
  | { readonly kind: 'related'; readonly collection: Collection; readonly parent: Join; readonly field?: Field }
  /** All records whose relation has the parent's id. */
  | { readonly kind: 'back'; readonly collection: Collection; readonly parent: Join; readonly field: Field }
  /** The elements of the parent's list. */
  | { readonly kind: 'each'; readonly parent: Join; readonly field: Field }
  /** All records of a collection. */
  | { readonly kind: 'all'; readonly collection: Collection; readonly parent?: undefined }
  /** Records by their ids: the account, or those that a relation in the body names. */
  | {
      readonly kind: 'ids'
      readonly collection: Collection
      readonly ids: readonly string[]
      readonly parent?: undefined
    }
  /** The elements of a list in the body. */
  | { readonly kind: 'items'; readonly items: readonly SqlValue[]; readonly parent?: undefined }

export type Value =
  /** A value that PocketBase binds as a parameter: texts, numbers and values of the request. */
  | { readonly kind: 'parameter'; readonly value: string | number | boolean; readonly real: boolean }
  /** A value that PocketBase writes into the SQL: null, true, false and lengths. */
  | { readonly kind: 'constant'; readonly value: SqlValue }
  /** A value of the request that is not known here. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'field'; readonly join: Join; readonly field: Field }
  | { readonly kind: 'json'; readonly join: Join; readonly field: Field; readonly path: readonly string[] }
  | { readonly kind: 'element'; readonly join: Join }
  | { readonly kind: 'length'; readonly join: Join; readonly field: Field }
  | { readonly kind: 'lower'; readonly of: Value }
  /** `%value%` */
  | { readonly kind: 'around'; readonly of: Value }
  | { readonly kind: 'call'; readonly name: FunctionName; readonly of: readonly Value[] }
  /** The truth of a condition: 1 or 0. */
  | { readonly kind: 'truth'; readonly of: Condition }
  /** 1 if the record has the words of a search, or 0. */
  | { readonly kind: 'search'; readonly join: Join; readonly collection: Collection; readonly text: string }

export type FunctionName = 'geoDistance' | 'strftime' | 'search'

export type Test =
  | { readonly kind: 'constant'; readonly value: boolean }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'compare'; readonly operator: Comparator; readonly left: Value; readonly right: Value }
  /** Equal, with NULL as the empty text, and without the affinity of columns. */
  | { readonly kind: 'coalesced'; readonly negated: boolean; readonly left: Value; readonly right: Value }
  /** NULL or the empty text. */
  | { readonly kind: 'empty'; readonly negated: boolean; readonly of: Value }
  | { readonly kind: 'like'; readonly negated: boolean; readonly left: Value; readonly right: Value }

type Comparator = '=' | 'is' | 'is not' | '>' | '>=' | '<' | '<='

export type Condition = { readonly kind: 'and' | 'or'; readonly of: readonly Condition[] } | Leaf

export interface Leaf {
  readonly kind: 'leaf'
  readonly test: Test
  /** Match-all: no choice of rows of these joins fails this test. They are rows of their own, from the same record on. */
  readonly every?: { readonly test: Test; readonly joins: ReadonlySet<Join> } | undefined
  /** Accounts must also show their address. */
  readonly visible: readonly Join[]
  /** The joins whose rows it reads, and those before them. */
  readonly joins: ReadonlySet<Join>
}

/** A rule that is resolved for one request. Made by `bind`, used by `evaluate`. */
export interface BoundRule {
  /** The collection that it is about. */
  readonly collection: Collection
  /** Whether it reads rows beside the record: PocketBase then lists in the order of ids. */
  readonly isJoined: boolean
  /** The collections of these rows. */
  readonly collections: readonly Collection[]
  /** Whether the sort reads addresses of accounts that may hide them. False for those who are trusted. */
  readonly sortsByEmail: boolean
  /** @internal */
  readonly record: Join
  /** @internal */
  readonly condition: Condition
  /** @internal The values that a list is sorted by. */
  readonly sort: readonly Value[]
  /** @internal */
  readonly now: Date
}

/** The joins whose rows a value reads. */
export function readBy(value: Value): readonly Join[] {
  switch (value.kind) {
    case 'field':
    case 'json':
    case 'element':
    case 'length':
    case 'search':
      return [value.join]
    case 'lower':
    case 'around':
      return readBy(value.of)
    case 'call':
      return value.of.flatMap(readBy)
    case 'truth':
      return [...joinsOf(value.of)]
    default:
      return []
  }
}

/** The joins whose rows a test reads. */
export function readByTest(test: Test): readonly Join[] {
  return valuesIn(test).flatMap(readBy)
}

/** The values that a test compares. */
export function valuesIn(test: Test): readonly Value[] {
  if (test.kind === 'empty') return [test.of]
  return 'left' in test ? [test.left, test.right] : []
}

/** The joins, and those before them. */
export function withParents(joins: readonly Join[]): Set<Join> {
  const all = new Set<Join>()
  for (let join of joins as readonly (Join | undefined)[]) for (; join !== undefined; join = join.parent) all.add(join)
  return all
}

export function joinsOf(condition: Condition): ReadonlySet<Join> {
  return condition.kind === 'leaf' ? condition.joins : new Set(condition.of.flatMap((part) => [...joinsOf(part)]))
}
