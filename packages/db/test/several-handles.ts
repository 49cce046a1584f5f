/** Several handles on one database, over a simulated store with random latency and a cache that is too small for it. */
import { localCoordinator } from '../src/database/coordination/local-coordinator.ts'
import type { Database } from '../src/database/database.ts'
import { systemEnvironment } from '../src/database/lifecycle/environment.ts'
import { openKeyValueStore } from '../src/kv/open.ts'
import { databaseOver } from '../testing/model-database.ts'
import type { Random } from '../testing/random.ts'
import { randomOrder, SimulatedStorage } from '../testing/simulated-page-store.ts'

/** `key`: what they coordinate under; one for each test. */
export async function openHandles(random: Random, key: string, count: number): Promise<Database[]> {
  const { next } = random.fork()
  const storage = new SimulatedStorage({ random: next, schedule: randomOrder(next) })
  const environment = systemEnvironment()
  const handles: Database[] = []
  for (let at = 0; at < count; at++) {
    const store = await openKeyValueStore({
      store: await storage.open('x'),
      coordinator: localCoordinator({ key, environment }),
      environment,
      cacheBytesMax: 100_000,
      durability: 'relaxed',
    })
    handles.push(databaseOver(store, environment, () => store.check()))
  }
  return handles
}
