/**
 * The sources of rows: ranges of ids or of an index's entries, forwards or backwards; all documents; and the documents of
 * entries. Scans of ranges skip rows at the start by rank.
 */
import { lazyModule } from '../../base/lazy-module.ts'
import type { Cursor, CursorOptions, KeyRange, TreeReader } from '../../kv/key-value-store.ts'
import type { AccessPath } from '../planner/access-path.ts'
import type { QuerySource } from '../query-source.ts'
import { changeBatches, STEP_ROWS_MAX, stepClock, type EntryRow, type Operator } from './operator.ts'
import type { BodyView } from '../../document/body.ts'
import { BATCH_BYTES_MAX, type DocumentCursor, type DocumentReader } from '../../document/document-reader.ts'
import { decodeIdKey, decodeKey } from '../../codec/key-encoding.ts'
import type { Key } from '../../base/brand.ts'
import type { IndexField } from '../../document/catalog.ts'

/** Loaded where a document may have several entries. */
const sets = lazyModule(() => import('../sets/number-set.ts'))

/** Walks a range of keys. */
export type CursorOf = (range: KeyRange, options: CursorOptions) => Cursor

interface KeyScanOptions<Row> {
  readonly cursor: CursorOf
  readonly reverse: boolean
  readonly skip: number
  /** The row of an entry; undefined: it gives none. May not throw a Miss. */
  readonly read: (cursor: Cursor) => Row | undefined
}

/** The rows of the entries along ranges. */
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

export interface ScanOptions {
  readonly reverse: boolean
  readonly skip: number
  /** How many fields of the index rows carry, from the first on; undefined: they carry nothing, the document will be read. */
  readonly fieldCount: number | undefined
}

/** Documents by ranges of an index. */
export function indexScan(tree: TreeReader, access: AccessPath, options: ScanOptions): Operator<EntryRow> {
  const { reverse, skip, fieldCount } = options
  const fields = access.index!.fields.slice(0, fieldCount)
  const seen = access.distinct ? undefined : new (sets().NumberSetBuilder)()
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

/** The row of a document or entry; undefined: it has none. */
export interface RowReaders<Row> {
  readonly ofBody: (body: BodyView) => Row | undefined
  readonly ofEntry: (entry: EntryRow) => Row | undefined
}

/**
 * Makes rows from documents, given their numbers. All documents of a batch that are not in memory are loaded together.
 * An entry that carries values gives the row itself; its document is not read.
 */
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
    tally?.(next)
    return { rows, taken }
  })
}

/** `read` gives the row of a document; undefined: it has none. It may throw a Miss. */
export function fullScan<Row>(
  { documents, now }: QuerySource,
  tally: ((documents: number) => void) | undefined,
  read: (body: BodyView) => Row | undefined,
): Operator<Row> {
  let cursor: DocumentCursor | undefined
  let isUnread = false
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
        isUnread ||= cursor.next()
        if (!isUnread) ended = true
        else {
          const row = read(cursor.body)
          isUnread = false
          tally?.(1)
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
