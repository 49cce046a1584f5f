/** The suite of key-value stores, over the model, and over the storage engine on each backend. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, test } from 'vitest'
import { localCoordinator } from '../../src/database/coordination/local-coordinator.ts'
import { systemEnvironment } from '../../src/database/lifecycle/environment.ts'
import { openKeyValueStore } from '../../src/kv/open.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import type { DatabaseStorage } from '../../src/storage/page-store.ts'
import { sqlite } from '../../src/storage/sqlite/sqlite.ts'
import type { KeyValueFixture } from '../../testing/conformance/key-value-fixture.ts'
import { keyValueSuite } from '../../testing/conformance/key-value.ts'
import { modelKeyValueStore } from '../../testing/model-key-value-store.ts'
import { RawFileStorage } from '../../testing/raw-file-storage.ts'
import { seededRandom } from '../../testing/random.ts'
import { randomOrder, SimulatedStorage } from '../../testing/simulated-page-store.ts'
import { prefixed } from '../../testing/suite.ts'
import { classicLevel } from '../storage/classic-level.ts'

const folder = mkdtempSync(join(tmpdir(), 'pannier-kv-'))
afterAll(() => rmSync(folder, { recursive: true }))

let databases = 0

function enginesOn(storage: () => DatabaseStorage, cacheBytesMax = 2 ** 20): () => KeyValueFixture {
  return () => {
    const place = storage()
    const name = join(folder, `${++databases}.pannier`)
    const environment = systemEnvironment()
    return {
      open: async () => {
        const coordinator = localCoordinator({ key: place.identify(name), environment })
        const store = await place.open(name)
        return openKeyValueStore({ store, coordinator, environment, durability: 'relaxed', cacheBytesMax })
      },
    }
  }
}

/** Calls are answered late, in another order than they were made. */
function late(): DatabaseStorage {
  const random = seededRandom(databases + 1)
  return new SimulatedStorage({ random: random.next, schedule: randomOrder(random.next) })
}

const handles = { handles: true }
keyValueSuite({ test: prefixed(test, 'memory'), create: enginesOn(memory), supports: handles })
keyValueSuite({ test: prefixed(test, 'memory, no cache'), create: enginesOn(memory, 0), supports: handles })
keyValueSuite({ test: prefixed(test, 'SQLite'), create: enginesOn(sqlite), supports: handles })
keyValueSuite({ test: prefixed(test, 'LevelDB'), create: enginesOn(classicLevel), supports: handles })
keyValueSuite({
  test: prefixed(test, 'raw files'),
  create: enginesOn(() => new RawFileStorage(), 100_000),
  supports: handles,
})
keyValueSuite({ test: prefixed(test, 'random latency'), create: enginesOn(late, 100_000), supports: handles })

// The oracle of the others: it keeps nothing when it is closed.
for (const missChance of [0, 0.5]) {
  keyValueSuite({
    test: prefixed(test, `model, ${missChance * 100} % missing`),
    create: () => ({ open: async () => modelKeyValueStore({ seed: 5, missChance }) }),
    supports: { handles: false },
  })
}
