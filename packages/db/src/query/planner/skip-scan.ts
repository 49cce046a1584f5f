/**
 * Skip scans: look up an index by a field although a field before it has no fixed value. The scan goes from each value
 * of the first field to the next. It pays if these values are few: one look-up for each then replaces a walk over all
 * entries.
 */
import type { Key } from '../../base/brand.ts'
import { together } from '../../base/miss.ts'
import { prefixUpperBound, decodeKey } from '../../codec/key-encoding.ts'
import type { EntryTree } from '../query-source.ts'
import type { Interval } from '../ast/value-set.ts'
import { entryRange } from './key-ranges.ts'

export interface SkipScanLimits {
  /** The least number of entries to walk for one value that is looked up. */
  readonly entriesMin: number
  /** Values that are looked up, at most. */
  readonly valuesMax: number
}

/** Values after which it is guessed how many there will be. */
const VALUES_PER_GUESS = 16

/**
 * The distinct starts of entries: one of the prefixes, then each value of the next field that is in one of the
 * intervals. Undefined: they are too many. May miss.
 */
export function fieldPrefixes(
  tree: EntryTree,
  within: readonly string[],
  intervals: readonly Interval[],
  descending: boolean,
  limits: SkipScanLimits,
): readonly string[] | undefined {
  const ranges = within.flatMap((prefix) =>
    intervals.map((interval) => ({ prefixLength: prefix.length, range: entryRange(prefix, interval, descending) })),
  )
  const counts = together(ranges, ({ range }) => tree.count(range))
  const entries = counts.reduce((sum, count) => sum + count, 0)
  const valuesMax = Math.min(limits.valuesMax, Math.floor(entries / limits.entriesMin))
  const prefixes: string[] = []
  let passed = 0
  for (const [at, { prefixLength, range }] of ranges.entries()) {
    let gte: Key | undefined = range.gte
    for (let going = counts[at]! > 0; going;) {
      const cursor = tree.cursor({ gte, lt: range.lt })
      if (!cursor.next()) break
      if (prefixes.length >= valuesMax) return undefined
      const { key } = cursor
      const prefix = key.slice(0, decodeKey(key, prefixLength, descending).next)
      prefixes.push(prefix)
      gte = prefixUpperBound(prefix)
      going = gte !== undefined && (range.lt === undefined || gte < range.lt)
      if (prefixes.length % VALUES_PER_GUESS === 0 && going) {
        const seen = passed + tree.count({ gte: range.gte, lt: gte })
        if (prefixes.length * entries > valuesMax * seen) return undefined
      }
    }
    passed += counts[at]!
  }
  return prefixes
}
