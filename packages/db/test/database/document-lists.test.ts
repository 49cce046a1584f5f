import { test } from 'vitest'
import { open } from '../../src/database/lifecycle/open.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import { documentListSuite } from '../../testing/conformance/document-lists.ts'
import { modelDatabase } from '../../testing/model-database.ts'
import { prefixed } from '../../testing/suite.ts'

documentListSuite({
  test: prefixed(test, 'model that misses'),
  create: async () => modelDatabase({ missChance: 0.5, seed: 3 }),
})
documentListSuite({ test: prefixed(test, 'engine'), create: () => open('x', { storage: memory() }) })
