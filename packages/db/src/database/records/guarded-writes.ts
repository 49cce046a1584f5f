/** Writes of a collection that a guard judges, for our own packages. */
import { type DocumentGuard, judgeBy } from './document-guard.ts'
import type { CollectionAccess, CollectionWriting } from '../collection/collection-access.ts'
import type { TransactionCollection } from '../collection/collection-operations.ts'

/** The writes that a guard judges. */
type GuardedWrites<T extends object, Input extends object = T> = Pick<
  TransactionCollection<T, Input>,
  'insert' | 'put' | 'upsert' | 'update' | 'delete' | 'putAttachment' | 'deleteAttachment'
>

/** The guard of what relations do to documents of a collection; undefined: nothing judges them. */
export type FollowingGuard = (collection: string) => DocumentGuard | undefined

/**
 * The writes of a collection, each judged by `guard` inside the transaction that writes, alone or in a transaction.
 * Documents of one batch must have different ids, or the guard would not see the first of them. `following` judges what a delete does
 * to documents that refer to the deleted one: a refusal is one of the delete.
 */
export function guarded<T extends object, Input extends object>(
  collection: TransactionCollection<T, Input>,
  guard: DocumentGuard,
  following?: FollowingGuard,
): GuardedWrites<T, Input> {
  return collection.by((access) => guardedAccess(access, guard, following))
}

function guardedAccess(access: CollectionAccess, guard: DocumentGuard, following?: FollowingGuard): CollectionAccess {
  const { catalog } = access.writing
  const own = { judge: judgeBy(guard, catalog) }
  const judgeFollowing = (collection: string): CollectionWriting['judge'] => {
    const follows = following?.(collection)
    return follows && throwing(judgeBy(follows, catalog))
  }
  return {
    judgeFollowing: following && judgeFollowing,
    // It shows the relations of each moment: they may change after it is made.
    writing: Object.assign(Object.create(access.writing) as CollectionWriting, own),
    read: (read) => access.read(read),
    write: (write) => access.write(write),
    openSource: (related) => access.openSource(related),
    relations: access.relations,
    columns: access.columns,
    loadLiveHost: access.loadLiveHost,
    uploads: () => access.uploads(),
    pending: (work) => access.pending(work),
    known: () => access.known(),
  }
}

function throwing(judge: NonNullable<CollectionWriting['judge']>): typeof judge {
  return (transaction, state, batch) => {
    const refused = judge(transaction, state, batch)
    for (const error of refused.values()) throw error
    return refused
  }
}
