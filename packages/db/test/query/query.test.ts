import { test } from 'vitest'
import { localCoordinator } from '../../src/database/coordination/local-coordinator.ts'
import { systemEnvironment } from '../../src/database/environment.ts'
import { openKeyValueStore } from '../../src/kv/open.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import { querySuite } from '../../testing/conformance/query.ts'
import { modelKeyValueStore } from '../../testing/model-key-value-store.ts'
import { prefixed } from '../../testing/suite.ts'

querySuite({ test: prefixed(test, 'model'), create: async () => modelKeyValueStore() })
querySuite({
  test: prefixed(test, 'model that misses'),
  create: async () => modelKeyValueStore({ seed: 7, missChance: 0.4 }),
})

let databases = 0
querySuite({
  test: prefixed(test, 'pages'),
  create: async () => {
    const key = `query test ${++databases}`
    const environment = systemEnvironment()
    const store = await memory().open(key)
    const coordinator = localCoordinator({ key, environment })
    return openKeyValueStore({ store, coordinator, environment, durability: 'relaxed', cacheBytesMax: 2 ** 20 })
  },
})
