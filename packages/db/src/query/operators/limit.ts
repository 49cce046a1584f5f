/** Ends after `limit` rows, and asks for no more than these. */
import type { Operator } from './operator.ts'

export function limitRows<Row>(input: Operator<Row>, limit: number): Operator<Row> {
  let remaining = limit
  return {
    next: (count) => {
      if (remaining === 0) return undefined
      const rows = input.next(Math.min(count, remaining))
      remaining -= rows?.length ?? 0
      return rows
    },
  }
}
