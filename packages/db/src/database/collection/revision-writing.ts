/** Writes to revision trees, loaded with the first one. Arguments are checked. */
import type { Key } from '../../base/brand.ts'
import type { WriteResult } from '../../document/apply-writes.ts'
import type { StoredDocument } from '../../document/document-reader.ts'
import {
  compactRevisions,
  forgetDeadUploads,
  purgeRevisions,
  resolveConflicts,
  type CompactStep,
  type PurgeResult,
} from '../../document/revision-writes.ts'
import type { CollectionAccess } from './collection-access.ts'

export function resolve(
  access: CollectionAccess,
  id: string,
  choose: (leaves: StoredDocument[]) => unknown,
): Promise<WriteResult> {
  return access.write((transaction) => resolveConflicts(transaction, access.writing, id, choose))
}

export function purge(
  access: CollectionAccess,
  id: string,
  leaves: readonly string[] | undefined,
): Promise<PurgeResult> {
  return access.write((transaction) => purgeRevisions(transaction, access.writing, id, leaves))
}

/** In small steps: others write in between. Gives the number of revisions that have lost their content. */
export async function compact(access: CollectionAccess): Promise<number> {
  const { catalog, name } = access.writing
  let forgotten = 0
  let from: Key | undefined
  do {
    const step: CompactStep = await access.write((transaction) => {
      const state = catalog.collection(transaction, name)
      return state === undefined ? { next: undefined, forgotten: 0 } : compactRevisions(transaction, state, from)
    })
    forgotten += step.forgotten
    from = step.next
  } while (from !== undefined)
  const uploads = access.uploads()
  if (uploads !== undefined)
    await access.write((transaction) => forgetDeadUploads(transaction, access.writing, uploads))
  return forgotten
}
