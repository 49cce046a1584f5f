/** All documents, in the order in which they were written. */
import type { BodyView } from '../../document/body.ts'
import type { DocumentCursor, DocumentReader } from '../../document/document-reader.ts'
import { STEP_ROWS_MAX, type Operator } from './operator.ts'

/** `read` gives the row of a document; undefined: it has none. */
export function fullScan<Row>(
  documents: DocumentReader,
  tally: ((documents: number) => void) | undefined,
  read: (body: BodyView) => Row | undefined,
): Operator<Row> {
  let cursor: DocumentCursor | undefined
  let ended = false
  let rows: Row[] = []
  return {
    next: (count) => {
      cursor ??= documents.scan()
      for (let looked = 0; looked < STEP_ROWS_MAX && rows.length < count && !ended; looked++) {
        if (!cursor.next()) ended = true
        else {
          tally?.(1)
          const row = read(cursor.body)
          if (row !== undefined) rows.push(row)
        }
      }
      if (rows.length === 0 && ended) return undefined
      const found = rows
      rows = []
      return found
    },
  }
}
