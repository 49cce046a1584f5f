/** How a replication is, in a component. */
import type { Database, Replication } from 'pannier'
import { nextReplication, type ReplicationState } from '@pannier/stores'
import { useStore } from './use-store.ts'

/**
 * How a replication is, and how many changes of this device it has not sent yet, also while there is no network. The
 * component renders again when that changes. It does not end the replication: its creator does.
 *
 * @param db The database of the replication, whose commits change what is not sent.
 * @param replication Undefined: no replication yet.
 * @example
 * const sync = db.sync('https://example.org', { collections: ['notes'], live: true })   // outside of components
 * const { status, unsent } = useReplication(db, sync)
 */
export function useReplication(
  db: Pick<Database, 'subscribe'>,
  replication: Replication | undefined,
): ReplicationState {
  return useStore<ReplicationState>((before) => nextReplication(before, db, replication))
}
