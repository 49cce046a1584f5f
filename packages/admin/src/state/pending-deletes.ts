/**
 * Records that are going to be deleted. A delete can't be taken back: files, dates and what it cascades to are gone. So the page waits as
 * long as it offers to undo, and shows the records as leaving. Signing out, or in as another account, undoes it: nothing is deleted in the
 * name of others.
 */
import type { Environment } from '../environment.ts'
import { session } from './session.ts'
import { Store } from './store.ts'
import { UNDO_MS } from './undo.ts'

const AT_ONCE = 6

export const leaving: Store<ReadonlySet<string>> = new Store(new Set())

addEventListener('beforeunload', (event) => {
  if (leaving.get().size > 0) event.preventDefault()
})

interface PendingDelete {
  /** Nothing is deleted then. */
  readonly undo: () => Promise<void>
  /** Resolves when all are deleted, or it was undone. @throws ApiError the first one; those that are left stay */
  readonly done: Promise<void>
}

/** `remove` deletes one. */
export function deleteLater(
  environment: Environment,
  ids: readonly string[],
  remove: (id: string) => Promise<void>,
): PendingDelete {
  leaving.update((before) => new Set([...before, ...ids]))
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const account = session.get()?.record.id
  const isSame = (): boolean => session.get()?.record.id === account
  const cancel = environment.after(UNDO_MS, () => resolve(true))
  const stay = (): void =>
    leaving.update((before) => {
      const next = new Set(before)
      for (const id of ids) next.delete(id)
      return next
    })
  const done = promise.then((isMeant) => (isMeant ? deleteAll(ids, remove, isSame) : undefined)).finally(stay)
  return {
    done,
    undo: async () => {
      cancel()
      resolve(false)
      await done
    },
  }
}

async function deleteAll(
  ids: readonly string[],
  remove: (id: string) => Promise<void>,
  isSame: () => boolean,
): Promise<void> {
  const waiting = [...ids]
  const lane = async (): Promise<void> => {
    for (let id = waiting.shift(); id !== undefined && isSame(); id = waiting.shift()) await remove(id)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, lane))
}
