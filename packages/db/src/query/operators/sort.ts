/**
 * Sorts rows within bounded memory. It holds sort keys, document numbers and what a covering index says of a document, never
 * documents; with a limit only about twice as many rows as that.
 *
 * Rows that don't fit are left out, the last ones first, and once those at hand are given the input is read again for those that
 * come after them. So any number of rows can be sorted: each pass reads the whole input, and gives as many rows as
 * fit. The order is total (the key, then the document's number), so that no row is lost or doubled between passes.
 */
import { encodeIndexValue } from '../../index/index-key.ts'
import type { ReadField } from '../match.ts'
import type { SortField } from '../planner/plan.ts'
import type { EntryRow } from './entry-row.ts'
import { BATCH_ROWS_MAX, type Operator } from './operator.ts'

/** What a sort holds at most, by the estimate of `sizeOf`, beside one batch. */
export const SORT_BYTES_MAX: number = 128 * 2 ** 20
/** Of a row beside its key and strings; strings are often made of pieces, which takes more (measured: 85 to 175 bytes in all). */
const ROW_BYTES = 160

export interface SortRow extends EntryRow {
  readonly key: string
}

/** Makes the sort key of a row: it orders rows exactly as an index on the fields does. */
export function compileSortKey<Source>(
  sort: readonly SortField[],
  reader: (path: string) => ReadField<Source>,
): (row: Source) => string {
  const fields = sort.map(({ path, descending }) => ({ read: reader(path), descending }))
  return (row) => {
    let key = ''
    for (const { read, descending } of fields) key += encodeIndexValue(read(row), descending)
    return key
  }
}

/** `open` starts a pass over all rows: the same ones each time, no document twice. */
export function sortRows(
  open: () => Operator<SortRow>,
  skip: number,
  limit: number,
  bytesMax: number,
): Operator<SortRow> {
  let input: Operator<SortRow> | undefined
  /** The pass goes on after this row. */
  let after: SortRow | undefined
  /** Rows after this one don't fit into the pass, or are not wanted. */
  let last: SortRow | undefined
  let rows: SortRow[] = []
  let bytes = 0
  let isSorted = false
  let at = 0

  const add = (batch: readonly SortRow[]): void => {
    for (const row of batch) {
      if ((after !== undefined && compareRows(row, after) <= 0) || (last !== undefined && compareRows(row, last) > 0))
        continue
      rows.push(row)
      bytes += sizeOf(row)
    }
    const wanted = skip + limit
    if (bytes <= bytesMax && rows.length <= wanted * 2 + BATCH_ROWS_MAX) return
    rows.sort(compareRows)
    let kept = 0
    for (bytes = 0; kept < rows.length && kept < wanted && (kept === 0 || bytes <= bytesMax / 2); kept++) {
      bytes += sizeOf(rows[kept]!)
    }
    rows.length = kept
    last = rows.at(-1)
  }

  return {
    next: (count) => {
      if (limit === 0) return undefined
      if (!isSorted) {
        input ??= open()
        const batch = input.next(BATCH_ROWS_MAX)
        if (batch !== undefined) {
          add(batch)
          return []
        }
        rows.sort(compareRows)
        isSorted = true
        at = Math.min(skip, rows.length)
        skip -= at
      }
      if (at < rows.length) {
        const found = rows.slice(at, at + Math.min(count, limit))
        at += found.length
        limit -= found.length
        return found
      }
      if (last === undefined) return undefined
      after = last
      last = input = undefined
      rows = []
      bytes = 0
      isSorted = false
      return []
    },
  }
}

function compareRows(left: SortRow, right: SortRow): number {
  return left.key < right.key ? -1 : left.key > right.key ? 1 : left.number - right.number
}

function sizeOf({ key, values }: SortRow): number {
  let bytes = ROW_BYTES + key.length
  for (const value of values ?? []) bytes += typeof value === 'string' ? 16 + value.length * 2 : 16
  return bytes
}
