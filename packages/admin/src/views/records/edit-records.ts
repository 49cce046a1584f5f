/** Changes of many records that can be undone: one value for a field, where nobody has changed it since, and deletes. */
import type { Environment } from '../../environment.ts'
import type { Collection, Field } from '../../api/collections.ts'
import { deleteRecord, updateRecord, viewRecord } from '../../state/device/records.ts'
import type { Row } from '../../api/records.ts'
import { reportError, showDone } from '../../parts/toasts.tsx'
import { deleteLater } from '../../state/pending-deletes.ts'
import { TEXTS } from '../../texts.ts'

const AT_ONCE = 6

interface Edited {
  readonly id: string
  readonly before: unknown
  readonly after: unknown
}

/** The result of a bulk edit. Records that were edited before an error stay edited; `undo` reverts them. */
interface BulkEdit {
  readonly edited: readonly Edited[]
  /** The first error. */
  readonly error: unknown
  readonly undo: () => Promise<void>
}

export async function editRecords(
  { name }: Collection,
  ids: readonly string[],
  field: Field,
  value: unknown,
  onProgress: (done: number) => void,
): Promise<BulkEdit> {
  const edited: Edited[] = []
  let error: unknown
  await inLanes(ids, async (id) => {
    if (error !== undefined) return
    try {
      const row = await viewRecord(name, id)
      const changed = await updateRecord(name, id, { [field.name]: value }, revOf(row))
      edited.push({ id, before: row[field.name], after: changed[field.name] })
      onProgress(edited.length)
    } catch (thrown) {
      error ??= thrown
    }
  })
  const undo = (): Promise<void> =>
    inLanes(edited, async ({ id, before, after }) => {
      const row = await viewRecord(name, id)
      if (JSON.stringify(row[field.name]) !== JSON.stringify(after)) return
      await updateRecord(name, id, { [field.name]: before }, revOf(row))
    })
  return { edited, error, undo }
}

function revOf(row: Row): string | undefined {
  return row['_rev'] as string | undefined
}

async function inLanes<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items]
  const lane = async (): Promise<void> => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, lane))
}

/** Deletes records after the time in which it can be undone. */
export function deleteWithUndo(environment: Environment, collection: Collection, ids: readonly string[]): void {
  const { done, undo } = deleteLater(environment, ids, (id) => deleteRecord(collection.name, id))
  showDone(TEXTS.records.deleting(ids.length), undo)
  done.catch(reportError)
}
