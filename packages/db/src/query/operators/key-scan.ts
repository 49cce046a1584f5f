/**
 * Walks ranges of ids or of an index's entries, in key order or reverse. What is skipped at the start is skipped by rank.
 */
import type { Cursor, CursorOptions, KeyRange } from '../../kv/key-value-store.ts'
import type { AccessPath } from '../planner/access-path.ts'
import { STEP_ROWS_MAX, type Operator } from './operator.ts'

export interface KeyScanOptions<Row> {
  readonly cursor: (range: KeyRange, options: CursorOptions) => Cursor
  readonly reverse: boolean
  readonly skip: number
  /** The row of an entry; undefined: it gives none. May not throw a Miss. */
  readonly read: (cursor: Cursor) => Row | undefined
}

export class KeyScanOperator<Row> implements Operator<Row> {
  private readonly options: KeyScanOptions<Row>
  private readonly ranges: readonly KeyRange[]
  private at = 0
  private skip: number
  private cursor: Cursor | undefined
  private rows: Row[] = []

  constructor({ ranges, counts }: AccessPath, options: KeyScanOptions<Row>) {
    this.options = options
    this.ranges = options.reverse ? ranges.toReversed() : ranges
    this.skip = options.skip
    const sizes = options.reverse ? counts.toReversed() : counts
    while (this.at < sizes.length && sizes[this.at]! <= this.skip) this.skip -= sizes[this.at++]!
  }

  next(count: number): Row[] | undefined {
    const { options, ranges } = this
    for (let looked = 0; looked < STEP_ROWS_MAX && this.rows.length < count && this.at < ranges.length; looked++) {
      this.cursor ??= options.cursor(ranges[this.at]!, { reverse: options.reverse, skip: this.skip })
      if (this.cursor.next()) {
        const row = options.read(this.cursor)
        if (row !== undefined) this.rows.push(row)
      } else {
        this.cursor = undefined
        this.at++
        this.skip = 0
      }
    }
    const { rows } = this
    if (rows.length === 0 && this.at === ranges.length) return undefined
    this.rows = []
    return rows
  }
}
