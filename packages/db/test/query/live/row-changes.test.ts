/** Goal: the steps between any two lists lead from the one to the other, and are as few as they can be. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { rowChanges } from '../../../src/query/live/row-changes.ts'
import type { LiveView } from '../../../src/query/live/live-types.ts'
import { applyChanges } from '../../../testing/live-rows.ts'
import { times } from '../../../../../tools/test/seeds.ts'

interface Row {
  readonly id: string
  readonly version: number
}

const rows = new Map<string, Row>()

/** The same object for the same version. */
function viewOf(list: readonly (readonly [id: number, version: number])[]): LiveView {
  const ids = list.map(([id]) => `d${id}`)
  return {
    ids,
    rows: list.map(([id, version]) => {
      const key = `${id} ${version}`
      const row = rows.get(key) ?? { id: `d${id}`, version }
      rows.set(key, row)
      return row
    }),
  }
}

const lists = fc.uniqueArray(fc.tuple(fc.nat(12), fc.nat(1)), { selector: ([id]) => id, maxLength: 10 })

test('steps lead from one list to the other', () => {
  fc.assert(
    fc.property(lists, lists, (left, right) => {
      const [from, to] = [viewOf(left), viewOf(right)]
      const changes = rowChanges(from, to)
      expect(applyChanges(from.rows, changes)).toEqual(to.rows)
      // Each row is named once.
      expect(new Set(changes.map(({ id }) => id)).size).toBe(changes.length)
    }),
    { numRuns: times(2000) },
  )
})

test('a row that moves is the only one that does', () => {
  fc.assert(
    fc.property(fc.nat(9), fc.nat(9), (fromIndex, index) => {
      fc.pre(fromIndex !== index)
      const list = Array.from({ length: 10 }, (_, id) => [id, 0] as const)
      const moved = list.toSpliced(fromIndex, 1).toSpliced(index, 0, list[fromIndex]!)
      expect(rowChanges(viewOf(list), viewOf(moved)).length).toBe(1)
    }),
  )
})

test('of very many that move, those that stay stay', () => {
  const list = Array.from({ length: 5000 }, (_, id) => [id, 0] as const)
  const [from, to] = [viewOf(list), viewOf(list.toReversed())]
  const changes = rowChanges(from, to)
  expect(changes.length).toBe(2 * 4999)
  expect(applyChanges(from.rows, changes)).toEqual(to.rows)
})
