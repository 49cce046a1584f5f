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

export class SortOperator<Row> implements Operator<Row> {
  private readonly input: Operator<SortRow<Row>>
  /** Rows from the first on that can be asked for. */
  private readonly wanted: number
  private rows: SortRow<Row>[] = []
  /** With `wanted` rows at hand: the last of their keys; from there on rows are of no use. */
  private threshold: string | undefined
  private sorted = false
  private at: number

  /** `limit` > 0. */
  constructor(input: Operator<SortRow<Row>>, skip: number, limit: number) {
    this.input = input
    this.wanted = skip + limit
    this.at = skip
  }

  next(count: number): Row[] | undefined {
    if (!this.sorted) {
      const batch = this.input.next(BATCH_ROWS_MAX)
      if (batch !== undefined) {
        this.add(batch)
        return []
      }
      this.rows.sort(byKey)
      this.sorted = true
    }
    if (this.at >= this.rows.length) return undefined
    const end = Math.min(this.at + count, this.rows.length, this.wanted)
    const rows = this.rows.slice(this.at, end).map(({ row }) => row)
    this.at = end
    return rows.length === 0 ? undefined : rows
  }

  private add(batch: readonly SortRow<Row>[]): void {
    const { rows, wanted } = this
    for (const row of batch) if (this.threshold === undefined || row.key < this.threshold) rows.push(row)
    if (rows.length > wanted && rows.length >= Math.min(wanted * 2 + BATCH_ROWS_MAX, SORT_ROWS_MAX)) {
      rows.sort(byKey).length = wanted
      this.threshold = rows.at(-1)!.key
    }
    if (rows.length > SORT_ROWS_MAX) {
      throw new PannierError(
        'PANNIER_LIMIT',
        `More than ${SORT_ROWS_MAX} rows would have to be sorted in memory: add an index on the fields to sort by, or a limit.`,
      )
    }
  }
}

function byKey(left: SortRow<unknown>, right: SortRow<unknown>): number {
  return left.key < right.key ? -1 : left.key > right.key ? 1 : 0
}
