/**
 * Records purged documents for views; views learn all else from bodies. It is the only thing that a write does for
 * views, and it does nothing in a collection without views.
 */
import type { Key } from '../base/brand.ts'
import { prefixUpperBound, keyNumber, numberKey } from '../codec/key-encoding.ts'
import type { TreeReader, WriteTransaction } from '../kv/key-value-store.ts'

export interface PurgedDocument {
  readonly number: number
  readonly id: string
}

/** Prefix of keys in the tree of views (view-catalog.ts). */
export const PURGED = 'purged/'

/** Call it in the transaction that purges documents. Never misses. */
export function notePurged(
  transaction: WriteTransaction,
  collectionNumber: number,
  documents: readonly PurgedDocument[],
): void {
  const tree = transaction.tree(viewsTree(collectionNumber))
  if (tree === undefined) return
  let last = lastPurge(tree)
  for (const { number, id } of documents)
    tree.insert(purgeKey(++last), new TextEncoder().encode(JSON.stringify({ number, id })))
}

export function viewsTree(collectionNumber: number): string {
  return `${collectionNumber}/views`
}

/** The number of the last purge that is noted, or 0. */
export function lastPurge(tree: TreeReader): number {
  const cursor = tree.cursor({ gte: PURGED as Key, lt: prefixUpperBound(PURGED) }, { reverse: true })
  return cursor.next() ? keyNumber(cursor.key) : 0
}

export function purgeKey(number: number): Key {
  return (PURGED + numberKey(number)) as Key
}
