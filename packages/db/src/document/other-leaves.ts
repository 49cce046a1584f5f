/** The leaf revisions of a document beside its winner. Most documents have none, and then nothing is read. */
import type { BodyView } from './body.ts'
import type { DocumentReader } from './document-reader.ts'
import { compareLeaves, revisionText } from './revision.ts'
import type { RevisionEntry } from './revision-entry.ts'
import { StoredRevisions } from './stored-revisions.ts'

/** What names a document's revisions; `BodyView` is one. */
export type LeavesOf = Pick<BodyView, 'number' | 'otherLeaves'>

/** As they would win without those before. May throw a Miss. */
export function otherLeaves({ snapshot, collection }: DocumentReader, body: LeavesOf): RevisionEntry[] {
  if (!body.otherLeaves) return []
  const leaves: RevisionEntry[] = []
  new StoredRevisions(snapshot, collection).each(body.number, (entry) => {
    if (entry.leaf) leaves.push(entry)
  })
  return leaves.sort(compareLeaves)
}

/** As `_conflicts` of a document lists them: the live ones. Undefined if there are none. */
export function conflictsOf(reader: DocumentReader, body: LeavesOf): string[] | undefined {
  const live = otherLeaves(reader, body).filter(({ deleted }) => !deleted)
  return live.length === 0 ? undefined : live.map(revisionText)
}
