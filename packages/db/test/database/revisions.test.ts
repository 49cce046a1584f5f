/** The conformance suite of revisions, over the model of a key-value store and over the storage engine. */
import { test } from 'vitest'
import { open } from '../../src/database/open.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import { revisionsSuite } from '../../testing/conformance/revisions.ts'
import { modelDatabase } from '../../testing/model-database.ts'
import { prefixed } from '../../testing/suite.ts'

revisionsSuite({ test: prefixed(test, 'model'), create: async () => modelDatabase() })
revisionsSuite({
  test: prefixed(test, 'model that misses'),
  create: async () => modelDatabase({ missChance: 0.5, seed: 7 }),
})
revisionsSuite({ test: prefixed(test, 'engine'), create: () => open('x', { storage: memory() }) })
