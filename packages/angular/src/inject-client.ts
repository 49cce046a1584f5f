/** A client of `@pannier/client` in Angular, a replication, and the tabs of an app. */
import type { Signal } from '@angular/core'
import type { Database, Replication } from 'pannier'
import {
  given,
  nextCan,
  nextRejected,
  nextReplication,
  nextState,
  nextTabs,
  type CanSource,
  type Kept,
  type Given,
  type RejectedSource,
  type ReplicationState,
  type StateSource,
  type Store,
  type TabsState,
} from '@pannier/stores'
import { injectStore, signalsOf, type Signals } from './inject-store.ts'

/**
 * The state of a client of `@pannier/client`: who is signed in, how its sync is, and how much waits.
 *
 * @example
 * const state = injectSync(client)
 * const waits = () => state().unsent > 0
 */
export function injectSync<State extends object>(client: Given<StateSource<State>>): Signal<State> {
  return injectStore((before: Kept<Store<State>> | undefined) => nextState(before, given(client))).state
}

/**
 * The writes of a client that the server has refused, the oldest first.
 *
 * @example
 * const refused = injectRejected(client)
 * const messages = () => refused().map(({ message }) => message)
 */
export function injectRejected<Rejected>(client: Given<RejectedSource<Rejected>>): Signal<readonly Rejected[]> {
  return injectStore((before: Kept<Store<readonly Rejected[]>> | undefined) => nextRejected(before, given(client)))
    .state
}

/**
 * The answer of `client.can`: whether the rules admit a write. Undefined until it is known, and where that can't be
 * known on this device.
 *
 * @example
 * const mayUpdate = injectCan(client, () => ['update', task])
 * const isLocked = () => mayUpdate() === false
 */
export function injectCan<const Question extends readonly unknown[]>(
  client: Given<CanSource<Question>>,
  question: Given<Question>,
): Signal<boolean | undefined> {
  return injectStore((before: Kept<Store<boolean | undefined>> | undefined) =>
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
 * const replication = injectReplication(db, sync)
 * const text = () => `${replication.status()}, ${replication.unsent()} wait`
 */
export function injectReplication(
  db: Pick<Database, 'subscribe'>,
  replication: Given<Replication | undefined>,
): Signals<ReplicationState> {
  return signalsOf(
    injectStore((before: Kept<Store<ReplicationState>> | undefined) => nextReplication(before, db, given(replication)))
      .state,
  )
}

/**
 * The tabs of this origin that show a component with this, and whether this one leads: for work that only one of them must do. All components
 * of a page are one tab. `name` names the app.
 *
 * @example
 * const app = injectTabs('shop')
 * const text = () => `open ${app.tabs()} times${app.leads() ? ', and this one leads' : ''}`
 */
export function injectTabs(name: Given<string>): Signals<TabsState> {
  return signalsOf(injectStore((before: Kept<Store<TabsState>> | undefined) => nextTabs(before, given(name))).state)
}
