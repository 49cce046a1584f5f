/** A client of `@pannier/client` in Solid, a replication, and the tabs of an app. */
import type { Accessor } from 'solid-js'
import type { Database, Replication } from 'pannier'
import {
  given,
  nextCan,
  nextRejected,
  nextReplication,
  nextState,
  nextTabs,
  viewOf,
  type CanSource,
  type Kept,
  type Given,
  type RejectedSource,
  type ReplicationState,
  type StateSource,
  type Store,
  type TabsState,
} from '@pannier/stores'
import { createStore } from './create-store.ts'

/**
 * The state of a client of `@pannier/client`: who is signed in, how its sync is, and how much waits.
 *
 * @example
 * const state = createSync(client)
 * const waits = () => state().unsent > 0
 */
export function createSync<State extends object>(client: Given<StateSource<State>>): Accessor<State> {
  return createStore((before: Kept<Store<State>> | undefined) => nextState(before, given(client))).state
}

/**
 * The writes of a client that the server has refused, the oldest first.
 *
 * @example
 * const refused = createRejected(client)
 * const messages = () => refused().map(({ message }) => message)
 */
export function createRejected<Rejected>(client: Given<RejectedSource<Rejected>>): Accessor<readonly Rejected[]> {
  return createStore((before: Kept<Store<readonly Rejected[]>> | undefined) => nextRejected(before, given(client)))
    .state
}

/**
 * The answer of `client.can`: whether the rules admit a write. Undefined until it is known, and where that can't be
 * known on this device.
 *
 * @example
 * const mayUpdate = createCan(client, () => ['update', task])
 * const isLocked = () => mayUpdate() === false
 */
export function createCan<const Question extends readonly unknown[]>(
  client: Given<CanSource<Question>>,
  question: Given<Question>,
): Accessor<boolean | undefined> {
  return createStore((before: Kept<Store<boolean | undefined>> | undefined) =>
    nextCan(before, given(client), given(question)),
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
 * const replication = createReplication(db, sync)
 * const text = () => `${replication.status}, ${replication.unsent} wait`
 */
export function createReplication(
  db: Pick<Database, 'subscribe'>,
  replication: Given<Replication | undefined>,
): ReplicationState {
  return viewOf(
    createStore((before: Kept<Store<ReplicationState>> | undefined) => nextReplication(before, db, given(replication)))
      .state,
  )
}

/**
 * The tabs of this origin that show a component with this, and whether this one leads: for work that only one of them must do. All components
 * of a page are one tab. `name` names the app.
 *
 * @example
 * const app = createTabs('shop')
 * const text = () => `open ${app.tabs} times${app.leads ? ', and this one leads' : ''}`
 */
export function createTabs(name: Given<string>): TabsState {
  return viewOf(createStore((before: Kept<Store<TabsState>> | undefined) => nextTabs(before, given(name))).state)
}
