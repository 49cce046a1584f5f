/** A new revision of a document with one leaf, whose ancestors keep their content: it costs the same however long their line is. */
import type { BodyView } from './body.ts'
import { revisionChange } from './document-plan.ts'
import type { DocumentWrite, EntryChange, RevisionChange } from './document-write.ts'
import type { RevisionEntry } from './revision-entry.ts'
import type { Revision } from './revision.ts'
import type { StoredRevisions } from './stored-revisions.ts'

/** A line with fewer revisions than this forgets its winner's parent at once. */
export const LINE_LIMIT_MIN = 3

/** @param old The winner, which becomes an ancestor. */
export function keptLine(
  stored: StoredRevisions,
  write: DocumentWrite,
  {
    revision,
    old,
    revisionsLimit,
  }: { readonly revision: Revision; readonly old: BodyView; readonly revisionsLimit: number },
): RevisionChange {
  const before = stored.entry(old.number, old)
  const line = { leaf: false, deleted: false }
  const entries: EntryChange[] = [
    { ...line, revision: old, known: before !== undefined, parent: before?.parent, deleted: old.deleted, body: old },
    { ...line, revision, known: false, parent: old.suffix, body: undefined },
  ]
  const oldest = revision.generation + 1 - revisionsLimit
  const removed: RevisionEntry[] = []
  stored.each(old.number, (entry) => {
    const { generation, parent, body, deleted } = entry
    if (generation > oldest) return false
    // The oldest one has no parent from here on. Without content, only its child names it.
    if (generation < oldest || body === undefined) removed.push(entry)
    else if (parent !== undefined)
      entries.push({ ...line, revision: entry, known: true, parent: undefined, deleted, body })
    return true
  })
  const gone = removed.flatMap(({ body }) => body ?? []).sort((left, right) => left - right)
  const removedBodies = stored.bodies(gone)
  return revisionChange({
    winner: { revision, parts: write },
    hasOtherLeaves: false,
    entries,
    removed,
    removedBodies,
    attachmentsAdded: write.attachments === undefined ? [] : [write.attachments],
    attachmentsRemoved: removedBodies.flatMap(({ attachments }) => attachments ?? []),
    wasInConflict: false,
    isInConflict: false,
  })
}
