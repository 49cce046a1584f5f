/** Databases that keep nothing in memory, on storages that may answer later: what `open` allows no user. */
import { localCoordinator } from '../src/database/coordination/local-coordinator.ts'
import { Database } from '../src/database/database.ts'
import { systemEnvironment } from '../src/database/environment.ts'
import { openKeyValueStore } from '../src/kv/open.ts'
import type { Storage } from '../src/storage/page-store.ts'

/** `cacheBytesMax: 0`: pages stay only as long as somebody is at them. */
export async function openWithoutCache(name: string, storage: Storage, cacheBytesMax = 0): Promise<Database> {
  const environment = systemEnvironment()
  const coordinator = localCoordinator({ key: storage.identify(name), environment })
  const store = await openKeyValueStore({
    store: await storage.open(name),
    coordinator,
    environment,
    cacheBytesMax,
    durability: 'relaxed',
  })
  const wallClock = Date.now
  return new Database({ name, storage, store, checkPages: () => store.check(), environment, wallClock })
}
