/** What queries read from, over a snapshot or a transaction. */
import type { Environment } from '../base/environment.ts'
import type { MaybePromise } from '../base/maybe-promise.ts'
import { pauseIn } from '../base/pause.ts'
import type { Catalog } from '../document/catalog.ts'
import { DocumentReader, existingTree } from '../document/document-reader.ts'
import { emptyCollection } from '../document/empty-collection.ts'
import { indexTreeName } from '../document/index-definition.ts'
import type { Snapshot } from '../kv/key-value-store.ts'
import type { QuerySource } from '../query/query-source.ts'

export interface ReadableSnapshot extends Snapshot {
  attempt<T>(step: () => T): MaybePromise<T>
}

/** A collection that does not exist is empty. `release` is called once at most. */
export function querySource(
  snapshot: ReadableSnapshot,
  catalog: Catalog,
  name: string,
  environment: Environment,
  release: () => void,
): QuerySource {
  const state = catalog.collection(snapshot, name)
  const documents = state === undefined ? emptyCollection(name) : new DocumentReader(snapshot, state)
  return {
    sequence: snapshot.sequence,
    documents,
    indexes: documents.collection.indexes,
    index: (definition) => existingTree(snapshot, indexTreeName(documents.collection.number, definition.number)),
    attempt: (step) => snapshot.attempt(step),
    pause: pauseIn(environment),
    release,
  }
}
