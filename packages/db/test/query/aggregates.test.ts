/** Aggregates and groups: over the model of a key-value store, with and without misses, and over pages. */
import fc from 'fast-check'
import { test } from 'vitest'
import { localCoordinator } from '../../src/database/coordination/local-coordinator.ts'
import { systemEnvironment } from '../../src/database/lifecycle/environment.ts'
import { openKeyValueStore } from '../../src/kv/open.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import { aggregateSuite, checkRandomAggregates } from '../../testing/conformance/aggregates.ts'
import { modelKeyValueStore } from '../../testing/model-key-value-store.ts'
import { ofFewSeeds, prefixed } from '../../testing/suite.ts'
import { times } from '../../../../tools/test/seeds.ts'

aggregateSuite({
  test: prefixed(test, 'model that misses'),
  create: async () => modelKeyValueStore({ seed: 7, missChance: 0.4 }),
})

let databases = 0
aggregateSuite({
  test: prefixed(ofFewSeeds(test, 3), 'pages'),
  create: async () => {
    const name = `aggregates-${++databases}`
    const environment = systemEnvironment()
    const coordinator = localCoordinator({ key: name, environment })
    const store = await memory().open(name)
    return openKeyValueStore({ store, coordinator, environment, durability: 'relaxed', cacheBytesMax: 2 ** 16 })
  },
})

test('every way agrees with the naive evaluator', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.gen(),
      fc.integer({ min: 1, max: 1000 }),
      fc.constantFrom(0, 0.3, 1),
      async (generate, seed, missChance) => {
        const choose = (count: number): number => generate(fc.nat, { max: count - 1 })
        await checkRandomAggregates(async () => modelKeyValueStore({ seed, missChance }), choose, 3)
      },
    ),
    { numRuns: times(25) },
  )
})
