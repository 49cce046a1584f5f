/** What a collection that does not exist looks like to a reader: empty. */
import type { CommitSequence } from '../base/brand.ts'
import { ShapeDictionary } from '../codec/shape.ts'
import type { Cursor, Snapshot, TreeReader } from '../kv/key-value-store.ts'
import { collectionTrees, DEFAULT_SETTINGS } from './collection-state.ts'
import { DocumentReader } from './document-reader.ts'
import type { IndexDefinition } from './index-definition.ts'

/** It has the indexes that the first write will give it. Their numbers are those of no stored index. */
export function emptyCollection(
  name: string,
  declared: readonly Omit<IndexDefinition, 'number' | 'builtTo'>[],
): DocumentReader {
  const state = {
    number: 0,
    name,
    epoch: '',
    shapes: new ShapeDictionary(),
    indexes: declared.map((declaration, at) => ({ number: -1 - at, ...declaration, builtTo: undefined })),
    nextIndexNumber: 1,
    settings: DEFAULT_SETTINGS,
    trees: collectionTrees(0),
  }
  return new DocumentReader(EMPTY_SNAPSHOT, state)
}

const EMPTY_CURSOR: Cursor = { next: () => false, key: '' as Cursor['key'], keyNumber: 0, value: new Uint8Array(0) }

const EMPTY_TREE: TreeReader = {
  foresee: () => {},
  get: () => undefined,
  getMany: (keys) => keys.map(() => undefined),
  getSome: (keys) => keys.map(() => undefined),
  count: () => 0,
  rank: () => 0,
  reduce: () => undefined,
  select: () => undefined,
  cursor: () => EMPTY_CURSOR,
  lastNumber: 0,
  storedBytes: 0,
}

const EMPTY_SNAPSHOT: Snapshot = { sequence: 0 as CommitSequence, tree: () => EMPTY_TREE, treeNames: () => [] }
