/** What the catalog says of a collection: its number, its shapes (lists of field names) and its indexes. */
import type { ShapeDictionary } from '../codec/shape.ts'
import type { IndexDefinition } from './index-definition.ts'
import type { SchemaState } from './schema-state.ts'

/** Names of a collection's trees; docs/architecture.md says what they hold. */
export interface CollectionTrees {
  readonly bodies: string
  readonly ids: string
  readonly deleted: string
  readonly moved: string
}

/** Never changed: a change of the catalog makes a new one. */
export interface CollectionState {
  /** Names the collection's trees; never used again. */
  readonly number: number
  readonly name: string
  readonly shapes: ShapeDictionary
  readonly indexes: readonly IndexDefinition[]
  /** The number of the index that is defined next. */
  readonly nextIndexNumber: number
  /** Undefined: version 1, and nothing is being migrated. */
  readonly schema?: SchemaState | undefined
  readonly trees: CollectionTrees
}

export function collectionTrees(number: number): CollectionTrees {
  return { bodies: `${number}/bodies`, ids: `${number}/ids`, deleted: `${number}/deleted`, moved: `${number}/moved` }
}
