/** What the catalog says of a collection: its number, its shapes (lists of field names) and its indexes. */
import type { ShapeDictionary } from '../codec/shape.ts'
import type { IndexDefinition } from './index-definition.ts'

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
  /** Random: a collection that was dropped and made anew under its name has another one, and so has one in a wiped storage. */
  readonly epoch: string
  readonly shapes: ShapeDictionary
  readonly indexes: readonly IndexDefinition[]
  /** The number of the index that is defined next. */
  readonly nextIndexNumber: number
  readonly trees: CollectionTrees
}

export function collectionTrees(number: number): CollectionTrees {
  return { bodies: `${number}/bodies`, ids: `${number}/ids`, deleted: `${number}/deleted`, moved: `${number}/moved` }
}
