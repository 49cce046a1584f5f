/** The state of a replication in a component. */
import { useState, useSyncExternalStore } from 'react'
import type { Database, Replication } from 'pannier'
import { SyncStore, type SyncState } from './sync-store.ts'

/**
 * How a replication is, and how many changes of this device it has not sent yet, also while there is no network. The
 * component renders again when that changes. It does not end the replication: its creator does.
 *
 * @param db The database of the replication, whose commits change what is not sent.
 * @param sync Undefined: no replication yet.
 * @example
 * const sync = db.sync('https://example.org', { collections: ['notes'], live: true })   // outside of components
 * const { status, unsent } = useSync(db, sync)
 */
export function useSync(db: Pick<Database, 'onChange'>, sync: Replication | undefined): SyncState {
  const [kept, keep] = useState(() => new SyncStore(db, sync))
  let store = kept
  if (kept.db !== db || kept.sync !== sync) {
    store = new SyncStore(db, sync)
    keep(store)
  }
  return useSyncExternalStore(store.subscribe, store.read, store.read)
}
