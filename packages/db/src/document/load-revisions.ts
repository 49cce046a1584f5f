/** Loads all revisions of one document. Synchronous; may throw a Miss. */
import type { BodyView } from './body.ts'
import { revisionValue } from './revision-entry.ts'
import { RevisionTree } from './revision-tree.ts'
import { revisionText } from './revision.ts'
import type { StoredRevisions } from './stored-revisions.ts'

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

/** All that is known of the document that has this winner. */
export function loadRevisions(stored: StoredRevisions, winner: BodyView): StoredTree {
  const tree = new RevisionTree<StoredBody>()
  const entries = new Map<string, string>()
  stored.each(winner.number, (entry) => {
    const { generation, parent, leaf, deleted, body } = entry
    const path = parent === undefined ? [entry] : [entry, { generation: generation - 1, suffix: parent }]
    const node = tree.merge(path)
    node.deleted = deleted
    if (body !== undefined) node.body = { extra: body, view: undefined }
    entries.set(revisionText(entry), revisionValue({ parent, leaf, deleted, body }))
  })
  const node = tree.node(winner)
  node.deleted = winner.deleted
  node.body = { extra: undefined, view: winner }
  return { tree, entries }
}
