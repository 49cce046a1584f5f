/** The catalog's facts about a collection: its number, its shapes (lists of field names) and its indexes. */
import type { ShapeDictionary } from '../codec/shape.ts'
import { REVISIONS_LIMIT_DEFAULT } from './revision.ts'

/** Names of a collection's trees; docs/internals/architecture.md says what they hold. */
interface CollectionTrees {
  readonly bodies: string
  readonly ids: string
  readonly deleted: string
  /** By document number: the sequence number of its body, where that is another number. Stored as `moved`. */
  readonly sequences: string
  /** They, and what follows, exist only once there is something in them. */
  readonly revisions: string
  /** Bodies of revisions that did not win. Stored as `extra`. */
  readonly otherBodies: string
  readonly conflicts: string
}

/** What can be chosen for a collection. */
export interface CollectionSettings {
  /** The content of revisions that were replaced is kept until it is compacted away. */
  readonly history: boolean
  /** The number of revisions that are remembered, from each leaf up. */
  readonly revisionsLimit: number
}

/** What a collection is made with. */
export const DEFAULT_SETTINGS: CollectionSettings = { history: false, revisionsLimit: REVISIONS_LIMIT_DEFAULT }

/** What a stored definition means that does not name them; part of the file format. */
export const UNSTORED_SETTINGS: CollectionSettings = { history: false, revisionsLimit: 1000 }

/** Never changed: a change of the catalog makes a new one. */
export interface CollectionState {
  /** Names the collection's trees; never used again. */
  readonly number: number
  readonly name: string
  /** Random: a collection that was dropped and made again under its name has another one, and so has one in a wiped storage. */
  readonly epoch: string
  readonly shapes: ShapeDictionary
  readonly indexes: readonly IndexDefinition[]
  /** Those whose collation this process does not know. It neither reads them nor can keep them up to date. */
  readonly unknownIndexes?: readonly IndexDefinition[] | undefined
  /** The number of the index that is defined next. */
  readonly nextIndexNumber: number
  readonly settings: CollectionSettings
  /** Undefined: version 1, and nothing is being migrated. */
  readonly schema?: SchemaState | undefined
  readonly trees: CollectionTrees
}

export function collectionTrees(number: number): CollectionTrees {
  const tree = (name: string): string => `${number}/${name}`
  return {
    bodies: tree('bodies'),
    ids: tree('ids'),
    deleted: tree('deleted'),
    sequences: tree('moved'),
    revisions: tree('revisions'),
    otherBodies: tree('extra'),
    conflicts: tree('conflicts'),
  }
}

/**
 * What the catalog says of the version of a collection's schema. It lives here because a collection's state has it; the database
 * layer knows what versions mean.
 */
export interface SchemaState {
  /** 1 or more. The version of every document, except those in `pending` and failures. */
  readonly version: number
  /** What is not migrated yet, ascending and disjoint; empty when the migration is done. */
  readonly pending: readonly PendingMigration[]
}

/** Bodies whose sequence number is higher than `after`, and at most `upTo`, have the version `from`. */
export interface PendingMigration {
  readonly after: number
  readonly upTo: number
  readonly from: number
}

export const SCHEMA_VERSION_FIRST = 1

/** Documents that could not be migrated: the tree `<collection>/failures`, made with the first of them. */
export function migrationFailuresTree(collectionNumber: number): string {
  return `${collectionNumber}/failures`
}

/** A selector as JSON. */
export type IndexSelector = Readonly<Record<string, unknown>>

export interface TextSettings {
  /** A BCP 47 tag, for finding words and for lower case. */
  readonly language?: string
}

/** One field of an index. */
export interface IndexField {
  /** Dotted path of the field: 'age', 'address.city'; '_id' is the document's id. */
  readonly path: string
  /** From the highest value down. */
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
