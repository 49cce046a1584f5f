/** Reads the revisions of one document in one snapshot. Synchronous; may throw a Miss. */
import { corruptBytes } from '../codec/bytes.ts'
import { numberKey } from '../codec/key-number.ts'
import type { Snapshot, TreeReader } from '../kv/key-value-store.ts'
import { BodyView } from './body.ts'
import type { CollectionState } from './collection-state.ts'
import { readRevision, revisionRange, revisionValue } from './revision-entry.ts'
import type { RevisionEntry } from './revision-entry.ts'
import { RevisionTree } from './revision-tree.ts'
import { revisionText } from './revision.ts'

/** A body that is stored: the winner's, or one in `extra`. */
export interface StoredBody {
  /** Its number in `extra`; undefined: it is the winner's. */
  readonly extra: number | undefined
  /** The winner's is at hand. */
  readonly view: BodyView | undefined
}

export interface StoredTree {
  readonly tree: RevisionTree<StoredBody>
  /** The entries as they are stored, by the name of the revision. */
  readonly entries: ReadonlyMap<string, string>
}

export class StoredRevisions {
  readonly #revisions: TreeReader | undefined
  readonly #extra: TreeReader | undefined

  constructor(snapshot: Snapshot, { trees }: CollectionState) {
    this.#revisions = snapshot.tree(trees.revisions)
    this.#extra = snapshot.tree(trees.extra)
  }

  /** All that is known of the document that has this winner. */
  load(winner: BodyView): StoredTree {
    const tree = new RevisionTree<StoredBody>()
    const entries = new Map<string, string>()
    this.each(winner.number, (entry) => {
      const { parent, leaf, deleted, body } = entry
      const node = parent === undefined ? tree.node(entry) : tree.merge([entry, parentOf(entry, parent)])
      node.deleted = deleted
      if (body !== undefined) node.body = { extra: body, view: undefined }
      entries.set(revisionText(entry), revisionValue({ parent, leaf, deleted, body }))
    })
    const node = tree.node({ generation: winner.generation, suffix: winner.suffix })
    node.deleted = winner.deleted
    node.body = { extra: undefined, view: winner }
    return { tree, entries }
  }

  /** Oldest first. */
  each(documentNumber: number, visit: (entry: RevisionEntry) => boolean | void): void {
    const cursor = this.#revisions?.cursor(revisionRange(documentNumber))
    while (cursor?.next() === true) if (visit(readRevision(cursor.key, cursor.value)) === false) return
  }

  /** The generation of the oldest revision known of a document that has one leaf only. */
  oldestGeneration(winner: BodyView): number {
    let oldest = winner.generation
    this.each(winner.number, ({ generation, parent }) => {
      oldest = parent === undefined ? generation : generation - 1
      return false
    })
    return oldest
  }

  /** Bodies in `extra`, aligned. What is missing in memory is fetched together. */
  bodies(numbers: readonly number[]): BodyView[] {
    if (numbers.length === 0) return []
    const found = this.#extra?.getMany(numbers.map(numberKey))
    return numbers.map((number, at) => {
      const bytes = found?.[at]
      if (bytes === undefined) throw corruptBytes('the content of a revision is missing')
      return new BodyView().load(bytes, number)
    })
  }
}

function parentOf({ generation }: RevisionEntry, suffix: string): { generation: number; suffix: string } {
  return { generation: generation - 1, suffix }
}
