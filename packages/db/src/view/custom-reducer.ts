/** A reduce function of the user's as a reducer of trees. */
import type { ReducedEntries, Reducer } from '../btree/reducer.ts'
import { decodeViewKey, decodeViewValue, documentIdOf, emittedKeyEnd } from '../codec/view-entry.ts'
import type { ReduceFunction } from './view-definition.ts'

export function customReducer(reduce: ReduceFunction): Reducer<unknown> {
  return {
    reduce: (entries) => {
      const keys: [unknown, string][] = []
      const values: unknown[] = []
      for (let at = 0; at < entries.count; at++) addRow(entries, at, keys, values)
      return reduce(keys, values, false) ?? null
    },
    combine: (parts) => reduce(null, [...parts], true) ?? null,
  }
}

function addRow(entries: ReducedEntries, at: number, keys: [unknown, string][], values: unknown[]): void {
  const entryKey = entries.key(at)
  const value = entries.value(at)!
  keys.push([decodeViewKey(entryKey, value), documentIdOf(entryKey, emittedKeyEnd(entryKey))])
  values.push(decodeViewValue(value))
}
