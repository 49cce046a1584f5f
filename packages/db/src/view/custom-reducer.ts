/**
 * A reduce function of the user's as a reducer of trees. One that gives a promise is waited for as a page is: its result is a Miss, and known
 * when the step is tried again.
 */
import { isPromise } from '../base/async.ts'
import { Miss } from '../base/miss.ts'
import type { ReducedEntries, Reducer } from '../btree/reducer.ts'
import { decodeViewKey, decodeViewValue, documentIdOf, emittedKeyEnd } from '../codec/view-entry.ts'
import type { ReduceFunction } from './view-definition.ts'

export function customReducer(reduce: ReduceFunction): Reducer<unknown> {
  const results = new Map<string, unknown>()
  const call: ReduceFunction = (keys, values, rereduce) => {
    // What is in progress is asked for again with equal arguments. Functions that answer at once are never looked up.
    const name = results.size === 0 ? undefined : nameOf(keys, values)
    if (name !== undefined && results.has(name)) return results.get(name)
    const result = reduce(keys, values, rereduce)
    if (isPromise(result)) throw new ReduceMiss(result, results, name ?? nameOf(keys, values))
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

/** Keeps the result for as long as the step goes on that has missed it. */
class ReduceMiss extends Miss {
  readonly #result: Promise<unknown>
  readonly #results: Map<string, unknown>
  readonly #name: string

  constructor(result: Promise<unknown>, results: Map<string, unknown>, name: string) {
    super()
    this.#result = result
    this.#results = results
    this.#name = name
  }

  override async load(): Promise<() => void> {
    this.#results.set(this.#name, (await this.#result) ?? null)
    return () => void this.#results.delete(this.#name)
  }

  override pages(): number {
    return 0
  }
}

function addRow(entries: ReducedEntries, at: number, keys: [unknown, string][], values: unknown[]): void {
  const entryKey = entries.key(at)
  const value = entries.value(at)!
  keys.push([decodeViewKey(entryKey, value), documentIdOf(entryKey, emittedKeyEnd(entryKey))])
  values.push(decodeViewValue(value))
}
