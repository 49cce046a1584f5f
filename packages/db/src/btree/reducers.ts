/**
 * The built-in reducers of views, over entries as codec/view-entry.ts has them. `_count` needs none: trees count their entries.
 */
import { hash128 } from '../codec/hash128.ts'
import { decodeViewValue, decodeViewValueAt, emittedKeyEnd, viewValueArray } from '../codec/view-entry.ts'
import { byteStringOf, asArray, ByteReader, ByteWriter, readByteString } from '../codec/bytes.ts'
import type { ReducedEntries, StoredReducer } from './reducer.ts'
import { mergeStatistics, statisticsOf, type NumberStatistics, type Statistics } from './statistics.ts'
import { addValues, type Sum } from './sum.ts'

type BuiltInReducerName = '_sum' | '_stats' | '_approx_count_distinct'

export function reducerOf(name: BuiltInReducerName): StoredReducer<unknown> {
  return REDUCERS[name]
}

const sum: StoredReducer<Sum> = {
  name: '_sum',
  reduce: (entries) => foldValues<Sum>(entries, 0, addValues),
  combine: (parts) => parts.reduce((total, part) => addValues(total, part), 0),
  encode: viewValueArray,
  decode: (bytes) => decodeViewValue(bytes) as Sum,
}

const statistics: StoredReducer<Statistics> = {
  name: '_stats',
  reduce: (entries) =>
    foldValues<Statistics | undefined>(entries, undefined, (total, value) =>
      mergeStatistics(total, statisticsOf(value)),
    ),
  combine: (parts) => parts.reduce((total, part) => mergeStatistics(total, part)),
  encode: encodeStatistics,
  decode: decodeStatistics,
}

/**
 * How many distinct keys there are. Equal keys are neighbours, and a reduction is only ever of neighbours: so it is enough to
 * count, and to know the first and the last key (by hash) of each part. That makes the answer exact in 20 bytes, where the sketch
 * that gives this reducer its name (P. Flajolet et al., HyperLogLog, 2007) takes 1.5 KB for an error of 2 %.
 */
export interface DistinctKeys {
  readonly count: number
  readonly first: string
  readonly last: string
}

const KEY_HASH_BYTES = 8

const distinct: StoredReducer<DistinctKeys> = {
  name: '_approx_count_distinct',
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

const REDUCERS: Readonly<Record<BuiltInReducerName, StoredReducer<unknown>>> = {
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
