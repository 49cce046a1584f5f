/** Questions to a client that the compiler takes; never run. */
import type { Client, NamedRecord, UntypedCollections } from '@pannier/client'
import { useCan } from '../../src/index.ts'

export function useQuestions(client: Client<UntypedCollections>, task: () => NamedRecord): void {
  void useCan(client, () => ['delete', task()])
  void useCan(client, () => ['create', 'tasks', { title: 'Roof' }])
  void useCan(client, ['update', task(), { title: 'Roof' }])
  // @ts-expect-error There is no such action.
  void useCan(client, () => ['remove', task()])
}
