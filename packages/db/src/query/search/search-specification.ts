/** The parameters and results of a search. */
import type { Condition } from '../ast/normalise.ts'
import type { BuiltPredicate } from '../ast/predicate.ts'
import type { Selector } from '../field-types.ts'

/** Options of `collection.search`. */
export interface SearchOptions<Document> {
  /** Only documents that it matches. */
  readonly selector?: Selector<Document> | BuiltPredicate
  /** 'all': documents that have all of the words, which is the default; 'any': those that have one of them. */
  readonly match?: 'all' | 'any'
  /** The name of the text index; may be left out if there is one only. */
  readonly index?: string
}

/** A document that a search found, with its score. */
export interface ScoredRow<T> {
  /** The score by BM25: comparable within one search. */
  readonly score: number
  /** The document. */
  readonly document: T
}

/** How a search is answered. */
export interface SearchExplanation {
  /** The text index that it uses. */
  readonly index: string
  /** Documents in the index: those with any words. */
  readonly documents: number
  /** `postings`: how many documents have the word; for a prefix how many entries there are. */
  readonly terms: readonly { readonly word: string; readonly isPrefix: boolean; readonly postings: number }[]
  /** The words of each phrase. */
  readonly phrases: readonly (readonly string[])[]
  /** A selector or a phrase has to be looked for in the documents that are found. */
  readonly readsDocuments: boolean
}

/** The parameters of a search. */
export interface SearchSpecification {
  readonly text: string
  readonly index: string | undefined
  readonly match: 'all' | 'any'
  readonly condition: Condition
  readonly skip: number
  /** The limit; Infinity: all. */
  readonly limit: number
  /** Undefined: whole documents. */
  readonly fields: readonly string[] | undefined
}
