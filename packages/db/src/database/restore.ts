/** Makes a database of a snapshot when it is opened. Loaded when it is asked for. */
import type { Environment } from '../base/environment.ts'
import type { Coordinator } from '../kv/coordinator.ts'
import { holdsDatabase, restoreSnapshot } from '../kv/restore-snapshot.ts'
import type { Durability, PageStore, Storage } from '../storage/page-store.ts'
import { bytesOf } from './byte-source.ts'
import type { ByteSource, LongWork } from './byte-stream.ts'

export interface RestoreParts extends LongWork {
  readonly name: string
  readonly storage: Storage
  /** Open. */
  readonly store: PageStore
  readonly coordinator: Coordinator
  readonly environment: Environment
  readonly durability: Durability
  /** Of the new database. */
  readonly databaseId?: string
  /** Of an encrypted database: opens a sealed snapshot. */
  readonly unseal?: ((source: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>) | undefined
}

/** A function is asked for the snapshot only if there is no database yet. */
export async function restore(
  from: ByteSource | (() => ByteSource | Promise<ByteSource>),
  parts: RestoreParts,
): Promise<void> {
  const { name, storage, store, coordinator } = parts
  const optional = typeof from === 'function'
  if (optional && (await holdsDatabase(store))) return
  // Others that have it open, or are about to restore it themselves, wait with their writes.
  const lease = await coordinator.acquireWriter()
  try {
    // While this one waited, another tab may have made it.
    if (optional && (await holdsDatabase(store))) return
    const source = bytesOf(optional ? await from() : from)
    await restoreSnapshot(parts.unseal?.(source) ?? source, parts)
  } catch (error) {
    if (await isUnused(parts)) {
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

/** Surely empty, and no other handle has it open. */
async function isUnused({ store, coordinator }: RestoreParts): Promise<boolean> {
  try {
    return !(await holdsDatabase(store)) && (await coordinator.oldestPinned()) === undefined
  } catch {
    return false
  }
}
