/** What a plan (document-plan.ts) does to the trees of a collection, beside what every write does. Reads nothing. */
import type { Key } from '../base/brand.ts'
import { numberKey } from '../codec/key-encoding.ts'
import type { WriteTransaction } from '../kv/key-value-store.ts'
import { madeTree } from './apply-writes.ts'
import { composeBody, numberBytes } from './body.ts'
import type { CollectionState } from './collection-state.ts'
import type { EntryChange, RevisionChange } from './revision-change.ts'
import { revisionKey, revisionValue } from './revision-entry.ts'

/** The body that the winner gets; of a document of which nothing is left, something that is removed at once. */
export function plannedBody({ winner, hasOtherLeaves }: RevisionChange, number: number | undefined): Uint8Array {
  return winner === undefined ? NOTHING : composeBody(winner.parts, winner.revision, number, hasOtherLeaves)
}

export function applyPlan(
  transaction: WriteTransaction,
  state: CollectionState,
  { key, number }: { readonly key: Key; readonly number: number },
  plan: RevisionChange,
): void {
  const { trees } = state
  for (const { sequence, bytes } of plan.removedBodies) {
    transaction.tree(trees.extra)!.remove(numberKey(sequence), bytes.length)
  }
  for (const revision of plan.removed) transaction.tree(trees.revisions)!.remove(revisionKey(number, revision))
  for (const entry of plan.entries) {
    const { revision, known, parent, leaf, deleted } = entry
    const value = revisionValue({ parent, leaf, deleted, body: bodyNumber(transaction, state, number, entry) })
    const revisions = madeTree(transaction, trees.revisions, 'ordered')
    if (known) revisions.replace(revisionKey(number, revision), value)
    else revisions.insert(revisionKey(number, revision), value)
  }
  if (plan.isInConflict === plan.wasInConflict) return
  if (plan.isInConflict) madeTree(transaction, trees.conflicts, 'ordered').insert(key, numberBytes(number))
  else transaction.tree(trees.conflicts)!.remove(key)
}

function bodyNumber(
  transaction: WriteTransaction,
  { trees }: CollectionState,
  number: number,
  { body, revision }: EntryChange,
): number | undefined {
  if (typeof body !== 'object') return body
  return madeTree(transaction, trees.extra, 'sequence').append(composeBody(body, revision, number, false))
}

const NOTHING: Uint8Array = new Uint8Array(1)
