/** The writes that a server has refused, in a component. */
import { useMemo, useSyncExternalStore } from 'react'

/** A client of `@pannier/client`. */
export interface RejectedSource<Rejected> {
  /** Calls back with the refused writes, soon, and when they are others. The function returned ends it. */
  subscribeRejected(listener: (rejected: readonly Rejected[]) => void): () => void
}

const NONE: readonly never[] = []

/**
 * The writes of a client that the server has refused, the oldest first. The component renders again when they are others.
 *
 * @example
 * const rejected = useRejected(client)
 * const messages = rejected.map(({ message }) => message)
 */
export function useRejected<Rejected>(client: RejectedSource<Rejected>): readonly Rejected[] {
  const { subscribe, read } = useMemo(() => storeOf(client), [client])
  return useSyncExternalStore(subscribe, read, readNone)
}

function readNone(): readonly never[] {
  return NONE
}

function storeOf<Rejected>(client: RejectedSource<Rejected>): {
  readonly subscribe: (listener: () => void) => () => void
  readonly read: () => readonly Rejected[]
} {
  let shown: readonly Rejected[] = NONE
  return {
    subscribe: (listener) =>
      client.subscribeRejected((rejected) => {
        // Both are none: nothing has changed.
        if (rejected.length + shown.length === 0) return
        shown = rejected
        listener()
      }),
    read: () => shown,
  }
}
