/**
 * Sorts rows. It holds the sort keys and what the input puts beside them (a document's number, or what a covering index
 * says of it), never documents; and with a limit only about twice as many rows as that.
 */
import { PannierError } from '../../base/errors.ts'
import { encodeIndexValue } from '../../index/index-key.ts'
import type { ReadField } from '../match.ts'
import type { SortField } from '../planner/plan.ts'
import { BATCH_ROWS_MAX, type Operator } from './operator.ts'

/** Rows that a sort without an index can hold. */
export const SORT_ROWS_MAX: number = 2 ** 20

export interface SortRow<Row> {
  readonly key: string
  readonly row: Row
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

/** `limit` > 0. */
export function sortRows<Row>(input: Operator<SortRow<Row>>, skip: number, limit: number): Operator<Row> {
  /** Rows from the first on that can be asked for. */
  const wanted = skip + limit
  const rows: SortRow<Row>[] = []
  /** With `wanted` rows at hand: the last of their keys; from there on rows are of no use. */
  let threshold: string | undefined
  let sorted = false
  let at = skip
  const add = (batch: readonly SortRow<Row>[]): void => {
    for (const row of batch) if (threshold === undefined || row.key < threshold) rows.push(row)
    if (rows.length > wanted && rows.length >= Math.min(wanted * 2 + BATCH_ROWS_MAX, SORT_ROWS_MAX)) {
      rows.sort(byKey).length = wanted
      threshold = rows.at(-1)!.key
    }
    if (rows.length > SORT_ROWS_MAX) {
      throw new PannierError(
        'PANNIER_LIMIT',
        `More than ${SORT_ROWS_MAX} rows to sort in memory: add an index on the fields to sort by, or a limit.`,
      )
    }
  }
  return {
    next: (count) => {
      if (!sorted) {
        const batch = input.next(BATCH_ROWS_MAX)
        if (batch !== undefined) {
          add(batch)
          return []
        }
        rows.sort(byKey)
        sorted = true
      }
      const end = Math.min(at + count, rows.length, wanted)
      if (at >= end) return undefined
      const found = rows.slice(at, end).map(({ row }) => row)
      at = end
      return found
    },
  }
}

function byKey(left: SortRow<unknown>, right: SortRow<unknown>): number {
  return left.key < right.key ? -1 : left.key > right.key ? 1 : 0
}
