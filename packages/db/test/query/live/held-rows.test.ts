/** Goal: a change of a long list costs a few steps and no pass over its rows, and leaves the rows that a sort would. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { HeldRows, type HeldRow } from '../../../src/query/live/held-rows.ts'
import { times } from '../../../../../tools/test/seeds.ts'

interface Item {
  readonly _id: string
  readonly place: number
}

const NO_HOLDING = { hold: () => {}, release: () => {} }

/** The row of an item. `read` hears of each part of it that is read. */
function rowOf({ _id, place }: Item, read: () => void = () => {}): HeldRow {
  const row = { _id, place }
  const parts = { key: `${String(place).padStart(6, '0')} ${_id}`, id: _id, revision: String(place), row }
  const counted = Object.keys(parts).map((name) => [
    name,
    { get: () => (read(), parts[name as keyof HeldRow]), enumerable: true },
  ])
  return Object.defineProperties({}, Object.fromEntries(counted)) as HeldRow
}

function held(items: readonly Item[], read?: () => void): HeldRows<Item> {
  const rows = new HeldRows<Item>(0, Infinity, NO_HOLDING, (item) => rowOf(item, read))
  rows.reset(items, true)
  return rows
}

test('a change of one of 10,000 rows reads less than 100 parts of rows, wherever the row is and comes to', () => {
  let reads = 0
  const items = Array.from({ length: 10_000 }, (_, place) => ({ _id: `d${place}`, place }))
  const rows = held(items, () => reads++)
  rows.view()
  const costs: number[] = []
  for (const [id, place] of [
    ['d0', 0],
    ['d5000', 5000],
    ['d9999', 0],
    ['d20', 9999],
  ] as const) {
    reads = 0
    rows.apply(new Map([[id, { _id: id, place }]]))
    rows.view()
    costs.push(reads)
  }
  reads = 0
  rows.apply(new Map([['d7', undefined]]))
  rows.apply(new Map([['new', { _id: 'new', place: 17 }]]))
  rows.view()
  costs.push(reads)
  expect(costs.filter((cost) => cost > 100)).toEqual([])
  expect(rows.view().ids.length).toBe(10_000)
})

const item = fc.record({ _id: fc.nat(60).map((id) => `d${id}`), place: fc.nat(9) })
const changes = fc.array(fc.record({ item, isGone: fc.boolean() }), { maxLength: 8 })

test('few changes and many leave the rows in their order', () => {
  fc.assert(
    fc.property(fc.uniqueArray(item, { selector: ({ _id }) => _id }), fc.array(changes), (first, steps) => {
      const rows = held(first)
      const expected = new Map(first.map((one) => [one._id, one]))
      for (const step of steps) {
        const given = new Map(step.map(({ item: one, isGone }) => [one._id, isGone ? undefined : one]))
        for (const [id, one] of given) {
          if (one === undefined) expected.delete(id)
          else expected.set(id, one)
        }
        rows.apply(given)
        const sorted = [...expected.values()].map((one) => rowOf(one)).sort((a, b) => (a.key < b.key ? -1 : 1))
        expect(rows.view()).toEqual({ ids: sorted.map(({ id }) => id), rows: sorted.map(({ row }) => row) })
      }
    }),
    { numRuns: times(100) },
  )
})
