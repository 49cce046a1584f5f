/** Stores of a client of `@pannier/client`: its state, the writes that were refused, and what its rules admit. */
import { keptFor, NONE, storeOf, type Kept, type Store } from './store.ts'

/** A client of `@pannier/client`. */
export interface StateSource<State> {
  /** Another object when something has changed. */
  readonly state: State
  /** Calls back with it, soon, and when it is another one. The function returned ends it. */
  subscribeState(listener: (state: State) => void): () => void
}

/** A client of `@pannier/client`. */
export interface RejectedSource<Rejected> {
  /** Calls back with the refused writes, soon, and when they are others. The function returned ends it. */
  subscribeRejected(listener: (rejected: readonly Rejected[]) => void): () => void
}

/** A client of `@pannier/client`. */
export interface CanSource<Question extends readonly unknown[]> {
  /** Calls back with the answer, soon, and when it is another one. The function returned ends it. */
  subscribeCan(question: Question, listener: (answer: boolean | undefined) => void): () => void
}

/** The store of the state of a client: who is signed in, how its sync is, and how much waits. */
export function nextState<State>(
  before: Kept<Store<State>> | undefined,
  client: StateSource<State>,
): Kept<Store<State>> {
  return keptFor(before, [client], () => storeOf(client.state, (show) => client.subscribeState(show)))
}

/** The store of the writes that the server has refused. */
export function nextRejected<Rejected>(
  before: Kept<Store<readonly Rejected[]>> | undefined,
  client: RejectedSource<Rejected>,
): Kept<Store<readonly Rejected[]>> {
  return keptFor(before, [client], () => storeOf<readonly Rejected[]>(NONE, (show) => client.subscribeRejected(show)))
}

/** The store of the answer of `client.can`. */
export function nextCan<Question extends readonly unknown[]>(
  before: Kept<Store<boolean | undefined>> | undefined,
  client: CanSource<Question>,
  question: Question,
): Kept<Store<boolean | undefined>> {
  // A question is new in each render, and means the same if it says the same. Only the name of a record counts.
  const key = JSON.stringify(question.map((part, index) => (index === 1 ? nameOf(part) : part)))
  return keptFor(before, [client, key], () =>
    storeOf<boolean | undefined>(undefined, (show) => client.subscribeCan(question, show)),
  )
}

function nameOf(subject: unknown): unknown {
  const { collectionName = subject, id } = Object(subject) as {
    readonly collectionName?: unknown
    readonly id?: unknown
  }
  return [collectionName, id]
}
