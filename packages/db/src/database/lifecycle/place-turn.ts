/** Turns of those who decide in which storage a database is: moves, and whoever opens or deletes it wherever it is. */
import type { Environment } from '../../base/environment.ts'
import { acquireTurn, coordinatorFor } from '../coordination/coordinator.ts'
import type { DatabaseStorage } from '../../storage/page-store.ts'

interface PlaceTurn {
  readonly name: string
  readonly storages: readonly [DatabaseStorage, DatabaseStorage]
  readonly environment: Environment
  /** Ends the wait for the turn. */
  readonly signal?: AbortSignal | undefined
}

/**
 * One after another, of all handles that share both storages. A tab that is frozen in its turn loses it after some seconds, so what is
 * done in it has to be right without.
 *
 * @throws PANNIER_ABORTED
 */
export async function inPlaceTurn<T>(turn: PlaceTurn, work: () => Promise<T>): Promise<T> {
  const { name, storages, environment, signal } = turn
  const scope = storages.some((storage) => storage.scope === 'origin') ? 'origin' : 'process'
  const places = storages.map((storage) => storage.identify(name)).sort()
  const identity = `place: ${places.join(', ')}`
  const coordinator = await coordinatorFor({ scope, identify: () => identity }, name, environment)
  try {
    await acquireTurn(coordinator, signal, 'The wait for another handle that opens or moves the database')
    return await work()
  } finally {
    coordinator.close()
  }
}
