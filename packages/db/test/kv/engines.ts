/** The storage engine on a storage, for the suite of key-value stores. */
import { localCoordinator } from '../../src/database/coordination/local-coordinator.ts'
import { systemEnvironment } from '../../src/database/lifecycle/environment.ts'
import { openKeyValueStore } from '../../src/kv/open.ts'
import type { DatabaseStorage } from '../../src/storage/page-store.ts'
import type { KeyValueFixture } from '../../testing/conformance/key-value-fixture.ts'
import { seededRandom } from '../../testing/random.ts'
import { randomOrder, SimulatedStorage } from '../../testing/simulated-page-store.ts'

const environment = systemEnvironment()

export interface EnginesOptions {
  readonly cacheBytesMax?: number
  /** The name of the next database. */
  readonly name?: () => string
}

/** Each fixture has a storage of its own. */
export function enginesOn(
  storage: () => DatabaseStorage,
  { cacheBytesMax = 2 ** 20, name: newName = () => 'x' }: EnginesOptions = {},
): () => KeyValueFixture {
  return () => {
    const place = storage()
    const name = newName()
    return {
      open: async () => {
        const coordinator = localCoordinator({ key: place.identify(name), environment })
        const store = await place.open(name)
        return openKeyValueStore({ store, coordinator, environment, durability: 'relaxed', cacheBytesMax })
      },
    }
  }
}

/** Storages whose calls are answered late, in another order than they were made: each in orders of its own. */
export function lateStorages(): () => DatabaseStorage {
  let made = 0
  return () => {
    const random = seededRandom(++made)
    const { next } = random.fork()
    return new SimulatedStorage({ random: next, schedule: randomOrder(next) })
  }
}
