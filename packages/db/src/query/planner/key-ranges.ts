/**
 * Turns sets of values into ranges of keys: of an index's entries, and of ids.
 *
 * The key below a value is the first one of its entries; the key above it comes after the last of them. A descending
 * field swaps the two.
 */
import type { Key } from '../../base/brand.ts'
import {
  encodeIdKey,
  ID_BYTES_MAX,
  numberKey,
  prefixUpperBound,
  decodeKey,
  KEY_COMPONENT_BYTES_MAX,
} from '../../codec/key-encoding.ts'
import { encodeIndexValue } from '../../index/index-key.ts'
import type { KeyRange } from '../../kv/key-value-store.ts'
import { intersect, intervalsOf, STRINGS, type Cut, type Interval, type ValueSet } from '../ast/value-set.ts'

/** A key holds a shorter string whole, whatever its characters are. */
const SHORT_TEXT = KEY_COMPONENT_BYTES_MAX / 8

/** The entries that start with `prefix` and whose next field is in the interval. */
export function entryRange(prefix: string, [start, end]: Interval, descending: boolean): KeyRange {
  if (end !== undefined && end.value === start.value && start.above < end.above) {
    const first = (prefix + encodeIndexValue(start.value, descending)) as Key
    return { gte: first, lt: prefixUpperBound(first) }
  }
  const key = ({ value, above }: Cut): Key | undefined => {
    const first = prefix + encodeIndexValue(value, descending)
    return above === descending ? (first as Key) : prefixUpperBound(first)
  }
  if (descending) return { gte: end === undefined ? (prefix as Key) : key(end), lt: key(start) }
  return { gte: key(start), lt: end === undefined ? prefixUpperBound(prefix) : key(end) }
}

/** The entries that start with `prefix`, which has all fields, and whose document was created in the interval. */
export function creationRange(prefix: string, [start, end]: Interval): KeyRange {
  const key = ({ value, above }: Cut): string | undefined =>
    typeof value === 'number' ? prefix + numberKey(above ? value + 1 : value) : undefined
  return { gte: (key(start) ?? prefix) as Key, lt: (end && (key(end) as Key | undefined)) ?? prefixUpperBound(prefix) }
}

/** False if a value at an end is too long to be in a key whole: entries that equal it may stand for others. */
export function hasExactKeys(values: ValueSet): boolean {
  return values.every(({ value }) => {
    if (typeof value === 'string' && value.length < SHORT_TEXT) return true
    if (typeof value !== 'string' && (typeof value !== 'object' || value === null)) return true
    const encoded = encodeIndexValue(value, false)
    return encoded.length < KEY_COMPONENT_BYTES_MAX && decodeKey(encoded, 0, false).exact
  })
}

/** The ids in the set; undefined if it ends at something longer than any id. */
export function idRanges(values: ValueSet): KeyRange[] | undefined {
  const isText = typeof values[0]?.value === 'string' && typeof values.at(-1)!.value === 'string'
  const ids = isText && values.length % 2 === 0 ? values : intersect(values, STRINGS)
  if (ids.some(({ value }) => typeof value === 'string' && value.length * 3 > ID_BYTES_MAX)) return undefined
  const key = ({ value, above }: Cut): Key | undefined =>
    typeof value === 'string' ? ((encodeIdKey(value) + (above ? '\0' : '')) as Key) : undefined
  return intervalsOf(ids).map(([start, end]) => ({ gte: key(start), lt: key(end!) }))
}

/** Merges ranges: ascending, and joined where they overlap. */
export function mergeRanges(ranges: readonly KeyRange[]): KeyRange[] {
  const merged: KeyRange[] = []
  for (const range of ranges.toSorted((left, right) => ((left.gte ?? '') < (right.gte ?? '') ? -1 : 1))) {
    const last = merged.at(-1)
    if (last === undefined || (last.lt !== undefined && last.lt < (range.gte ?? ''))) merged.push(range)
    else if (last.lt !== undefined && (range.lt === undefined || range.lt > last.lt)) {
      merged[merged.length - 1] = { gte: last.gte, lt: range.lt }
    }
  }
  return merged
}
