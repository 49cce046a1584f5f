/** What queries read from, over a snapshot or a transaction. */
import type { Environment } from '../../base/environment.ts'
import type { MaybePromise } from '../../base/async.ts'
import { pauseIn } from '../../base/pause.ts'
import { DocumentReader, existingTree } from '../../document/document-reader.ts'
import { emptyCollection } from '../../document/empty-collection.ts'
import { indexTreeName } from '../../document/index-definition.ts'
import type { Snapshot } from '../../kv/key-value-store.ts'
import type { QuerySource } from '../../query/query-source.ts'
import type { CollectionWriting } from './collection-access.ts'

export interface ReadableSnapshot extends Snapshot {
  attempt<T>(step: () => T): MaybePromise<T>
}

/** A collection that does not exist is empty, and has the indexes that are declared. `release` is called once at most. */
export function querySource(
  snapshot: ReadableSnapshot,
  { catalog, name, declaredIndexes }: Pick<CollectionWriting, 'catalog' | 'name' | 'declaredIndexes'>,
  environment: Environment,
  release: () => void,
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
    release,
  }
}
