/**
 * Random documents, indexes and queries, shrinking. Every plan gives what the naive evaluator gives, whatever is missing in memory. An
 * index that `explain` suggests is used once it is there. A failure prints the seed and path that replay it.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { checkRandomQueries } from '../../testing/conformance/query.ts'
import { modelKeyValueStore } from '../../testing/model-key-value-store.ts'
import { randomDocuments, randomIndexes, randomQuery } from '../../testing/query-cases.ts'
import { QueryFixture } from '../../testing/query-fixture.ts'
import { parseIndexInput, type IndexInput } from '../../src/index/index-definition.ts'
import type { Explanation } from '../../src/query/planner/explanation.ts'
import { times } from '../../../../tools/test/seeds.ts'

test('every plan agrees with the naive evaluator', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.gen(),
      fc.integer({ min: 1, max: 1000 }),
      fc.constantFrom(0, 0.3, 1),
      async (generate, seed, missChance) => {
        const choose = (count: number): number => generate(fc.nat, { max: count - 1 })
        await checkRandomQueries(async () => modelKeyValueStore({ seed, missChance }), choose, 3)
      },
    ),
    { numRuns: times(25) },
  )
})

test('an index that is suggested is used, and makes the query cheaper', async () => {
  let suggested = 0
  let multi = 0
  await fc.assert(
    fc.asyncProperty(fc.gen(), fc.integer({ min: 1, max: 1000 }), async (generate, seed) => {
      const choose = (count: number): number => generate(fc.nat, { max: count - 1 })
      const indexes = randomIndexes(choose)
      const documents = randomDocuments(choose, 100)
      const query = randomQuery(choose, indexes)
      const explain = async (there: readonly IndexInput[]): Promise<Explanation> => {
        const fixture = new QueryFixture(modelKeyValueStore({ seed, missChance: 0.1 }), there)
        await fixture.upsert(documents)
        let found = fixture.find(query.selector, query.meaning).skip(query.skip)
        if (query.sort.length > 0) found = found.sort(...query.sort)
        if (query.limit !== undefined) found = found.limit(query.limit)
        const explanation = await found.explain()
        await fixture.store.close()
        return explanation
      }
      const before = await explain(indexes)
      if (before.suggestion === undefined) return
      suggested++
      const { name, multi: isMulti } = parseIndexInput(before.suggestion)
      if (isMulti) multi++
      const after = await explain([...indexes, before.suggestion])
      expect(JSON.stringify(after.plan)).toContain(`"index":${JSON.stringify(name)}`)
      expect(after.cost).toBeLessThan(before.cost)
    }),
    { numRuns: times(80) },
  )
  expect([suggested > 0, multi > 0]).toEqual([true, true])
})
