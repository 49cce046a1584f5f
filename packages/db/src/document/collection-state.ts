/** What the catalog says of a collection: its number, its shapes (lists of field names) and its indexes. */
import type { ShapeDictionary } from '../codec/shape.ts'
import type { IndexDefinition } from './index-definition.ts'
import { REVISIONS_LIMIT_DEFAULT } from './revision.ts'
import type { SchemaState } from './schema-state.ts'

/** Names of a collection's trees; docs/internals/architecture.md says what they hold. */
export interface CollectionTrees {
  readonly bodies: string
  readonly ids: string
  readonly deleted: string
  readonly moved: string
  /** They, and what follows, exist only once there is something in them. */
  readonly revisions: string
  readonly extra: string
  readonly conflicts: string
}

/** What can be chosen for a collection. */
export interface CollectionSettings {
  /** The content of revisions that were replaced is kept until it is compacted away. */
  readonly history: boolean
  /** So many revisions, from each leaf up, are remembered. */
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
    moved: tree('moved'),
    revisions: tree('revisions'),
    extra: tree('extra'),
    conflicts: tree('conflicts'),
  }
}
