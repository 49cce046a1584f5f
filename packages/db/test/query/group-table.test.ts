/** Groups within bounded memory, counted: what is held at once; and sorting that releases the thread. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { GroupTable, type Group } from '../../src/query/aggregate/group-table.ts'
import { sortInSlices } from '../../src/query/sort-in-slices.ts'
import { times } from '../../../../tools/test/seeds.ts'

const noPause = (): undefined => undefined

test('no more groups are held than fit, and those of one batch; each is given once, in order', async () => {
  const count = 5000
  const batchRows = 100
  // Of a group the estimate is more than this.
  const groupBytes = 200
  const bytesMax = 500 * groupBytes
  const given: unknown[] = []
  let after: Group | undefined
  let passes = 0
  do {
    const table = new GroupTable(
      { groupPaths: ['n'], steps: [{ name: 'count', operator: '$count', path: '' }] },
      after,
      bytesMax,
    )
    for (let from = 0; from < count; from += batchRows) {
      for (let at = from; at < from + batchRows; at++) table.add({ n: (at * 7919) % count })
      expect(table.size * groupBytes).toBeLessThanOrEqual(bytesMax + batchRows * groupBytes)
      if (table.isTooLarge) await table.trim(noPause)
      expect(table.size * groupBytes).toBeLessThanOrEqual(bytesMax)
    }
    const groups = await table.groups(noPause)
    for (const { values, accumulators } of groups) given.push([values[0], accumulators[0]!.result()])
    after = table.last
    passes++
  } while (after !== undefined)
  expect(given).toEqual(Array.from({ length: count }, (_, n) => [n, 1]))
  expect(passes).toBeGreaterThan(10)
})

test('sorted in slices as in one go, equal items in their order', async () => {
  const item = fc.record({ key: fc.nat(20), place: fc.nat() })
  const compare = (left: { key: number }, right: { key: number }): number => left.key - right.key
  const items = fc.tuple(fc.array(item, { maxLength: 60 }), fc.constantFrom(0, 1, 70, 205, 300))
  await fc.assert(
    fc.asyncProperty(items, async ([some, times]) => {
      const all = Array.from({ length: times }, () => some.map((one) => ({ ...one }))).flat()
      let pauses = 0
      const sorted = await sortInSlices(all, compare, () => void pauses++)
      const expected = all.toSorted(compare)
      expect(sorted.every((one, at) => one === expected[at])).toBe(true)
      expect(sorted.length).toBe(all.length)
      expect(pauses).toBeGreaterThanOrEqual(Math.floor(all.length / 4096))
    }),
    { numRuns: times(40) },
  )
})
