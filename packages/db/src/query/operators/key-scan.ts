/** Walks ranges of ids or of an index's entries, forwards or backwards. Skips rows at the start by rank. */
import type { Cursor, CursorOptions, KeyRange, TreeReader } from '../../kv/key-value-store.ts'
import type { AccessPath } from '../planner/access-path.ts'
import { STEP_ROWS_MAX, type Operator, type EntryRow } from './operator.ts'
import type { DocumentReader } from '../../document/document-reader.ts'
import { decodeIdKey, decodeKey } from '../../codec/key-encoding.ts'
import type { Key } from '../../base/brand.ts'
import type { IndexField } from '../../document/collection-state.ts'
import { NumberSet } from './set-operators.ts'

interface KeyScanOptions<Row> {
  readonly cursor: (range: KeyRange, options: CursorOptions) => Cursor
  readonly reverse: boolean
  readonly skip: number
  /** The row of an entry; undefined: it gives none. May not throw a Miss. */
  readonly read: (cursor: Cursor) => Row | undefined
}

function keyScan<Row>(access: AccessPath, options: KeyScanOptions<Row>): Operator<Row> {
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

/** Documents by ranges of ids. */
interface IdScanOptions {
  readonly reverse: boolean
  readonly skip: number
  /** The rows carry the id. */
  readonly withId: boolean
}

export function idScan(documents: DocumentReader, access: AccessPath, options: IdScanOptions): Operator<EntryRow> {
  const { reverse, skip, withId } = options
  return keyScan(access, {
    cursor: (range, cursorOptions) => documents.ids(range, cursorOptions),
    reverse,
    skip,
    read: (cursor) => ({
      number: documents.numberAt(cursor),
      values: withId ? [decodeIdKey(cursor.key)] : undefined,
    }),
  })
}

/** Documents by ranges of an index. */
interface IndexScanOptions {
  readonly reverse: boolean
  readonly skip: number
  /** How many fields of the index rows carry, from the first on; undefined: they carry nothing, the document will be read. */
  readonly fieldCount: number | undefined
}

export function indexScan(tree: TreeReader, access: AccessPath, options: IndexScanOptions): Operator<EntryRow> {
  const { reverse, skip, fieldCount } = options
  const fields = access.index!.fields.slice(0, fieldCount)
  const seen = access.distinct ? undefined : new NumberSet()
  return keyScan(access, {
    cursor: (range, cursorOptions) => tree.cursor(range, cursorOptions),
    reverse,
    skip,
    read: (cursor) => {
      const number = cursor.keyNumber
      if (seen !== undefined && !seen.add(number)) return undefined
      return { number, values: fieldCount === undefined ? undefined : valuesOf(cursor.key, fields) }
    },
  })
}

/**
 * Undefined if a value was cut off, or is an array or object: keys do not distinguish all kinds of these (typed
 * arrays).
 */
function valuesOf(key: Key, fields: readonly IndexField[]): unknown[] | undefined {
  const values: unknown[] = []
  let at = 0
  for (const { descending } of fields) {
    const { value, next, exact } = decodeKey(key, at, descending)
    if (!exact || (typeof value === 'object' && value !== null)) return undefined
    values.push(value)
    at = next
  }
  return values
}
