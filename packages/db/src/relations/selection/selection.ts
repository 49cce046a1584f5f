/**
 * Which documents are meant, as a tree: what `compile` of `@pannier/rules` makes. A field of a document that is missing or
 * null counts as the empty value: `''`, 0, false, no elements. The field `id` is `_id`.
 * docs/internals/backend-contract.md is normative.
 */

export type Selection =
  | SelectionCombination
  | SelectionComplement
  | SelectionComparison
  | SelectionTest
  | SelectionElement
  | SelectionRelated
  | SelectionCreation

/** All of them hold, or one of them. An empty `and` has every document, an empty `or` has no document. */
export interface SelectionCombination {
  /** `and`: all of them hold. `or`: at least one of them holds. */
  readonly kind: 'and' | 'or'
  /** The selections that it combines. */
  readonly of: readonly Selection[]
}

/** Every document that the selection does not have. */
export interface SelectionComplement {
  /** Tells it from the other selections. */
  readonly kind: 'not'
  /** The selection whose documents it leaves out. */
  readonly of: Selection
}

/** A stored value beside a known one. `contains` ignores the case of ASCII only. */
export interface SelectionComparison {
  /** Tells it from the other selections. */
  readonly kind: 'compare'
  /** `''` is the element of a list. */
  readonly field: string
  /** The number of a list's elements is compared. */
  readonly isLength: boolean
  /** How the stored value, on the left, is compared with `value`. */
  readonly operator: '=' | '<' | '<=' | '>' | '>=' | 'contains'
  /** Its type is that of the field. */
  readonly value: string | number | boolean
}

/** A function of one document alone. */
export interface SelectionTest {
  /** Tells it from the other selections. */
  readonly kind: 'test'
  /** The fields that it reads; `''` is the element of a list. */
  readonly fields: readonly string[]
  /** Gets these fields as far as they are there, or `{ '': ELEMENT }`. */
  readonly holds: (record: Readonly<Record<string, unknown>>) => boolean
}

/** A list has an element that meets a selection, in which the field `''` is the element. */
export interface SelectionElement {
  /** Tells it from the other selections. */
  readonly kind: 'element'
  /** The field that holds the list. */
  readonly field: string
  /** What the element meets. */
  readonly of: Selection
}

/** Some document one step away meets all of `of`. An id that leads nowhere leads to no document. */
export interface SelectionRelated {
  /** Tells it from the other selections. */
  readonly kind: 'related'
  /** `to`: those whose ids are in `field`. `from`: those whose `field` has this document's id. `any`: all of the collection. */
  readonly step: 'to' | 'from' | 'any'
  /** The collection of the related document. */
  readonly collection: string
  /** `''` is the element of a list. */
  readonly field: string
  /** Pairs of equal texts: a field of the related document, and one of this document. For `any` only. */
  readonly on: readonly (readonly [related: string, own: string])[]
  /** What the related document meets. */
  readonly of: Selection
}

/** Documents that came after or before another one: their place in the order `$created`. `@pannier/rules` does not make it. */
interface SelectionCreation {
  /** Tells it from the other selections. */
  readonly kind: 'created'
  /** `>`: after it. */
  readonly operator: '<' | '>'
  /** As the field `$created` of a query gives it. */
  readonly value: number
}
