/** Restores a snapshot when a database is opened. Loaded on first use. */
import type { LongWork } from '../../base/long-work.ts'
import type { Generation } from '../../base/brand.ts'
import type { Environment } from '../../base/environment.ts'
import { isPannierError } from '../../base/errors.ts'
import type { Coordinator } from '../../storage/coordinator.ts'
import { holdsDatabase, restoreSnapshot } from '../../kv/restore-snapshot.ts'
import { bytesUntilCancelled } from '../transfer/byte-streams.ts'
import { acquireLease } from '../coordination/coordinator.ts'
import type { Durability, PageStore, DatabaseStorage } from '../../storage/page-store.ts'
import type { ByteSource } from '../transfer/byte-stream.ts'

interface RestoreParts extends LongWork {
  readonly name: string
  readonly storage: DatabaseStorage
  /** The store, which is open. */
  readonly store: PageStore
  readonly coordinator: Coordinator
  readonly environment: Environment
  readonly durability: Durability
  /** Id of the new database. */
  readonly databaseId?: string
  /** For an encrypted database: opens a sealed snapshot. */
  readonly unseal?: ((source: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>) | undefined
}

/** The generation that handles of an empty database pin, or of one that is about to be empty. */
const EMPTY = 0 as Generation
/** The generation that the holder of the lease pins. The others pin something else. */
const LEASED = 1 as Generation

/** A function is asked for the snapshot only if there is no database yet. */
export async function restore(
  from: ByteSource | (() => ByteSource | Promise<ByteSource>),
  parts: RestoreParts,
): Promise<void> {
  const { name, storage, store, coordinator } = parts
  const optional = typeof from === 'function'
  if (optional && (await holdsDatabase(store))) return
  // A handle that fails before this one has the lease learns from this that it must not delete the place.
  await coordinator.pin(EMPTY)
  // Others that have it open, or are about to restore it themselves, wait with their writes.
  const lease = await acquireLease(coordinator, parts.signal, 'The restore')
  try {
    await coordinator.pin(LEASED)
    // While this one waited, another tab may have made it.
    if (optional && (await holdsDatabase(store))) return
    const source = bytesUntilCancelled(optional ? from : () => from, parts.signal, 'The restore')
    await restoreSnapshot(parts.unseal?.(source) ?? source, parts)
  } catch (error) {
    // While this one was frozen, another one has taken the lease and made it.
    if (optional && isPannierError(error, 'PANNIER_EXISTS') && (await holdsDatabase(store))) return
    if ((await isUnused(parts)) && !lease.lost) {
      // Nothing is there, so no file should be either.
      await store.close()
      await storage.destroy(name).catch(() => {})
    }
    coordinator.close()
    throw error
  } finally {
    lease.release()
  }
}

/** Surely empty, and no other handle has it open, or waits to restore it. */
async function isUnused({ store, coordinator }: RestoreParts): Promise<boolean> {
  try {
    return !(await holdsDatabase(store)) && (await coordinator.oldestPinned()) === LEASED
  } catch {
    return false
  }
}
