/**
 * Reductions: the aggregates of ranges of entries, kept for whole pages.
 *
 * Guarantees: `reduce` gets entries, and `combine` parts, in key order and without gaps. Relies on: a stored reduction
 * is a pure function of the entries below, so an integrity check can compute it again.
 */
import type { MaybePromise } from '../base/async.ts'
import type { Key } from '../base/brand.ts'
import { assert } from '../base/errors.ts'
import type { Child } from './branch.ts'

/** The most bytes of a reduction. Larger ones are not kept; a reader computes them from what is below. */
const REDUCTION_BYTES_MAX = 1024

/** Some entries, in key order. */
export interface ReducedEntries {
  readonly count: number
  key(index: number): Key
  /** A view: never change it. Undefined where it is too large to be at hand. */
  value(index: number): Uint8Array | undefined
  /** The result of `read` for the value if it needs no subarray; otherwise undefined. */
  read?<T>(index: number, read: (bytes: Uint8Array, start: number, end: number) => T): T | undefined
}

/** Both functions must be pure: their results are kept for as long as a page exists. */
export interface Reducer<Result> {
  /** At least one entry. Undefined only if a value is needed that is not at hand. */
  reduce(entries: ReducedEntries): Result | undefined
  /** At least one part. */
  combine(parts: readonly Result[]): Result
}

/**
 * The number of a reducer in files, 1 to 15. The layer that owns the reducer chooses the number, which never changes.
 */
export type ReducerId = number

/** A reducer that trees may be created with: branches then carry the reduction of what is below each child. */
export interface StoredReducer<Result> extends Reducer<Result> {
  readonly id: ReducerId
  encode(result: Result): Uint8Array
  decode(bytes: Uint8Array): Result
}

/** Throws PANNIER_CORRUPT for an unknown id. */
type LoadReducer = (id: ReducerId) => MaybePromise<StoredReducer<unknown>>

let load: LoadReducer | undefined

/** Tells this layer where reducers come from: a tree that is kept reduced is written, and checked, by its own. */
export function registerReducers(by: LoadReducer): void {
  load = by
}

export function loadReducer(id: ReducerId): MaybePromise<StoredReducer<unknown>> {
  assert(load !== undefined, 'reducers are registered')
  return load(id)
}

/** The reduction of a page of entries; undefined: it is not kept. */
export function encodedReduction<Result>(
  reducer: StoredReducer<Result>,
  entries: ReducedEntries,
): Uint8Array | undefined {
  const result = reducer.reduce(entries)
  return result === undefined ? undefined : bounded(reducer.encode(result))
}

/** The reduction of a page of children; undefined if a child has no reduction. */
export function combinedReduction<Result>(
  reducer: StoredReducer<Result>,
  children: readonly Child[],
): Uint8Array | undefined {
  const parts: Result[] = []
  for (const { reduction } of children) {
    if (reduction === undefined) return undefined
    parts.push(reducer.decode(reduction))
  }
  return bounded(reducer.encode(reducer.combine(parts)))
}

function bounded(bytes: Uint8Array): Uint8Array | undefined {
  return bytes.length <= REDUCTION_BYTES_MAX ? bytes : undefined
}
