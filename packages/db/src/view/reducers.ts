/**
 * The built-in reducers of views, over the entries of codec/view-entry.ts. `_count` needs no reducer: trees count their
 * entries.
 */
import { REDUCER_IDS, type ReducerName } from './view-definition.ts'
import { hash128 } from '../codec/hash.ts'
import { decodeViewValue, decodeViewValueAt, emittedKeyEnd, viewValueArray } from '../codec/view-entry.ts'
import { byteStringOf, asArray, ByteReader, ByteWriter, corruptBytes, readByteString } from '../codec/bytes.ts'
import type { ReducedEntries, ReducerId, StoredReducer } from '../btree/reducer.ts'
import { isPlainObject } from '../codec/collation.ts'
import { defineField } from '../codec/field-path.ts'

/** Throws PANNIER_CORRUPT for an unknown id. */
export function reducerOfId(id: ReducerId): StoredReducer<unknown> {
  const reducer = Object.values(REDUCERS).find((one) => one.id === id)
  if (reducer === undefined) throw corruptBytes(`a tree has the unknown reducer ${id}`)
  return reducer
}

export function reducerOf(name: ReducerName): StoredReducer<unknown> {
  return REDUCERS[name]
}

const sum: StoredReducer<Sum> = {
  id: REDUCER_IDS._sum,
  reduce: (entries) => foldValues<Sum>(entries, 0, addValues),
  combine: (parts) => parts.reduce((total, part) => addValues(total, part), 0),
  encode: viewValueArray,
  decode: (bytes) => decodeViewValue(bytes) as Sum,
}

const statistics: StoredReducer<Statistics> = {
  id: REDUCER_IDS._stats,
  reduce: (entries) =>
    foldValues<Statistics | undefined>(entries, undefined, (total, value) =>
      mergeStatistics(total, statisticsOf(value)),
    ),
  combine: (parts) => parts.reduce((total, part) => mergeStatistics(total, part)),
  encode: encodeStatistics,
  decode: decodeStatistics,
}

/**
 * The number of distinct keys. Equal keys are neighbours, and a reduction covers neighbours only. So a count and the
 * hashes of the first and the last key of each part are enough. That makes the answer exact in 20 bytes. The sketch
 * that gives this reducer its name (P. Flajolet et al., HyperLogLog, 2007) takes 1.5 KB for an error of 2 %.
 */
export interface DistinctKeys {
  readonly count: number
  readonly first: string
  readonly last: string
}

const KEY_HASH_BYTES = 8

const distinct: StoredReducer<DistinctKeys> = {
  id: REDUCER_IDS._approx_count_distinct,
  reduce: distinctKeys,
  combine: (parts) =>
    parts.reduce((left, right) => ({
      count: left.count + right.count - (left.last === right.first ? 1 : 0),
      first: left.first,
      last: right.last,
    })),
  encode: ({ count, first, last }) => {
    const writer = new ByteWriter(24)
    writer.varint(count)
    writer.byteString(first)
    writer.byteString(last)
    return writer.finish()
  },
  decode: (bytes) => {
    const reader = new ByteReader(bytes)
    return {
      count: reader.varint(),
      first: byteStringOf(reader, KEY_HASH_BYTES),
      last: byteStringOf(reader, KEY_HASH_BYTES),
    }
  },
}

const REDUCERS: Readonly<Record<ReducerName, StoredReducer<unknown>>> = {
  _sum: sum as StoredReducer<unknown>,
  _stats: statistics as StoredReducer<unknown>,
  _approx_count_distinct: distinct as StoredReducer<unknown>,
}

function foldValues<Total>(
  entries: ReducedEntries,
  start: Total,
  add: (total: Total, value: unknown) => Total,
): Exclude<Total, undefined> | undefined {
  let total = start
  for (let at = 0; at < entries.count; at++) {
    let value = entries.read?.(at, decodeViewValueAt)
    if (value === undefined) {
      const bytes = entries.value(at)
      if (bytes === undefined) return undefined
      value = decodeViewValue(bytes)
    }
    total = add(total, value)
  }
  return total as Exclude<Total, undefined>
}

function distinctKeys(entries: ReducedEntries): DistinctKeys {
  let count = 0
  let first = ''
  let before: string | undefined
  for (let at = 0; at < entries.count; at++) {
    const entryKey = entries.key(at)
    const key = entryKey.slice(0, emittedKeyEnd(entryKey))
    if (key === before) continue
    count++
    before = key
    if (at === 0) first = key
  }
  return { count, first: keyHash(first), last: keyHash(before!) }
}

function keyHash(key: string): string {
  return readByteString(hash128(asArray(key)), 0, KEY_HASH_BYTES)
}

const FIELDS = ['sum', 'count', 'min', 'max', 'sumsqr'] as const

/** Five values after one another; anything but the statistics of plain numbers is JSON after an FF. */
function encodeStatistics(value: Statistics): Uint8Array {
  const writer = new ByteWriter(32)
  if (Array.isArray(value) || 'error' in value) {
    writer.u8(255)
    writer.raw(viewValueArray(value))
    return writer.finish()
  }
  for (const field of FIELDS) {
    const bytes = viewValueArray((value as NumberStatistics)[field])
    writer.u8(bytes.length)
    writer.raw(bytes)
  }
  return writer.finish()
}

function decodeStatistics(bytes: Uint8Array): Statistics {
  if (bytes[0] === 255) return decodeViewValue(bytes.subarray(1)) as Statistics
  const reader = new ByteReader(bytes)
  const result: Record<string, unknown> = {}
  for (const field of FIELDS) result[field] = decodeViewValue(reader.raw(reader.u8()))
  return result as unknown as Statistics
}

// `_sum`: numbers, arrays of numbers element by element, objects field by field, as in CouchDB.

/** A JSON value; an error object where something could not be added. */
type Sum = unknown

const SUM_REASON =
  'The _sum function requires that map values be numbers, arrays of numbers, or objects. Objects cannot be mixed with other ' +
  'data structures. Objects can be arbitrarily nested, provided that the values for each key are themselves numbers, arrays ' +
  'of numbers, or objects.'

/** An error stays what it is. `total` is 0 at first. */
export function addValues(total: Sum, value: unknown): Sum {
  if (typeof total === 'number' && typeof value === 'number') return total + value
  const error = reduceError(total) ?? reduceError(value)
  if (error !== undefined) return error
  return added(total, value) ?? { error: 'builtin_reduce_error', reason: SUM_REASON, caused_by: value }
}

/** Undefined if they can't be added. */
function added(total: unknown, value: unknown): unknown {
  if (typeof value === 'number' && typeof total === 'number') return total + value
  if (isPlainObject(value)) {
    if (total === 0) return areSummable(value) ? value : undefined
    return isPlainObject(total) ? addedObjects(total, value) : undefined
  }
  const left = typeof total === 'number' ? [total] : total
  const right = typeof value === 'number' ? [value] : value
  if (!Array.isArray(left) || !Array.isArray(right)) return undefined
  const [longer, shorter] = left.length >= right.length ? [left, right] : [right, left]
  if (!right.every((element) => typeof element === 'number')) return undefined
  return longer.map((element: number, at) => element + ((shorter[at] as number | undefined) ?? 0))
}

/** Fields in the order of their names. */
function addedObjects(left: Record<string, unknown>, right: Record<string, unknown>): unknown {
  const result = {}
  for (const name of [...new Set([...Object.keys(left), ...Object.keys(right)])].sort()) {
    const value = !Object.hasOwn(right, name)
      ? left[name]
      : added(Object.hasOwn(left, name) ? left[name] : 0, right[name])
    if (value === undefined) return undefined
    defineField(result, name, value)
  }
  return result
}

function areSummable(value: unknown): boolean {
  if (Array.isArray(value)) return value.every((element) => typeof element === 'number')
  return isPlainObject(value) ? Object.values(value).every(areSummable) : typeof value === 'number'
}

// `_stats`: of numbers, of arrays of numbers element by element, and of statistics made before, as in CouchDB.

/** The result of the reduce `_stats` for numbers. */
export interface NumberStatistics {
  /** The sum. */
  readonly sum: number
  /** The count: how many numbers there are. */
  readonly count: number
  /** The lowest number (min). */
  readonly min: number
  /** The highest number (max). */
  readonly max: number
  /** The sum of the squares. */
  readonly sumsqr: number
}

type Statistics = NumberStatistics | readonly Statistics[] | ReduceError

const STATS_REASON =
  'The _stats function requires that map values be numbers, arrays of numbers, or objects with the numbers sum, count, min, ' +
  'max and sumsqr.'

/** The statistics of one value. */
function statisticsOf(value: unknown): Statistics {
  if (typeof value === 'number') return { sum: value, count: 1, min: value, max: value, sumsqr: value * value }
  if (Array.isArray(value)) {
    const all = value.map(statisticsOf)
    return all.find((element) => reduceError(element) !== undefined) ?? all
  }
  const error = reduceError(value)
  if (error !== undefined) return error
  if (isPlainObject(value)) {
    const { sum, count, min, max, sumsqr } = value
    const numbers = [sum, count, min, max, sumsqr]
    if (numbers.every((number) => typeof number === 'number'))
      return { sum, count, min, max, sumsqr } as NumberStatistics
  }
  return { error: 'builtin_reduce_error', reason: STATS_REASON, caused_by: value }
}

function mergeStatistics(left: Statistics | undefined, right: Statistics): Statistics {
  if (left === undefined) return right
  const error = reduceError(left) ?? reduceError(right)
  if (error !== undefined) return error
  if (Array.isArray(left) && Array.isArray(right) && left.length === right.length) {
    const merged = left.map((element: Statistics, at) => mergeStatistics(element, right[at] as Statistics))
    return merged.find((element) => reduceError(element) !== undefined) ?? merged
  }
  if (Array.isArray(left) || Array.isArray(right))
    return { error: 'builtin_reduce_error', reason: STATS_REASON, caused_by: right }
  const [a, b] = [left as NumberStatistics, right as NumberStatistics]
  return {
    sum: a.sum + b.sum,
    count: a.count + b.count,
    min: Math.min(a.min, b.min),
    max: Math.max(a.max, b.max),
    sumsqr: a.sumsqr + b.sumsqr,
  }
}

/**
 * The result of a built-in reducer for values that it can't reduce. As in CouchDB, it is a row with an error in it, not
 * a failure.
 */
interface ReduceError {
  readonly error: 'builtin_reduce_error'
  readonly reason: string
  readonly caused_by?: unknown
}

/** The value, if it is such an error. */
function reduceError(value: unknown): ReduceError | undefined {
  return isPlainObject(value) && value['error'] === 'builtin_reduce_error'
    ? (value as unknown as ReduceError)
    : undefined
}
