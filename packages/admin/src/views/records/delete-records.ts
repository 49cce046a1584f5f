/** Deletes records after the time in which it can be undone. */
import type { Collection } from '../../api/collections.ts'
import { reportError, showDone } from '../../parts/toasts.tsx'
import { deleteLater } from '../../state/pending-deletes.ts'
import { TEXTS } from '../../texts.ts'

export function deleteWithUndo(collection: Collection, ids: readonly string[]): void {
  const { done, undo } = deleteLater(collection.name, ids)
  showDone(TEXTS.records.deleting(ids.length), undo)
  done.catch(reportError)
}
