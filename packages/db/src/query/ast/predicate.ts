/**
 * The predicate of a query as frozen plain data: the parsed selector before it is simplified (normalise.ts). It can be
 * sent to workers and over networks. docs/internals/query-planner.md defines each node.
 */

import type { Collation } from '../../codec/registered-collation.ts'
import type { CompareOperator, ValueType } from './value-set.ts'

/** Any value that a document can hold. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | { readonly [name: string]: JsonValue }

export type Predicate =
  | AndPredicate
  | OrPredicate
  | NotPredicate
  | ComparePredicate
  | ExistsPredicate
  | RegexPredicate
  | ContainsPredicate
  | TypePredicate
  | SizePredicate
  | ModPredicate
  | AllPredicate
  | ElementsPredicate
  | QuantifiedPredicate

/** A predicate of all parts (a conjunction): without any it is always true. */
interface AndPredicate {
  readonly kind: 'and'
  readonly of: readonly Predicate[]
}

/** At least one of them holds; with none: never true. */
interface OrPredicate {
  readonly kind: 'or'
  readonly of: readonly Predicate[]
}

/** Negation as CouchDB has it: the leaves are negated one by one, and a negated leaf still asks for the field to be there. */
interface NotPredicate {
  readonly kind: 'not'
  readonly of: Predicate
}

export interface Comparison {
  readonly operator: CompareOperator
  /** As `takes` of the operator says. */
  readonly operand: JsonValue
}

/**
 * The part of an array that a condition is about: 'whole': only the array itself, 'elements': only its elements. Undefined: its elements,
 * and it itself where an operand of a comparison is an array.
 */
export type AboutArrays = 'whole' | 'elements'

/** One value (of an array: one and the same element) meets all comparisons. */
export interface ComparePredicate {
  readonly kind: 'compare'
  readonly path: string
  readonly comparisons: readonly Comparison[]
  readonly arrays?: AboutArrays | undefined
  /** Undefined: strings are in the order of their code points. */
  readonly collation?: Collation | undefined
}

interface ExistsPredicate {
  readonly kind: 'exists'
  readonly path: string
}

/** The value, or an element of an array, is a string in which the regular expression is found. */
export interface RegexPredicate {
  readonly kind: 'regex'
  readonly path: string
  readonly source: string
  readonly flags: string
  readonly arrays?: 'whole' | undefined
}

/** The value, or an element of an array, is a string in which this text stands, upper or lower case (match.ts, `foldText`). */
export interface ContainsPredicate {
  readonly kind: 'contains'
  readonly path: string
  readonly text: string
}

/** The value itself has the type. */
interface TypePredicate {
  readonly kind: 'type'
  readonly path: string
  readonly type: ValueType
}

/** The value is an array with this number of elements. */
export interface SizePredicate {
  readonly kind: 'size'
  readonly path: string
  readonly size: number
}

/** The value, or an element of an array, is a whole number that leaves this remainder. */
export interface ModPredicate {
  readonly kind: 'mod'
  readonly path: string
  readonly divisor: number
  readonly remainder: number
  readonly arrays?: 'whole' | undefined
}

/** The value is an array in which each of these is an element; of none: never true. */
export interface AllPredicate {
  readonly kind: 'all'
  readonly path: string
  readonly values: readonly JsonValue[]
}

/**
 * - 'some': the value is an array with an element that meets the predicate.
 * - 'every': the value is an array that is not empty, and each element of it does.
 * - 'keys': the value is an object with a field whose name does.
 *
 * Paths in the predicate begin at the element; '' is the element itself, which counts as a whole even if it is an array.
 */
export interface ElementsPredicate {
  readonly kind: 'elements'
  readonly path: string
  readonly which: 'some' | 'every' | 'keys'
  readonly of: Predicate
}

/**
 * The related documents to which the path leads: 'some' document meets the predicate, 'every' one does (and one is there), or
 * 'none' does. Paths in the predicate begin at the related document.
 */
export interface QuantifiedPredicate {
  readonly kind: 'quantified'
  readonly path: string
  readonly which: 'some' | 'every' | 'none'
  readonly of: Predicate
}

/** A predicate that need not be parsed: what builder.ts makes. */
export class BuiltPredicate {
  readonly predicate: Predicate

  constructor(predicate: Predicate) {
    this.predicate = predicate
  }
}
