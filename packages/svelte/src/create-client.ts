/** A client of `@pannier/client` in Svelte, a replication, and the tabs of an app. */
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
import { createStore, currentOf, type Current } from './create-store.ts'

/**
 * The state of a client of `@pannier/client`: who is signed in, how its sync is, and how much waits.
 *
 * @example
 * const state = createSync(client)
 * const waits = () => state.current.unsent > 0
 */
export function createSync<State extends object>(client: Given<StateSource<State>>): Current<State> {
  return currentOf(createStore((before: Kept<Store<State>> | undefined) => nextState(before, given(client))))
}

/**
 * The writes of a client that the server has refused, the oldest first.
 *
 * @example
 * const refused = createRejected(client)
 * const messages = () => refused.current.map(({ message }) => message)
 */
export function createRejected<Rejected>(client: Given<RejectedSource<Rejected>>): Current<readonly Rejected[]> {
  return currentOf(
    createStore((before: Kept<Store<readonly Rejected[]>> | undefined) => nextRejected(before, given(client))),
  )
}

/**
 * The answer of `client.can`: whether the rules admit a write. Undefined until it is known, and where that can't be
 * known on this device.
 *
 * @example
 * const mayUpdate = createCan(client, () => ['update', task])
 * const isLocked = () => mayUpdate.current === false
 */
export function createCan<const Question extends readonly unknown[]>(
  client: Given<CanSource<Question>>,
  question: Given<Question>,
): Current<boolean | undefined> {
  return currentOf(
    createStore((before: Kept<Store<boolean | undefined>> | undefined) =>
      nextCan(before, given(client), given(question)),
    ),
  )
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
  const read = createStore((before: Kept<Store<ReplicationState>> | undefined) =>
    nextReplication(before, db, given(replication)),
  )
  return viewOf(() => read()[1])
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
  const read = createStore((before: Kept<Store<TabsState>> | undefined) => nextTabs(before, given(name)))
  return viewOf(() => read()[1])
}
