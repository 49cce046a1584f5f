/** How the handles of one database, in one page or process or in several, share one lease. */
import type { Environment } from '../../base/environment.ts'
import { throwIfCancelled } from '../../base/long-work.ts'
import type { Coordinator, WriterLease } from '../../kv/coordinator.ts'
import type { DatabaseStorage } from '../../storage/page-store.ts'
import { localCoordinator } from './local-coordinator.ts'
import { webCoordinator } from './web-coordinator.ts'

/** The handles of one database share one lease, wherever they may be. */
export function coordinatorFor(
  storage: Pick<DatabaseStorage, 'scope' | 'identify'>,
  name: string,
  environment: Environment,
): Coordinator {
  const identity = storage.identify(name)
  const isShared = storage.scope === 'origin'
  const coordinator = isShared ? webCoordinator({ name: identity, environment }) : undefined
  if (coordinator !== undefined) return coordinator
  // In an origin without locks the handles of one page share a lease, and the fences do the rest.
  return localCoordinator({ key: isShared ? `origin:${identity}` : identity, environment })
}

/**
 * Waits for the lease, until `signal` is aborted: that closes the coordinator. `name` begins the message: 'The restore'.
 *
 * @throws PANNIER_ABORTED
 */
export async function acquireLease(
  coordinator: Coordinator,
  signal: AbortSignal | undefined,
  name: string,
): Promise<WriterLease> {
  throwIfCancelled(signal, name)
  const giveUp = (): void => coordinator.close()
  signal?.addEventListener('abort', giveUp)
  try {
    const lease = await coordinator.acquireWriter()
    throwIfCancelled(signal, name)
    return lease
  } catch (error) {
    throwIfCancelled(signal, name)
    throw error
  } finally {
    signal?.removeEventListener('abort', giveUp)
  }
}

/** Where a database may be. */
interface Location {
  readonly name: string
  readonly storages: readonly DatabaseStorage[]
  readonly environment: Environment
  /** Ends the wait for the lock. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Runs `work` while no other handle moves a database of that name in these storages, or looks for it there (`firstOf`). A tab that is frozen
 * loses the lock after some seconds, so what `work` does has to be right without it.
 *
 * @throws PANNIER_ABORTED
 */
export function withLocationLock<T>(location: Location, work: () => Promise<T>): Promise<T> {
  const { name, storages, environment, signal } = location
  const scope = storages.some((storage) => storage.scope === 'origin') ? 'origin' : 'process'
  // Always in the same order: no two handles wait for one another.
  const places = storages.map((storage) => storage.identify(name)).sort()
  const lockFrom = async (at: number): Promise<T> => {
    const place = places[at]
    if (place === undefined) return work()
    const coordinator = coordinatorFor({ scope, identify: () => `location of ${place}` }, name, environment)
    try {
      await acquireLease(coordinator, signal, 'The wait for the location of the database')
      return await lockFrom(at + 1)
    } finally {
      coordinator.close()
    }
  }
  return lockFrom(0)
}
