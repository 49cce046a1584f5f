import { expect, test } from 'vitest'
import { barOf, describeBar, judge, rows } from './bars.ts'
import { comparisonIn, formatTable } from './table.ts'

const [bulkInsert] = rows

test('a bar is passed, nearly passed or missed', () => {
  expect(judge({ ratioMin: 15 }, 100, 1_500)).toBe('pass')
  expect(judge({ ratioMin: 15 }, 105, 1_500)).toBe('near')
  expect(judge({ ratioMin: 15 }, 200, 1_500)).toBe('MISS')
  expect(judge({ millisecondsMax: 2 }, 1.9, undefined)).toBe('pass')
})

test('either of two requirements is enough', () => {
  const bar = { ratioMin: 0.5, millisecondsMax: 30 }
  expect(judge(bar, 29, 1)).toBe('pass')
  expect(judge(bar, 100, 50)).toBe('pass')
  expect(judge(bar, 100, 10)).toBe('MISS')
  expect(describeBar(bar)).toBe('within 2x or <= 30 ms')
})

test('a ratio cannot be judged without the rival', () => {
  expect(judge({ ratioMin: 1 }, 1, undefined)).toBeUndefined()
})

test('each place has its own bars', () => {
  expect(barOf(bulkInsert!, 'chromium')).toEqual({ ratioMin: 15 })
  expect(barOf(bulkInsert!, 'node')).toEqual({ ratioMin: 1 })
})

test('the table lists what was measured, and no time that goes with a wrong answer', () => {
  const samples = {
    'indexed-db': { count: [100, 120], filter: [500, 500] },
    pannier: { count: [1, 1], filter: [50, 50] },
  }
  const lines = formatTable(comparisonIn('chromium', false), samples, new Set(['filter'])).split('\n')
  expect(lines).toHaveLength(3)
  expect(lines[1]).toMatch(/ANSWERS DIFFER$/)
  expect(lines[2]).toMatch(/^count all +110 +±9% +1 +±0% +110x +>= 50x +pass$/)
})
