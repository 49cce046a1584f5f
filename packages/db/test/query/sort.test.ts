import { expect, test } from 'vitest'
import type { Operator } from '../../src/query/operators/operator.ts'
import { SORT_ROWS_MAX, sortRows, type SortRow } from '../../src/query/operators/sort.ts'

/** Rows with descending keys, so that none is ruled out by those before. */
function descending(count: number): Operator<SortRow<number>> {
  let next = count
  return {
    next: (wanted) => {
      if (next === 0) return undefined
      const size = Math.min(wanted, next)
      next -= size
      return Array.from({ length: size }, (_, at) => ({
        key: String(next + size - at).padStart(8, '0'),
        row: next + size - at,
      }))
    },
  }
}

function drain<Row>(operator: Operator<Row>): Row[] {
  const all: Row[] = []
  for (let rows = operator.next(100); rows !== undefined; rows = operator.next(100)) all.push(...rows)
  return all
}

test('with a limit any number of rows can be sorted', () => {
  expect(drain(sortRows(descending(SORT_ROWS_MAX + 10), 2, 3))).toEqual([3, 4, 5])
})

test('without one there is an end to it', () => {
  expect(() => drain(sortRows(descending(SORT_ROWS_MAX + 10), 0, Infinity))).toThrow(
    expect.objectContaining({ code: 'PANNIER_LIMIT' }),
  )
})
