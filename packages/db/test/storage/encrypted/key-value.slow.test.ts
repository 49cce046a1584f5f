/** The suite of key-value stores over encrypted pages: in files, and where every call is answered late and in another order. */
import { test } from 'vitest'
import { localCoordinator } from '../../../src/database/coordination/local-coordinator.ts'
import { systemEnvironment } from '../../../src/database/lifecycle/environment.ts'
import { openKeyValueStore } from '../../../src/kv/open.ts'
import type { DatabaseStorage } from '../../../src/storage/page-store.ts'
import { memory } from '../../../src/storage/memory/memory.ts'
import { sqlite } from '../../../src/storage/sqlite/sqlite.ts'
import type { KeyValueFixture } from '../../../testing/conformance/key-value-fixture.ts'
import { keyValueSuite } from '../../../testing/conformance/key-value.ts'
import { seededRandom } from '../../../testing/random.ts'
import { randomOrder, SimulatedStorage } from '../../../testing/simulated-page-store.ts'
import { prefixed } from '../../../testing/suite.ts'
import { temporaryFiles } from '../../key-value-stores.ts'
import { encrypted, platforms } from './fixture.ts'

const newPath = temporaryFiles()
let databases = 0

function enginesOn(storage: () => DatabaseStorage, cacheBytesMax = 2 ** 20): () => KeyValueFixture {
  return () => {
    const place = storage()
    const name = newPath()
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

function late(): DatabaseStorage {
  const random = seededRandom(++databases)
  return new SimulatedStorage({ random: random.next, schedule: randomOrder(random.next) })
}

const [[, node], [, web]] = platforms as [(typeof platforms)[0], (typeof platforms)[0]]
const supports = { handles: true }
keyValueSuite({ test: prefixed(test, 'SQLite'), create: enginesOn(() => encrypted(sqlite(), node)), supports })
keyValueSuite({ test: prefixed(test, 'WebCrypto'), create: enginesOn(() => encrypted(memory(), web), 0), supports })
keyValueSuite({
  test: prefixed(test, 'random latency'),
  create: enginesOn(() => encrypted(late(), web), 100_000),
  supports,
})
