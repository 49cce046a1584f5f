/** The conformance suite of partial, unique and text indexes, over the model of a key-value store and over the storage engine. */
import { test } from 'vitest'
import { open } from '../../src/database/lifecycle/open.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import { indexSuite } from '../../testing/conformance/indexes.ts'
import { modelDatabase } from '../../testing/model-database.ts'
import { prefixed } from '../../testing/suite.ts'

indexSuite({
  test: prefixed(test, 'model that misses'),
  create: async () => modelDatabase({ missChance: 0.5, seed: 7 }),
})
indexSuite({ test: prefixed(test, 'engine'), create: () => open('x', { storage: memory() }) })
