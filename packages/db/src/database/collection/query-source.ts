/** The source of queries, over a snapshot or a transaction. A collection that does not exist reads as an empty one. */
import type { Environment } from '../../base/environment.ts'
import { pauseIn } from '../../base/long-work.ts'
import type { MaybePromise } from '../../base/async.ts'
import { DocumentReader, existingTree } from '../../document/document-reader.ts'
import { indexTreeName, type IndexDefinition, collectionTrees, DEFAULT_SETTINGS } from '../../document/catalog.ts'
import type { Snapshot, Cursor, TreeReader } from '../../kv/key-value-store.ts'
import type { KeptMemory, QuerySource } from '../../query/query-source.ts'
import type { CollectionWriting } from './collection-access.ts'
import type { CommitSequence } from '../../base/brand.ts'
import { ShapeDictionary } from '../../codec/shape.ts'

interface ReadableSnapshot extends Snapshot {
  attempt<T>(step: () => T): MaybePromise<T>
}

/** A collection that does not exist is empty, and has the indexes that are declared. `release` is called once at most. */
export function querySource(
  snapshot: ReadableSnapshot,
  { catalog, name, declaredIndexes }: Pick<CollectionWriting, 'catalog' | 'name' | 'declaredIndexes'>,
  environment: Environment,
  release: () => void,
  kept?: KeptMemory,
  other?: QuerySource['other'],
): QuerySource {
  const state = catalog.collection(snapshot, name)
  const documents = state === undefined ? emptyCollection(name, declaredIndexes()) : new DocumentReader(snapshot, state)
  return {
    sequence: snapshot.sequence,
    documents,
    indexes: documents.collection.indexes,
    index: (definition) =>
      existingTree(documents.snapshot, indexTreeName(documents.collection.number, definition.number)),
    attempt: (step) => snapshot.attempt(step),
    pause: pauseIn(environment),
    now: () => environment.now(),
    kept,
    release,
    other,
  }
}

/** No stored collection has it. */
const MISSING_NUMBER = 0

/** A collection without documents, with the indexes that the first write will give it. Their numbers are those of no stored index. */
function emptyCollection(
  name: string,
  declared: readonly Omit<IndexDefinition, 'number' | 'builtTo'>[],
): DocumentReader {
  const state = {
    number: MISSING_NUMBER,
    name,
    epoch: '',
    shapes: new ShapeDictionary(),
    indexes: declared.map((declaration, at) => ({ number: -1 - at, ...declaration, builtTo: undefined })),
    nextIndexNumber: 1,
    settings: DEFAULT_SETTINGS,
    trees: collectionTrees(MISSING_NUMBER),
  }
  return new DocumentReader(EMPTY_SNAPSHOT, state)
}

const EMPTY_CURSOR: Cursor = { next: () => false, key: '' as Cursor['key'], keyNumber: 0, value: new Uint8Array(0) }

const EMPTY_TREE: TreeReader = {
  prefetch: () => {},
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
