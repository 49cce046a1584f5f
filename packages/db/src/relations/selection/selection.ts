/**
 * Documents by their fields and by related documents, as a tree that a query planner can answer. `compile` of `@pannier/rules`
 * makes it, and `selectionQuery` takes it. A field that is missing or null counts as the empty value of its type: `''`, 0, false, no
 * elements. The field `id` is `_id`. docs/internals/backend-contract.md is normative.
 */
export type Selection =
  /** A combination: all parts hold, or one of them. An empty `and` has every document, an empty `or` has no document. */
  | { readonly kind: 'and' | 'or'; readonly of: readonly Selection[] }
  /** Every document that the selection does not have. */
  | { readonly kind: 'not'; readonly of: Selection }
  | SelectionComparison
  /** The document has the words: words, starts of words and phrases, as `collection.search` finds them. */
  | { readonly kind: 'search'; readonly text: string }
  | SelectionTest
  /** The list in `field` has an element that meets `of`, in which the field `''` is the element. */
  | { readonly kind: 'element'; readonly field: string; readonly of: Selection }
  | SelectionRelated
  /** Documents after (`>`) or before another one, whose `$created` is `value`. `@pannier/rules` does not make it. */
  | { readonly kind: 'created'; readonly operator: '<' | '>'; readonly value: number }

/** A stored value beside a known one. `contains` ignores the case of ASCII only. Texts are in the order of their code points. */
export interface SelectionComparison {
  /** The kind tells it from the other selections. */
  readonly kind: 'compare'
  /** `''` is the element of a list. */
  readonly field: string
  /** The number of a list's elements is compared. */
  readonly isLength: boolean
  /** How the stored value, on the left, is compared with `value`. */
  readonly operator: '=' | '<' | '<=' | '>' | '>=' | 'contains'
  /** The value, of the type of the field; a length is a number. */
  readonly value: string | number | boolean
}

/** A function of one document alone, which no index answers. */
interface SelectionTest {
  readonly kind: 'test'
  /** The fields that it reads; `''` is the element of a list. */
  readonly fields: readonly string[]
  /** Whether it holds for a record. Gets these fields as far as they are there, or `{ '': ELEMENT }`. */
  readonly holds: (record: Readonly<Record<string, unknown>>) => boolean
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
  /** The selection of the related document. */
  readonly of: Selection
}
