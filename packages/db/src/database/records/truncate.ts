/** Deletes all documents of a collection, for the backend. */
import { throwIfCancelled } from '../../base/long-work.ts'
import { RelationGraph } from '../../relations/relation-graph.ts'
import type { JsonObject } from '../collection/document-types.ts'
import { FollowedDeletes, RelatedWrites } from '../collection/related-writes.ts'
import { assertOutside } from '../collection/transaction-scope.ts'
import type { Database } from '../database.ts'

/** Options of `truncate`. */
interface TruncateOptions {
  /** Cancels it: nothing is deleted then. */
  readonly signal?: AbortSignal
}

/**
 * Deletes all documents of a collection, with what follows from that, in one transaction that releases the thread. Resolves with
 * the number of documents that it had.
 *
 * @throws PANNIER_RELATION_BROKEN if other documents need them; PANNIER_ABORTED. Then nothing is deleted.
 */
export async function truncate(database: Database, name: string, { signal }: TruncateOptions = {}): Promise<number> {
  const { context } = database
  assertOutside(context, 'truncate()', 'Call it before or after.')
  const collection = database.collection<JsonObject>(name)
  const collectionOf = (other: string): typeof collection => database.collection<JsonObject>(other)
  const related =
    (context.relations as RelatedWrites | undefined) ?? new RelatedWrites(context, new RelationGraph([]), collectionOf)
  const deletes = new FollowedDeletes(context, name, related, collectionOf)
  const check = (): void => throwIfCancelled(signal, 'The deletion')
  check()
  return await collection.access.pending(deletes.deleteAll(check))
}
