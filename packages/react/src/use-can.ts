/** Whether the account of a client may write something, in a component. */
import { useMemo, useSyncExternalStore } from 'react'

/** A client of `@pannier/client`. */
export interface CanSource<Question extends readonly unknown[]> {
  /** Calls back with the answer, soon, and when it is another one. The function returned ends it. */
  subscribeCan(question: Question, listener: (answer: boolean | undefined) => void): () => void
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
  // A question is new in each render, and means the same if it says the same. Only the name of a record counts.
  const key = JSON.stringify(question.map((part, index) => (index === 1 ? nameOf(part) : part)))
  const { subscribe, read } = useMemo(() => storeOf(client, question), [client, key])
  return useSyncExternalStore(subscribe, read, readNone)
}

function nameOf(subject: unknown): unknown {
  if (typeof subject !== 'object' || subject === null) return subject
  const { collectionName, id } = subject as { readonly collectionName?: unknown; readonly id?: unknown }
  return [collectionName, id]
}

function readNone(): undefined {
  return undefined
}

function storeOf<Question extends readonly unknown[]>(
  client: CanSource<Question>,
  question: Question,
): {
  readonly subscribe: (listener: () => void) => () => void
  readonly read: () => boolean | undefined
} {
  let shown: boolean | undefined
  return {
    subscribe: (listener) =>
      client.subscribeCan(question, (answer) => {
        shown = answer
        listener()
      }),
    read: () => shown,
  }
}
