/** How a replication is, in a component, and the tabs of an app. */
import type { Database, Replication } from 'pannier'
import { nextReplication, nextTabs, type ReplicationState, type TabsState } from '@pannier/stores'
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

/**
 * The tabs of this origin that show a component with this, and whether this one leads: for work that only one of them must do. All components
 * of a page are one tab. `name` names the app.
 *
 * @example
 * const { tabs = 1, leads } = useTabs('shop')
 * const text = `open ${tabs} times${leads ? ', and this one leads' : ''}`
 */
export function useTabs(name: string): TabsState {
  return useStore<TabsState>((before) => nextTabs(before, name))
}
