/**
 * A user's reduce function as a reducer of trees. If it returns a promise, its result is a Miss, like a page that is
 * not loaded. The result is known when the step runs again.
 */
import { isThenable } from '../base/callback.ts'
import { Miss } from '../base/miss.ts'
import type { ReducedEntries, Reducer } from '../btree/reducer.ts'
import { decodeViewKey, decodeViewValue, documentIdOf, emittedKeyEnd, isKeyCut, runOf } from '../codec/view-entry.ts'
import type { ReduceFunction } from './view-definition.ts'
import type { Key } from '../base/brand.ts'
import type { Entry, TreeReader } from '../kv/key-value-store.ts'
import { readRun, type Run } from './row-cursor.ts'

export function customReducer(reduce: ReduceFunction): Reducer<unknown> {
  const results = new Map<string, unknown>()
  const call: ReduceFunction = (keys, values, rereduce) => {
    // A pending call comes again with equal arguments. Functions that answer at once are never looked up.
    const name = results.size === 0 ? undefined : nameOf(keys, values)
    if (name !== undefined && results.has(name)) return results.get(name)
    const result = reduce(keys, values, rereduce)
    if (isThenable(result)) {
      const missed = name ?? nameOf(keys, values)
      throw new Miss(async () => {
        results.set(missed, (await result) ?? null)
        // The result is kept as long as the step that missed it runs.
        return () => void results.delete(missed)
      })
    }
    return result ?? null
  }
  return {
    reduce: (entries) => {
      const keys: [unknown, string][] = []
      const values: unknown[] = []
      for (let at = 0; at < entries.count; at++) addRow(entries, at, keys, values)
      return call(keys, values, false)
    },
    combine: (parts) => call(null, [...parts], true),
  }
}

function nameOf(keys: unknown, values: readonly unknown[]): string {
  return JSON.stringify([keys, values])
}

function addRow(entries: ReducedEntries, at: number, keys: [unknown, string][], values: unknown[]): void {
  const entryKey = entries.key(at)
  const value = entries.value(at)!
  keys.push([decodeViewKey(entryKey, value), documentIdOf(entryKey, emittedKeyEnd(entryKey))])
  values.push(decodeViewValue(value))
}

/** How the rows of a view are reduced. */
export interface RowReducer {
  /** Undefined: they are counted. */
  readonly reducer: Reducer<unknown> | undefined
  /** Finishes the result: the value that users get. */
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
