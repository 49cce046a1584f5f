/**
 * Makes rows from documents, given their numbers. All documents of a batch that are not in memory are loaded together.
 * An entry that carries values gives the row itself; its document is not read.
 */
import type { BodyView } from '../../document/body.ts'
import type { QuerySource } from '../query-source.ts'
import { type EntryRow, changeBatches, stepClock, type Operator, STEP_ROWS_MAX } from './operator.ts'
import { BATCH_BYTES_MAX, type DocumentCursor } from '../../document/document-reader.ts'

/** The row of a document or entry; undefined: it has none. */
export interface RowReaders<Row> {
  readonly ofBody: (body: BodyView) => Row | undefined
  readonly ofEntry: (entry: EntryRow) => Row | undefined
}

export function fetchRows<Row>(
  input: Operator<EntryRow>,
  { documents, now }: QuerySource,
  readers: RowReaders<Row>,
  isSelective: boolean,
  /** Counts the documents that are read. */
  tally?: (documents: number) => void,
): Operator<Row> {
  return changeBatches(input, isSelective, (batch) => {
    const numbers: number[] = []
    for (const { number, values } of batch) if (values === undefined) numbers.push(number)
    const bodies = numbers.length === 0 ? [] : documents.someBodiesOf(numbers)
    tally?.(bodies.length)
    const rows: Row[] = []
    const isLate = stepClock(now)
    let next = 0
    let taken = 0
    for (const entry of batch) {
      if ((entry.values === undefined && next === bodies.length) || isLate()) break
      const row = entry.values === undefined ? readers.ofBody(bodies[next++]!) : readers.ofEntry(entry)
      if (row !== undefined) rows.push(row)
      taken++
    }
    return { rows, taken }
  })
}

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
