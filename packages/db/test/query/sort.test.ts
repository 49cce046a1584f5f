/** Sorting within bounded memory, counted: what is held at once, and how often the input is read for it. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Operator } from '../../src/query/operators/operator.ts'
import { sortRows, type SortRow } from '../../src/query/operators/sort.ts'

interface Input {
  readonly open: () => Operator<SortRow>
  passes: number
}

function inputOf(rows: readonly SortRow[]): Input {
  const input: Input = {
    passes: 0,
    open: () => {
      input.passes++
      let at = 0
      return { next: (count) => (at >= rows.length ? undefined : rows.slice(at, (at += Math.min(count, 7)))) }
    },
  }
  return input
}

/** So many with these keys, repeated. */
function rowsOf(keys: readonly string[], values?: readonly unknown[]): SortRow[] {
  return keys.map((key, number) => ({ key, number, values }))
}

function drain(operator: Operator<SortRow>, count = 100): SortRow[] {
  const all: SortRow[] = []
  for (let rows = operator.next(count); rows !== undefined; rows = operator.next(count)) {
    expect(rows.length).toBeLessThanOrEqual(count)
    all.push(...rows)
  }
  return all
}

test('whatever fits at once, all rows come in order, once', () => {
  const key = fc.constantFrom('', 'a', 'ab', 'b', 'b'.repeat(300))
  fc.assert(
    fc.property(
      fc.array(key, { maxLength: 60 }),
      fc.nat(70),
      fc.oneof(fc.constant(Infinity), fc.nat(70)),
      fc.integer({ min: 1, max: 9000 }),
      fc.integer({ min: 1, max: 80 }),
      (keys, skip, limit, bytesMax, runRows) => {
        const rows = rowsOf(keys)
        const expected = rows
          .toSorted((left, right) =>
            left.key < right.key ? -1 : left.key > right.key ? 1 : left.number - right.number,
          )
          .slice(skip, skip + limit)
        expect(drain(sortRows(inputOf(rows).open, skip, limit, { bytesMax, runRows }), 3)).toEqual(expected)
      },
    ),
    { numRuns: 500 },
  )
})

test('memory decides how many passes there are', () => {
  // Descending, so that none is ruled out by those before; 160 bytes and 4 of the key each.
  const rows = rowsOf(Array.from({ length: 4000 }, (_, at) => String(9999 - at)))
  const passesWith = (bytesMax: number, limit = Infinity): number => {
    const input = inputOf(rows)
    drain(sortRows(input.open, 0, limit, { bytesMax, runRows: 500 }))
    return input.passes
  }
  expect(passesWith(656_000)).toBe(1)
  // Each pass gives between a quarter and all of what fits.
  expect(passesWith(164_000)).toBeGreaterThanOrEqual(4)
  expect(passesWith(164_000)).toBeLessThanOrEqual(16)
  expect(passesWith(164_000, 400)).toBe(1)
})

test('what an index says of a row counts too', () => {
  const input = inputOf(rowsOf(['b', 'a', 'c', 'd'], ['x'.repeat(1000)]))
  expect(drain(sortRows(input.open, 0, Infinity, { bytesMax: 5000, runRows: 2 })).map(({ key }) => key)).toEqual([
    'a',
    'b',
    'c',
    'd',
  ])
  expect(input.passes).toBeGreaterThan(1)
})

test('rows that are not asked for are not sorted in a pass of their own', () => {
  const input = inputOf(rowsOf(Array.from({ length: 1000 }, (_, at) => String(9999 - at))))
  const operator = sortRows(input.open, 0, Infinity, { bytesMax: 32_000, runRows: 100 })
  for (let rows = operator.next(10); rows?.length !== 10; rows = operator.next(10)) expect(rows).toEqual([])
  expect(input.passes).toBe(1)
})
