/**
 * Random documents, indexes and queries, shrinking: every plan that there is gives what the naive evaluator gives, whatever
 * is missing in memory. A failure prints the seed and path that replay it.
 */
import fc from 'fast-check'
import { test } from 'vitest'
import { checkRandomQueries } from '../../testing/conformance/query.ts'
import { modelKeyValueStore } from '../../testing/model-key-value-store.ts'

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
    { numRuns: 150 },
  )
})
