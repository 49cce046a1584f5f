/** The conformance suite of collections, over the model of a key-value store and over the storage engine. */
import { test } from 'vitest'
import { open } from '../../src/database/lifecycle/open.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import { collectionSuite } from '../../testing/conformance/collection.ts'
import { modelDatabase } from '../../testing/model-database.ts'
import { prefixed } from '../../testing/suite.ts'

collectionSuite({
  test: prefixed(test, 'model that misses'),
  create: async () => modelDatabase({ missChance: 0.5, seed: 7 }),
})
collectionSuite({ test: prefixed(test, 'engine'), create: () => open('x', { storage: memory() }) })
