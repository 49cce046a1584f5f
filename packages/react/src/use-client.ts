/** A client of `@pannier/client` in a component: its state, the writes that were refused, and what the rules admit. */
import {
  nextCan,
  nextRejected,
  nextState,
  type CanSource,
  type RejectedSource,
  type StateSource,
} from '@pannier/stores'
import { useStore } from './use-store.ts'

/**
 * The state of a client of `@pannier/client`: who is signed in, how its sync is, and how much waits. The component renders again
 * when it changes.
 *
 * @example
 * const { status, unsent, rejected } = useSync(client)
 */
export function useSync<State>(client: StateSource<State>): State {
  return useStore<State>((before) => nextState(before, client))
}

/**
 * The writes of a client that the server has refused, the oldest first. The component renders again when they are others.
 *
 * @example
 * const rejected = useRejected(client)
 * const messages = rejected.map(({ message }) => message)
 */
export function useRejected<Rejected>(client: RejectedSource<Rejected>): readonly Rejected[] {
  return useStore<readonly Rejected[]>((before) => nextRejected(before, client))
}

/**
 * The answer of `client.can`: whether the rules admit a write. Undefined until it is known, and where that can't be
 * known on this device. The component renders again when the answer is another one.
 *
 * @example
 * const mayUpdate = useCan(client, 'update', task)
 * const mayCreate = useCan(client, 'create', 'tasks', { project })
 */
export function useCan<Question extends readonly unknown[]>(
  client: CanSource<Question>,
  ...question: Question
): boolean | undefined {
  return useStore<boolean | undefined>((before) => nextCan(before, client, question))
}
