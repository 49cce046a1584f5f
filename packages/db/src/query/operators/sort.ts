/**
 * Sorts rows within bounded memory. It holds sort keys, document numbers and values of a covering index, never
 * documents; with a limit only about twice that number of rows.
 *
 * It sorts rows in runs as they come, and merges runs as rows are wanted, so no step holds the thread for long. Rows
 * that do not fit are left out, the last ones first. After the others are returned, it reads the input again for those
 * that come next. So any number of rows can be sorted: each pass reads the whole input and returns as many rows as fit.
 * The order is total (the key, then the document's number), so no row is lost or doubled between passes.
 */
import { firstWhere } from '../../base/binary-search.ts'
import type { Collation } from '../../codec/registered-collation.ts'
import { compareValues } from '../../codec/collation.ts'
import { decodeKey } from '../../codec/key-encoding.ts'
import { encodeIndexValue, sortedValue } from '../../index/index-key.ts'
import type { ReadField } from '../match.ts'
import type { QuerySpecification, SortField } from '../planner/plan.ts'
import { type EntryRow, BATCH_ROWS_MAX, BATCH_ROWS_MIN, type Operator } from './operator.ts'

/** Memory that a sort holds at most, besides one batch, as `sizeOf` estimates it. */
const SORT_BYTES_MAX: number = 128 * 2 ** 20
/** Rows that are sorted at once: no step takes longer than that. */
const SORT_RUN_ROWS = 4096
const RUNS_TRIMMED_AT_ONCE = 16
/**
 * Memory of a row besides its key and strings. Strings are often made of pieces, which takes more (measured: 85 to 175
 * bytes in all).
 */
const ROW_BYTES = 160

export interface SortRow extends EntryRow {
  readonly key: string
}

interface KeyPart<Source> {
  readonly read: ReadField<Source>
  readonly encode: (value: unknown) => string
}

/** Makes the sort key of a row: it orders rows exactly as an index on the fields does. */
export function compileSortKey<Source>(
  sort: readonly SortField[],
  reader: (path: string) => ReadField<Source>,
  collation: Collation | undefined,
): (row: Source) => string {
  const parts = keyParts(sort, reader, collation)
  return (row) => {
    let key = ''
    for (const { read, encode } of parts) key += encode(read(row))
    return key
  }
}

function keyParts<Source>(
  sort: readonly SortField[],
  reader: (path: string) => ReadField<Source>,
  collation: Collation | undefined,
): KeyPart<Source>[] {
  return sort.map(({ path, descending, through }) => {
    const own = reader(path)
    const read = through === undefined ? own : (row: Source): unknown => through.values.get(own(row))
    const sorted = through?.path ?? path
    return { read, encode: (value) => encodeIndexValue(sortedValue(value, sorted, collation), descending) }
  })
}

/** Makes rows of a pass. Most rows without room in it are known by their first value: they get no key, and are undefined. */
export function compileSortRow<Source extends { readonly number: number }>(
  { sort, collation }: Pick<QuerySpecification, 'sort' | 'collation'>,
  reader: (path: string) => ReadField<Source>,
  carried: (row: Source) => EntryRow['values'],
  pass: Pick<SortPass, 'last'>,
): (row: Source) => SortRow | undefined {
  const [{ read, encode }, ...others] = keyParts(sort, reader, collation) as [KeyPart<Source>, ...KeyPart<Source>[]]
  const { descending } = sort[0]!
  let last: SortRow | undefined
  let bound: { readonly value: unknown } | undefined
  return (row) => {
    if (pass.last !== last) {
      last = pass.last!
      const { value, exact } = decodeKey(last.key, 0, descending)
      bound = exact && collation === undefined && typeof value !== 'object' ? { value } : undefined
    }
    const first = read(row)
    if (bound !== undefined && typeof first !== 'object') {
      const order = compareValues(first, bound.value)
      if (descending ? order < 0 : order > 0) return undefined
    }
    let key = encode(first)
    for (const part of others) key += part.encode(part.read(row))
    return { key, number: row.number, values: carried(row) }
  }
}

export interface SortLimits {
  readonly bytesMax: number
  readonly runRows: number
}

export const SORT_LIMITS: SortLimits = { bytesMax: SORT_BYTES_MAX, runRows: SORT_RUN_ROWS }

/** `open` starts a walk through all rows: the same ones each time, no document twice. Those after `last` of the pass may be left out. */
export function sortRows(
  open: (pass: SortPass) => Operator<SortRow>,
  skip: number,
  limit: number,
  { bytesMax, runRows }: SortLimits = SORT_LIMITS,
  makePass: (bytesMax: number) => SortPass = (bytesMax) => new SortPass(bytesMax),
): Operator<SortRow> {
  let input: Operator<SortRow> | undefined
  /** The walk continues after this row. */
  let after: SortRow | undefined
  let pass = makePass(bytesMax)
  let merge: ((count: number) => SortRow[]) | undefined

  const add = (batch: readonly SortRow[]): void => {
    const wanted = skip + limit
    for (const row of batch) if (after === undefined || compareRows(row, after) > 0) pass.add(row)
    if (wanted <= runRows) pass.keep(wanted)
    else pass.closeRun(runRows)
  }

  return {
    next: (count) => {
      if (limit === 0) return undefined
      if (merge === undefined) {
        if (pass.isTooLarge) {
          pass.trim()
          return []
        }
        input ??= open(pass)
        // A few rows soon tell which others are needless.
        const few = pass.last === undefined ? (skip + limit) * 2 + BATCH_ROWS_MIN : BATCH_ROWS_MAX
        const batch = input.next(Math.min(few, BATCH_ROWS_MAX))
        if (batch === undefined) merge = pass.merge()
        else add(batch)
        return []
      }
      const rows = merge(skip > 0 ? Math.min(skip, BATCH_ROWS_MAX) : Math.min(count, limit))
      if (rows.length > 0) {
        if (skip > 0) skip -= rows.length
        else {
          limit -= rows.length
          return rows
        }
      } else {
        if (pass.last === undefined) return undefined
        after = pass.last
        pass = makePass(bytesMax)
        input = merge = undefined
      }
      return []
    },
  }
}

/** The rows of one pass: sorted runs, so that no step sorts all of them, and those since the last run. */
export class SortPass {
  /** Rows after this one have no room in the pass, or are not wanted. */
  last: SortRow | undefined
  private readonly bytesMax: number
  private runs: SortRow[][] = []
  private rows: SortRow[] = []
  private bytes = 0
  private rowCount = 0
  /** Runs that rows after the last one are still to be dropped from. */
  private untrimmed: SortRow[][] = []

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax
  }

  /** All rows at hand, in arrays. */
  get held(): readonly (readonly SortRow[])[] {
    return [...this.runs, this.rows]
  }

  /** Nothing may be added, and the pass not be merged, before `trim` was called until it is not. One row always has room. */
  get isTooLarge(): boolean {
    return this.untrimmed.length > 0 || (this.bytes > this.bytesMax && this.rowCount > 1)
  }

  add(row: SortRow): void {
    if (this.last !== undefined && compareRows(row, this.last) > 0) return
    this.rows.push(row)
    this.rowCount++
    this.bytes += sizeOf(row)
  }

  /** Only this number of first rows is wanted: few enough for one run. */
  keep(wanted: number): void {
    if (this.rows.length <= wanted * 2) return
    this.rows.sort(compareRows)
    this.last = this.rows[wanted - 1]!
    this.drop(this.rows.splice(wanted))
  }

  closeRun(rowsMin: number): void {
    if (this.rows.length < Math.max(1, rowsMin)) return
    this.runs.push(this.rows.sort(compareRows))
    this.rows = []
  }

  /** Drops the last rows, between a quarter and three quarters of them, some runs a call: all of them take too long for one step. */
  trim(): void {
    if (this.untrimmed.length === 0) {
      this.closeRun(1)
      const middles = this.runs.map((run) => ({ row: run[(run.length - 1) >> 1]!, weight: run.length }))
      middles.sort((left, right) => compareRows(left.row, right.row))
      let weight = 0
      this.last = middles.find((middle) => (weight += middle.weight) >= this.rowCount / 2)!.row
      this.untrimmed = [...this.runs]
    }
    for (const run of this.untrimmed.splice(-RUNS_TRIMMED_AT_ONCE)) this.drop(run.splice(placeAfter(run, this.last!)))
    if (this.untrimmed.length === 0) this.runs = this.runs.filter((run) => run.length > 0)
  }

  /** Returns the next rows in order, at most `count`; an empty array at the end. */
  merge(): (count: number) => SortRow[] {
    this.closeRun(1)
    const { runs } = this
    const places = runs.map(() => 0)
    const rowOf = (run: number): SortRow => runs[run]![places[run]!]!
    /** Runs by their next row: none comes before the one at half its place. */
    const heap = Array.from(runs.keys()).sort((left, right) => compareRows(rowOf(left), rowOf(right)))
    const sink = (): void => {
      const run = heap[0]!
      let at = 0
      for (let child = 1; child < heap.length; child = at * 2 + 1) {
        if (child + 1 < heap.length && compareRows(rowOf(heap[child + 1]!), rowOf(heap[child]!)) < 0) child++
        if (compareRows(rowOf(run), rowOf(heap[child]!)) <= 0) break
        heap[at] = heap[child]!
        at = child
      }
      heap[at] = run
    }
    return (count) => {
      const found: SortRow[] = []
      while (found.length < count && heap.length > 0) {
        const run = heap[0]!
        found.push(rowOf(run))
        if (++places[run]! === runs[run]!.length) {
          const end = heap.pop()!
          if (heap.length === 0) break
          heap[0] = end
        }
        sink()
      }
      return found
    }
  }

  private drop(rows: readonly SortRow[]): void {
    this.rowCount -= rows.length
    for (const row of rows) this.bytes -= sizeOf(row)
  }
}

/** Index in the run of the first row after this one. */
function placeAfter(run: readonly SortRow[], row: SortRow): number {
  return firstWhere(0, run.length, (place) => compareRows(run[place]!, row) > 0)
}

function compareRows(left: SortRow, right: SortRow): number {
  return left.key < right.key ? -1 : left.key > right.key ? 1 : left.number - right.number
}

function sizeOf({ key, values }: SortRow): number {
  let bytes = ROW_BYTES + key.length
  for (const value of values ?? []) bytes += typeof value === 'string' ? 16 + value.length * 2 : 16
  return bytes
}
