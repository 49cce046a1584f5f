/** How sync is, in a component. */
import { useState, useSyncExternalStore } from 'react'
import type { Database, Replication } from 'pannier'
import { SyncStore, type SyncState } from './sync-store.ts'

/** A client of `@pannier/client`. */
export interface StatusSource<Status> {
  /** Another object when something has changed. */
  readonly status: Status
  /** Calls back then. The function returned ends it. */
  subscribe(listener: () => void): () => void
}

/**
 * The status of a client of `@pannier/client`: how its sync is, and how much waits. The component renders again when it changes.
 *
 * @example
 * const { state, unsent, rejected } = useSync(client)
 */
export function useSync<Status>(client: StatusSource<Status>): Status
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
export function useSync(db: Pick<Database, 'onChange'>, sync: Replication | undefined): SyncState
export function useSync(source: StatusSource<unknown> | Pick<Database, 'onChange'>, sync?: Replication): unknown {
  const [kept, keep] = useState(() => storeOf(source, sync))
  let store = kept
  if (kept.source !== source || kept.sync !== sync) {
    store = storeOf(source, sync)
    keep(store)
  }
  return useSyncExternalStore(store.subscribe, store.read, store.read)
}

interface Store {
  readonly source: object
  readonly sync: Replication | undefined
  readonly subscribe: (listener: () => void) => () => void
  readonly read: () => unknown
}

function storeOf(source: StatusSource<unknown> | Pick<Database, 'onChange'>, sync: Replication | undefined): Store {
  if ('status' in source)
    return { source, sync, subscribe: (listener) => source.subscribe(listener), read: () => source.status }
  const { subscribe, read } = new SyncStore(source, sync)
  return { source, sync, subscribe, read }
}
