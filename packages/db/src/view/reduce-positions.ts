/** Reduces rows from one position to another. */
import type { Key } from '../base/brand.ts'
import type { Reducer } from '../btree/reducer.ts'
import { isKeyCut, runOf } from '../codec/view-entry.ts'
import type { Entry, TreeReader } from '../kv/key-value-store.ts'
import { readRun, type Run } from './row-cursor.ts'

/** How the rows of a view are reduced. */
export interface RowReducer {
  /** Undefined: they are counted. */
  readonly reducer: Reducer<unknown> | undefined
  /** What users see of a result. */
  readonly finish: (result: unknown) => unknown
}

/** `from < to`. Not finished. May miss. */
export function reducePositions(rows: TreeReader, { reducer }: RowReducer, from: number, to: number): unknown {
  if (reducer === undefined) return to - from
  const parts: unknown[] = []
  const add = (part: unknown): void => {
    if (part !== undefined) parts.push(part)
  }
  let start = from
  let end = to
  const [lower, upper] = [rows.select(from), rows.select(to - 1)]
  // A run that the range cuts is not reduced in the order of the tree.
  const first = runAt(rows, lower)
  if (first !== undefined && (first.from < start || first.from + first.entries.length > end)) {
    start = Math.min(end, first.from + first.entries.length)
    add(reduceRun(reducer, first, from, start))
  }
  const last = start < end ? runAt(rows, upper) : undefined
  const isLastCut = last !== undefined && last.from + last.entries.length > end
  if (isLastCut) end = last.from
  if (start < end) {
    const gte = start === from ? lower?.key : rows.select(start)?.key
    const lt = end === to ? (`${upper!.key}\0` as Key) : rows.select(end)?.key
    add(rows.reduce({ gte, lt }, reducer))
  }
  if (isLastCut) add(reduceRun(reducer, last, end, to))
  return parts.length === 1 ? parts[0] : reducer.combine(parts)
}

function runAt(rows: TreeReader, entry: Entry | undefined): Run | undefined {
  return entry !== undefined && isKeyCut(entry.key, entry.value) ? readRun(rows, runOf(entry.key)) : undefined
}

function reduceRun(reducer: Reducer<unknown>, run: Run, from: number, to: number): unknown {
  const entries = run.entries.slice(from - run.from, to - run.from)
  return reducer.reduce({
    count: entries.length,
    key: (at) => entries[at]!.entryKey,
    value: (at) => entries[at]!.value,
  })
}
