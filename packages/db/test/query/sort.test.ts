/** Sorting within bounded memory, counted: what is held at once, and how often the input is read for it. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { BATCH_ROWS_MAX, type Operator } from '../../src/query/operators/operator.ts'
import { compileSortKey, compileSortRow, SortPass, sortRows, type SortRow } from '../../src/query/operators/sort.ts'
import { times } from '../../../../tools/test/seeds.ts'

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
    { numRuns: times(500) },
  )
})

test('rows that get no key are those that a sort with all keys leaves out', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 4 }),
    fc.constantFrom('a\0', 'a\u0001', '\ud83d', '\ud83d\ude00', '\uffff', 'é'.repeat(600), `${'é'.repeat(600)}a`),
  )
  const value = fc.oneof(
    text,
    fc.integer({ min: -3, max: 3 }),
    fc.constantFrom(undefined, null, true, false, -0, 0.5, Infinity, [1], [1, 'b'], { a: 1 }, 'x'.repeat(2000)),
  )
  const documents = fc.array(fc.record({ a: value, b: value }), { maxLength: 120 })
  fc.assert(
    fc.property(documents, fc.boolean(), fc.nat(5), fc.integer({ min: 1, max: 9 }), (all, descending, skip, limit) => {
      const sort = [
        { path: 'a', descending },
        { path: 'b', descending: false },
      ]
      const sources = all.map((fields, number) => ({ number, fields: fields as Record<string, unknown> }))
      const reader =
        (path: string) =>
        ({ fields }: (typeof sources)[number]): unknown =>
          fields[path]
      const key = compileSortKey(sort, reader, undefined)
      const open = (pass: SortPass): Operator<SortRow> => {
        const toRow = compileSortRow({ sort, collation: undefined }, reader, () => undefined, pass)
        let at = 0
        return {
          next: () => {
            if (at >= sources.length) return undefined
            return sources.slice(at, (at += 10)).flatMap((source) => toRow(source) ?? [])
          },
        }
      }
      const rows = sources.map((source): SortRow => ({ key: key(source), number: source.number, values: undefined }))
      const expected = drain(sortRows(inputOf(rows).open, 0, Infinity)).slice(skip, skip + limit)
      expect(drain(sortRows(open, skip, limit), 3)).toEqual(expected)
    }),
    { numRuns: times(1000) },
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

test('no more rows are held than fit, and one batch', () => {
  const rows = rowsOf(Array.from({ length: 20_000 }, (_, at) => String((at * 7919) % 20_000).padStart(20, '0')))
  // As the document of the planner states them: 160 bytes, and those of the key.
  const rowBytes = 180
  const bytesMax = 2000 * rowBytes
  for (const limit of [Infinity, 5000, 50]) {
    let pass: SortPass | undefined
    const operator = sortRows(
      inputOf(rows).open,
      0,
      limit,
      { bytesMax, runRows: 100 },
      (max) => (pass = new SortPass(max)),
    )
    let held = 0
    let given = 0
    for (let batch = operator.next(64); batch !== undefined; batch = operator.next(64)) {
      given += batch.length
      held = Math.max(
        held,
        pass!.held.reduce((count, run) => count + run.length, 0),
      )
    }
    expect(given).toBe(Math.min(limit, rows.length))
    expect(held * rowBytes).toBeLessThanOrEqual(bytesMax + BATCH_ROWS_MAX * rowBytes)
    if (limit === 50) expect(held).toBeLessThanOrEqual(2 * limit + 2 * BATCH_ROWS_MAX)
  }
})

test('rows are dropped some at a time', () => {
  const pass = new SortPass(10_000 * 164)
  for (let at = 0; at < 12_000; at++) {
    pass.add({ key: String(9999 - (at % 10_000)).padStart(4, '0'), number: at, values: undefined })
    pass.closeRun(100)
  }
  let steps = 0
  for (; pass.isTooLarge; steps++) {
    const before = pass.held.reduce((count, run) => count + run.length, 0)
    pass.trim()
    expect(before - pass.held.reduce((count, run) => count + run.length, 0)).toBeLessThanOrEqual(1600)
  }
  expect(steps).toBeGreaterThan(4)
})
