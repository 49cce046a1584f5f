/** The rows of one scan, in its order, whose documents another scan has too. The other is walked first, for the numbers alone. */
import type { EntryRow } from './entry-row.ts'
import { NumberSet } from './number-set.ts'
import { BATCH_ROWS_MAX, changeBatches, type Operator } from './operator.ts'

export function intersectionScan(rows: Operator<EntryRow>, other: Operator<EntryRow>): Operator<EntryRow> {
  const numbers = new NumberSet()
  const inBoth = changeBatches(rows, true, (batch) => ({
    rows: batch.filter(({ number }) => numbers.has(number)),
    taken: batch.length,
  }))
  let isWalked = false
  return {
    next: (count) => {
      if (isWalked) return inBoth.next(count)
      const batch = other.next(BATCH_ROWS_MAX)
      if (batch === undefined) isWalked = true
      else for (const { number } of batch) numbers.add(number)
      return []
    },
  }
}
