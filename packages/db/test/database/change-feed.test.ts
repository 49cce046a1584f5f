/** The conformance suite of change feeds, over the model of a key-value store and over the storage engine. */
import { test } from 'vitest'
import { open } from '../../src/database/lifecycle/open.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import { changeFeedSuite } from '../../testing/conformance/change-feed.ts'
import { modelDatabase } from '../../testing/model-database.ts'
import { prefixed } from '../../testing/suite.ts'

changeFeedSuite({
  test: prefixed(test, 'model that misses'),
  create: () => ({ open: async () => modelDatabase({ missChance: 0.3, seed: 5 }) }),
  supports: { handles: false },
})
changeFeedSuite({
  test: prefixed(test, 'engine'),
  create: () => {
    const storage = memory()
    return { open: () => open('x', { storage }) }
  },
  supports: { handles: true },
})
