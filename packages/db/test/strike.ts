/** For crash tests of one operation: the fault at one of its backend calls, and databases over the storage before and after. */
import type { Database } from '../src/database/database.ts'
import { openKeyValueStore } from '../src/kv/open.ts'
import type { Durability } from '../src/storage/page-store.ts'
import { countingEnvironment, databaseOver } from '../testing/model-database.ts'
import type { Fault, SimulatedStorage } from '../testing/simulated-page-store.ts'
import { soloCoordinator } from './kv/solo-coordinator.ts'

/** A small cache: pages are read again. */
const CACHE_BYTES_MAX = 100_000

export async function openOver(storage: SimulatedStorage, durability: Durability = 'relaxed'): Promise<Database> {
  const environment = countingEnvironment()
  const store = await openKeyValueStore({
    store: await storage.open('x'),
    coordinator: soloCoordinator(),
    environment,
    cacheBytesMax: CACHE_BYTES_MAX,
    durability,
  })
  return databaseOver(store, environment, () => store.check())
}

/**
 * Runs `work` with the fault at its `call`-th backend call (0: at none), and gives the number of calls that it made. How it ends
 * is not what counts, nor that it may never end: what is left does.
 */
export async function strike(
  storage: SimulatedStorage,
  fault: Fault,
  call: number,
  work: () => Promise<unknown>,
): Promise<number> {
  const before = storage.calls
  if (call > 0) storage.failAt(before + call, fault)
  const gone = new Promise<void>((resolve) => (storage.onGone = resolve))
  await Promise.race([work().catch(() => {}), gone])
  storage.disarm()
  return storage.calls - before
}
