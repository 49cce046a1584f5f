import { test } from 'vitest'
import { memory } from '../../src/storage/memory/memory.ts'
import { pageStoreSuite } from '../../testing/conformance/page-store.ts'
import { counting } from '../../testing/counting-page-store.ts'
import { SimulatedStorage, randomOrder, seededRandom } from '../../testing/simulated-page-store.ts'
import { prefixed } from '../../testing/suite.ts'

pageStoreSuite({
  test: prefixed(test, 'simulated, synchronous'),
  create: async () => ({ storage: new SimulatedStorage(), name: 'database' }),
})

pageStoreSuite({
  test: prefixed(test, 'simulated, in random order'),
  create: async () => {
    const random = seededRandom(1)
    return { storage: new SimulatedStorage({ random, schedule: randomOrder(random) }), name: 'database' }
  },
})

pageStoreSuite({
  test: prefixed(test, 'counting'),
  create: async () => ({ storage: counting(memory()), name: 'database' }),
})
