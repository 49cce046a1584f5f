/** All documents, in the order in which they were written. */
import type { BodyView } from '../../document/body.ts'
import { BATCH_BYTES_MAX, type DocumentCursor } from '../../document/document-reader.ts'
import type { QuerySource } from '../query-source.ts'
import { stepClock, STEP_ROWS_MAX, type Operator } from './operator.ts'

/** `read` gives the row of a document; undefined: it has none. */
export function fullScan<Row>(
  { documents, now }: QuerySource,
  tally: ((documents: number) => void) | undefined,
  read: (body: BodyView) => Row | undefined,
): Operator<Row> {
  let cursor: DocumentCursor | undefined
  let ended = false
  let rows: Row[] = []
  // Rows may be whole documents.
  let bytes = 0
  return {
    next: (count) => {
      cursor ??= documents.scan()
      const isFull = (): boolean => rows.length >= count || bytes >= BATCH_BYTES_MAX
      const isLate = stepClock(now)
      for (let looked = 0; looked < STEP_ROWS_MAX && !isFull() && !ended && !isLate(); looked++) {
        if (!cursor.next()) ended = true
        else {
          tally?.(1)
          const row = read(cursor.body)
          if (row === undefined) continue
          rows.push(row)
          bytes += cursor.body.bytes.length
        }
      }
      if (rows.length === 0 && ended) return undefined
      const found = rows
      rows = []
      bytes = 0
      return found
    },
  }
}
