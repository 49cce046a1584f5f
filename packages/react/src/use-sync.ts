/** The state of a client, in a component. */
import { useMemo, useSyncExternalStore } from 'react'

/** A client of `@pannier/client`. */
export interface StateSource<State> {
  /** Another object when something has changed. */
  readonly state: State
  /** Calls back with it, soon, and when it is another one. The function returned ends it. */
  subscribeState(listener: (state: State) => void): () => void
}

/**
 * The state of a client of `@pannier/client`: who is signed in, how its sync is, and how much waits. The component renders again
 * when it changes.
 *
 * @example
 * const { status, unsent, rejected } = useSync(client)
 */
export function useSync<State>(client: StateSource<State>): State {
  const subscribe = useMemo(() => (listener: () => void) => client.subscribeState(listener), [client])
  const read = (): State => client.state
  return useSyncExternalStore(subscribe, read, read)
}
