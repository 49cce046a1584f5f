/** How the handles of one database, in one page or process or in several, share one lease. */
import type { Environment } from '../../base/environment.ts'
import { throwIfCancelled } from '../../base/long-work.ts'
import type { Coordinator, WriterLease } from '../../storage/coordinator.ts'
import type { DatabaseStorage, SharingScope } from '../../storage/page-store.ts'
import { systemEnvironment } from '../lifecycle/environment.ts'
import { localCoordinator } from './local-coordinator.ts'
import { webCoordinator } from './web-coordinator.ts'

/** The handles of one database share one lease, wherever they may be. */
export function coordinatorFor(storage: DatabaseStorage, name: string, environment: Environment): Coordinator {
  return (
    storage.coordinator?.(name, environment) ?? builtInCoordinator(storage.scope, storage.identify(name), environment)
  )
}

function builtInCoordinator(scope: SharingScope, identity: string, environment: Environment): Coordinator {
  if (scope !== 'origin') return localCoordinator({ key: identity, environment })
  // In an origin without locks the handles of one page share a lease, and the fences do the rest.
  const key = `origin:${identity}`
  const channel = typeof BroadcastChannel === 'function' ? `pannier:${key}` : undefined
  return webCoordinator({ name: identity, environment }) ?? localCoordinator({ key, environment, channel })
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

/**
 * Runs `work` while no other handle, tab or server runs work of that name in the storage. One that is frozen for some seconds loses its
 * turn, so what `work` does has to be right without it.
 */
export async function exclusively<T>(storage: DatabaseStorage, name: string, work: () => Promise<T>): Promise<T> {
  const coordinator = coordinatorFor(storage, name, systemEnvironment())
  try {
    await coordinator.acquireWriter()
    return await work()
  } finally {
    coordinator.close()
  }
}

/** Where a database may be. */
interface Location {
  readonly name: string
  readonly storages: readonly DatabaseStorage[]
  readonly environment: Environment
  /** The signal that ends the wait for the lock. */
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
  const lockOf = (storage: DatabaseStorage): Coordinator =>
    storage.coordinator?.(`location of ${name}`, environment) ??
    builtInCoordinator(scope, `location of ${storage.identify(name)}`, environment)
  const placeOf = (storage: DatabaseStorage): string => storage.identify(name)
  // Always in the same order: no two handles wait for one another.
  const ordered = [...storages].sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1))
  const lockFrom = async (at: number): Promise<T> => {
    const storage = ordered[at]
    if (storage === undefined) return work()
    const coordinator = lockOf(storage)
    try {
      await acquireLease(coordinator, signal, 'The wait for the location of the database')
      return await lockFrom(at + 1)
    } finally {
      coordinator.close()
    }
  }
  return lockFrom(0)
}
