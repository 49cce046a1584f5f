/** A client of `@pannier/client` in a component, a replication, and the tabs of an app. */
import { toValue, type ComputedRef, type MaybeRefOrGetter } from 'vue'
import type { Database, Replication } from 'pannier'
import {
  nextCan,
  nextRejected,
  nextReplication,
  nextState,
  nextTabs,
  type CanSource,
  type Kept,
  type RejectedSource,
  type ReplicationState,
  type StateSource,
  type Store,
  type TabsState,
} from '@pannier/stores'
import { refsOf, useStore, type Refs } from './use-store.ts'

/**
 * The state of a client of `@pannier/client`: who is signed in, how its sync is, and how much waits.
 *
 * @example
 * const state = useSync(client)
 * const waits = () => state.value.unsent > 0
 */
export function useSync<State>(client: MaybeRefOrGetter<StateSource<State>>): ComputedRef<State> {
  return useStore((before: Kept<Store<State>> | undefined) => nextState(before, toValue(client))).state
}

/**
 * The writes of a client that the server has refused, the oldest first.
 *
 * @example
 * const refused = useRejected(client)
 * const messages = () => refused.value.map(({ message }) => message)
 */
export function useRejected<Rejected>(
  client: MaybeRefOrGetter<RejectedSource<Rejected>>,
): ComputedRef<readonly Rejected[]> {
  return useStore((before: Kept<Store<readonly Rejected[]>> | undefined) => nextRejected(before, toValue(client))).state
}

/**
 * The answer of `client.can`: whether the rules admit a write. Undefined until it is known, and where that can't be
 * known on this device.
 *
 * @example
 * const mayUpdate = useCan(client, () => ['update', task])
 * const isLocked = () => mayUpdate.value === false
 */
export function useCan<const Question extends readonly unknown[]>(
  client: MaybeRefOrGetter<CanSource<Question>>,
  question: MaybeRefOrGetter<Question>,
): ComputedRef<boolean | undefined> {
  return useStore((before: Kept<Store<boolean | undefined>> | undefined) =>
    nextCan(before, toValue(client), toValue(question)),
  ).state
}

/**
 * How a replication is, and how many changes of this device it has not sent yet, also while there is no network. It does not end the
 * replication: its creator does.
 *
 * @param db The database of the replication, whose commits change what is not sent.
 * @param replication Undefined: no replication yet.
 * @example
 * const sync = db.sync('https://example.org', { collections: ['notes'], live: true }) // outside of components
 * const { status, unsent } = useReplication(db, sync)
 */
export function useReplication(
  db: Pick<Database, 'subscribe'>,
  replication: MaybeRefOrGetter<Replication | undefined>,
): Refs<ReplicationState> {
  return refsOf(
    useStore((before: Kept<Store<ReplicationState>> | undefined) => nextReplication(before, db, toValue(replication)))
      .state,
  )
}

/**
 * The tabs of this origin that show a component with this, and whether this one leads: for work that only one of them must do. All components
 * of a page are one tab. `name` names the app.
 *
 * @example
 * const { tabs, leads } = useTabs('shop')
 * const text = () => `open ${tabs.value} times${leads.value ? ', and this one leads' : ''}`
 */
export function useTabs(name: MaybeRefOrGetter<string>): Refs<TabsState> {
  return refsOf(useStore((before: Kept<Store<TabsState>> | undefined) => nextTabs(before, toValue(name))).state)
}
