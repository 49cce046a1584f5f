/** Reads the revisions of one document in one snapshot. Synchronous; may throw a Miss. */
import { corruptBytes } from '../codec/bytes.ts'
import { numberKey } from '../codec/key-encoding.ts'
import type { Snapshot, TreeReader } from '../kv/key-value-store.ts'
import { BodyView } from './body.ts'
import type { CollectionState } from './catalog.ts'
import { readRevision, revisionKey, revisionRange, type RevisionEntry } from './revision-entry.ts'
import type { DocumentReader } from './document-reader.ts'
import { compareLeaves, revisionText, type Revision } from './revision.ts'

export class StoredRevisions {
  readonly #revisions: TreeReader | undefined
  readonly #extra: TreeReader | undefined

  constructor(snapshot: Snapshot, { trees }: CollectionState) {
    this.#revisions = snapshot.tree(trees.revisions)
    this.#extra = snapshot.tree(trees.otherBodies)
  }

  /** Visits each revision, oldest first. */
  each(documentNumber: number, visit: (entry: RevisionEntry) => boolean | void): void {
    const cursor = this.#revisions?.cursor(revisionRange(documentNumber))
    while (cursor?.next() === true) if (visit(readRevision(cursor.key, cursor.value)) === false) return
  }

  /** The stored entry of one revision. */
  entry(documentNumber: number, revision: Revision): RevisionEntry | undefined {
    const key = revisionKey(documentNumber, revision)
    const value = this.#revisions?.get(key)
    return value && readRevision(key, value)
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

/** The part of a body that names a document's revisions. */
export type LeavesOf = Pick<BodyView, 'number' | 'otherLeaves'>

/** The other leaves, as they would win without those before. May throw a Miss. */
export function otherLeaves({ snapshot, collection }: DocumentReader, body: LeavesOf): RevisionEntry[] {
  if (!body.otherLeaves) return []
  const leaves: RevisionEntry[] = []
  new StoredRevisions(snapshot, collection).each(body.number, (entry) => {
    if (entry.leaf) leaves.push(entry)
  })
  return leaves.sort(compareLeaves)
}

/** As `_conflicts` of a document lists them: the live ones, or undefined. */
export function conflictsOf(reader: DocumentReader, body: LeavesOf): string[] | undefined {
  const live = otherLeaves(reader, body).filter(({ deleted }) => !deleted)
  return live.length === 0 ? undefined : live.map(revisionText)
}
