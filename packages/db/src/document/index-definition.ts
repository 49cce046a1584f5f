/**
 * What the catalog says of an index. It lives here, below `index/`, because a collection's state lists its indexes.
 */

/** A selector as JSON. */
export type IndexSelector = Readonly<Record<string, unknown>>

export interface TextSettings {
  /** A BCP 47 tag, for finding words and for lower case. */
  readonly language?: string
}

export interface IndexField {
  /** Dotted path of the field: 'age', 'address.city'; '_id' is the document's id. */
  readonly path: string
  readonly descending: boolean
}

export interface IndexDefinition {
  /** Names the index's tree; never used again in the same collection. */
  readonly number: number
  readonly name: string
  readonly fields: readonly IndexField[]
  /** The only field may hold an array: one entry per distinct element. */
  readonly multi: boolean
  /** No two live documents have one key, except where replication brought them; documents that lack a field have none. */
  readonly unique?: boolean
  /** A selector: only documents that it matches have entries. */
  readonly where?: IndexSelector
  /** How `where` is to be understood (query/ast/parse-selector.ts). */
  readonly dialect?: 'couchdb'
  /** The name of the order of strings in `where` and in the keys of entries (codec/registered-collation.ts); ids keep theirs. */
  readonly collation?: string
  /** The entries are the words of the fields (index/text/text-entries.ts). */
  readonly text?: TextSettings
  /**
   * Undefined: the index is ready. Else it is being built: exactly the bodies whose sequence is at most this have entries.
   */
  readonly builtTo: number | undefined
}

/** The tree that holds the entries of an index: `<collection>/i/<index>`. */
export function indexTreeName(collectionNumber: number, indexNumber: number): string {
  return `${collectionNumber}/i/${indexNumber}`
}
