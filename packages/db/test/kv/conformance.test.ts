/** The suite of key-value stores, over the model, and over the storage engine on storages that answer at once or late. */
import { test } from 'vitest'
import { memory } from '../../src/storage/memory/memory.ts'
import { keyValueSuite } from '../../testing/conformance/key-value.ts'
import { modelKeyValueStore } from '../../testing/model-key-value-store.ts'
import { prefixed } from '../../testing/suite.ts'
import { enginesOn, lateStorages } from './engines.ts'

const supports = { handles: true }
keyValueSuite({ test: prefixed(test, 'memory'), create: enginesOn(memory), supports })
keyValueSuite({ test: prefixed(test, 'memory, no cache'), create: enginesOn(memory, { cacheBytesMax: 0 }), supports })
keyValueSuite({
  test: prefixed(test, 'random latency'),
  create: enginesOn(lateStorages(), { cacheBytesMax: 100_000 }),
  supports,
})

// The oracle of the others: it keeps nothing when it is closed.
keyValueSuite({
  test: prefixed(test, 'model, 50 % missing'),
  create: () => ({ open: async () => modelKeyValueStore({ seed: 5, missChance: 0.5 }) }),
  supports: { handles: false },
})
