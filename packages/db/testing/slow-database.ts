/** Databases that keep nothing in memory, on storages that may answer later: what `open` allows no user. */
import { localCoordinator } from '../src/database/coordination/local-coordinator.ts'
import { Database } from '../src/database/database.ts'
import { systemEnvironment } from '../src/database/lifecycle/environment.ts'
import { openKeyValueStore, type PagedKeyValueStore } from '../src/kv/open.ts'
import type { DatabaseStorage } from '../src/storage/page-store.ts'
import type { Random } from './random.ts'

export interface ColdOptions {
  /** 0 by default: pages stay only as long as an operation needs them. */
  readonly cacheBytesMax?: number
  /** If given, a storage checkpoint follows about every second commit. Else a small database stays in memory as its log. */
  readonly checkpoints?: Random
}

const CHECKPOINT_CHANCE = 0.5

export async function openCold(name: string, storage: DatabaseStorage, options?: ColdOptions): Promise<Database> {
  const store = await openColdStore(name, storage, options)
  const environment = systemEnvironment()
  return new Database({ name, storage, store, checkPages: (work) => store.check(work), environment })
}

export async function openColdStore(
  name: string,
  storage: DatabaseStorage,
  { cacheBytesMax = 0, checkpoints }: ColdOptions = {},
): Promise<PagedKeyValueStore> {
  const chance = checkpoints?.fork()
  const environment = systemEnvironment()
  const coordinator = localCoordinator({ key: storage.identify(name), environment })
  const store = await openKeyValueStore({
    store: await storage.open(name),
    coordinator,
    environment,
    cacheBytesMax,
    durability: 'relaxed',
  })
  if (chance === undefined) return store
  const checkpoint = (): void => {
    // One that fails, or that comes after the end, shows itself to what is asked for next.
    store.checkpoint().catch(() => {})
  }
  store.onCommit(() => {
    if (chance.chance(CHECKPOINT_CHANCE)) queueMicrotask(checkpoint)
  })
  return store
}
