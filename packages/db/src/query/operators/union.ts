/** The rows of several scans, each document once. */
import type { EntryRow } from './entry-row.ts'
import { NumberSet } from './number-set.ts'
import type { Operator } from './operator.ts'

export function unionScan(inputs: readonly Operator<EntryRow>[]): Operator<EntryRow> {
  const seen = new NumberSet()
  let at = 0
  return {
    next: (count) => {
      const rows = inputs[at]?.next(count)
      if (rows !== undefined) return rows.filter(({ number }) => seen.add(number))
      return at++ < inputs.length ? [] : undefined
    },
  }
}
