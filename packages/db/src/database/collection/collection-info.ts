/** The current facts of a collection. Loaded on first use. */
import { type CollectionState, DEFAULT_SETTINGS } from '../../document/catalog.ts'
import { existingTree } from '../../document/document-reader.ts'
import type { Snapshot } from '../../kv/key-value-store.ts'
import type { ColumnMemory } from '../../query/query-source.ts'

/** The result of `collection.info()`. Reads no page. */
export interface CollectionInfo {
  /** The name of the collection. */
  readonly name: string
  /** Live documents. */
  readonly documents: number
  /** Tombstones. */
  readonly deleted: number
  /** The sequence number given last; 0 before the first. */
  readonly lastSeq: number
  /**
   * Random, made with the collection. A collection that was dropped and created again, or lost with its storage, has
   * another epoch and other sequences. Undefined while the collection does not exist.
   */
  readonly epoch: string | undefined
  /** The number of revisions that a document remembers, from each leaf up. */
  readonly revisionsLimit: number
  /** The content of revisions that were replaced is kept, until `compact()`. */
  readonly history: boolean
  /** About how many bytes its documents and indexes take in storage, without what is only in the log yet; undefined if not known. */
  readonly storedBytes: number | undefined
  /** About how many bytes of memory its columns take: what queries have made to search texts and follow relations. */
  readonly columnBytes: number
}

export function collectionInfo(
  snapshot: Snapshot,
  state: CollectionState | undefined,
  name: string,
  columns: ColumnMemory | undefined,
): CollectionInfo {
  if (state === undefined) {
    const nothing = { documents: 0, deleted: 0, lastSeq: 0, epoch: undefined, storedBytes: 0, columnBytes: 0 }
    return { name, ...DEFAULT_SETTINGS, ...nothing }
  }
  const { number, epoch, trees, settings } = state
  const sizes = snapshot.treeNames(`${number}/`).map((tree) => existingTree(snapshot, tree).storedBytes)
  return {
    name,
    documents: existingTree(snapshot, trees.ids).count(),
    deleted: existingTree(snapshot, trees.deleted).count(),
    lastSeq: existingTree(snapshot, trees.bodies).lastNumber,
    epoch,
    ...settings,
    storedBytes: sizes.reduce<number | undefined>(
      (sum, size) => (sum === undefined || size === undefined ? undefined : sum + size),
      0,
    ),
    columnBytes: columns?.store?.bytesOf(state) ?? 0,
  }
}
