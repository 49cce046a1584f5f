/** Union and intersection of scans, and scans of sets: each document comes once. */
import { NumberSetBuilder, type NumberSet } from '../sets/number-set.ts'
import type { ScanOptions } from './scans.ts'
import { type EntryRow, type Operator, BATCH_ROWS_MAX, changeBatches } from './operator.ts'

/** The rows of one scan after the other. */
export function unionScan(inputs: readonly Operator<EntryRow>[]): Operator<EntryRow> {
  const seen = new NumberSetBuilder()
  let at = 0
  return {
    next: (count) => {
      const rows = inputs[at]?.next(count)
      if (rows !== undefined) return rows.filter(({ number }) => seen.add(number))
      return at++ < inputs.length ? [] : undefined
    },
  }
}

/** The documents with these numbers, in their order. */
export function numbersScan(numbers: NumberSet, { reverse, skip, fieldCount }: ScanOptions): Operator<EntryRow> {
  const values = fieldCount === undefined ? undefined : []
  let at = skip
  return {
    next: (count) => {
      const page = numbers.page(at, count, reverse)
      at += page.length
      return page.length === 0 ? undefined : page.map((number) => ({ number, values }))
    },
  }
}

/** The rows of one scan, in its order, whose documents another scan has too. The other is walked first, for the numbers alone. */
export function intersectionScan(rows: Operator<EntryRow>, other: Operator<EntryRow>): Operator<EntryRow> {
  const numbers = new NumberSetBuilder()
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
