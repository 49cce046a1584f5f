/**
 * The predicate of a query as frozen plain data: what a selector says, before it is simplified (normalise.ts). It crosses
 * workers and networks as it is. What each node means is written in docs/query-planner.md and, in code, in evaluate.ts.
 */

/** Any value that a document can hold. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | { readonly [name: string]: JsonValue }

export type Predicate = AndPredicate | OrPredicate | NotPredicate | ComparePredicate | ExistsPredicate | RegexPredicate

/** All of them hold; with none: always true. */
export interface AndPredicate {
  readonly kind: 'and'
  readonly of: readonly Predicate[]
}

/** At least one of them holds; with none: never true. */
export interface OrPredicate {
  readonly kind: 'or'
  readonly of: readonly Predicate[]
}

/** Negation as CouchDB has it: the leaves are negated one by one, and a negated leaf still asks for the field to be there. */
export interface NotPredicate {
  readonly kind: 'not'
  readonly of: Predicate
}

export type CompareOperator = '$eq' | '$gt' | '$gte' | '$lt' | '$lte' | '$in' | '$beginsWith'

export interface Comparison {
  readonly operator: CompareOperator
  /** A string for $beginsWith, an array for $in. */
  readonly operand: JsonValue
}

/** One value (of an array: one and the same element) meets all comparisons. */
export interface ComparePredicate {
  readonly kind: 'compare'
  readonly path: string
  readonly comparisons: readonly Comparison[]
}

export interface ExistsPredicate {
  readonly kind: 'exists'
  readonly path: string
}

/** The value, or an element of an array, is a string in which the regular expression is found. */
export interface RegexPredicate {
  readonly kind: 'regex'
  readonly path: string
  readonly source: string
  readonly flags: string
}
