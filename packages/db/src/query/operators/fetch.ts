/**
 * Rows from documents, given their numbers. All documents of a batch that are missing in memory are fetched together. An
 * entry that carries values is answered from these, its document is not read.
 */
import type { BodyView } from '../../document/body.ts'
import type { QuerySource } from '../query-source.ts'
import type { EntryRow } from './entry-row.ts'
import { changeBatches, stepClock, type Operator } from './operator.ts'

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
  /** Is told how many documents are read. */
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
