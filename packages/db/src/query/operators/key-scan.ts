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

export function keyScan<Row>(access: AccessPath, options: KeyScanOptions<Row>): Operator<Row> {
  const { reverse, read } = options
  const ranges = reverse ? access.ranges.toReversed() : access.ranges
  const sizes = reverse ? access.counts.toReversed() : access.counts
  let { skip } = options
  let at = 0
  while (at < sizes.length && sizes[at]! <= skip) skip -= sizes[at++]!
  let cursor: Cursor | undefined
  let rows: Row[] = []
  return {
    next: (count) => {
      for (let looked = 0; looked < STEP_ROWS_MAX && rows.length < count && at < ranges.length; looked++) {
        cursor ??= options.cursor(ranges[at]!, { reverse, skip, expected: Math.min(count, sizes[at]!) })
        if (cursor.next()) {
          const row = read(cursor)
          if (row !== undefined) rows.push(row)
        } else {
          cursor = undefined
          at++
          skip = 0
        }
      }
      if (rows.length === 0 && at === ranges.length) return undefined
      const found = rows
      rows = []
      return found
    },
  }
}
