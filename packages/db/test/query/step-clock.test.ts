import { expect, test } from 'vitest'
import { stepClock } from '../../src/query/operators/operator.ts'

/** Rows that a step takes, of which each lasts that long; `lateMs`: before the first one. */
function rowsTaken(rowMs: number, lateMs = 0): number {
  let nowMs = 0
  const isLate = stepClock(() => nowMs)
  nowMs += lateMs
  let rows = 0
  while (rows < 10_000 && !isLate()) {
    rows++
    nowMs += rowMs
  }
  return rows
}

test('a step of slow rows ends after the row that took it over its time', () => {
  expect([rowsTaken(100), rowsTaken(5), rowsTaken(3)]).toEqual([1, 2, 3])
})

test('a step takes one row, however late it begins', () => {
  expect(rowsTaken(0, 1000)).toBe(1)
})

test('quick rows look at the clock now and then', () => {
  expect(rowsTaken(0.01)).toBeGreaterThan(800)
  expect(rowsTaken(0.01)).toBeLessThan(830)
})
