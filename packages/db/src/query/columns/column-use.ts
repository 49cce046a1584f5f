/** When queries use columns. */
import type { LeafCondition } from '../ast/normalise.ts'
import { isOnePoint } from '../ast/value-set.ts'
import type { QuerySource } from '../query-source.ts'

/** The least number of documents, and the least cost of a plan, by that of a walk of all documents. Tests change it. */
export const COLUMNS_USE: { documentsMin: number; costShareMin: number } = { documentsMin: 2000, costShareMin: 0.2 }

/**
 * Whether a column may answer it. Columns look for text, and for values of a field without an index. Where a field has a
 * multi index, they look for several values.
 *
 * @param ends Its query may end after a few documents: then what has no index is tested on these.
 */
export function isForColumns({ indexes }: QuerySource, leaf: LeafCondition, ends: boolean): boolean {
  if (leaf.kind === 'contains') return !leaf.negated
  const serving = indexes.filter(({ fields }) => fields.some(({ path }) => path === leaf.path))
  const isAsked = serving.length === 0 ? !ends : serving.some(({ multi }) => multi)
  if (leaf.kind === 'elements') return isAsked && leaf.which !== 'keys'
  if (leaf.kind !== 'within' || leaf.whole || leaf.self) return false
  return isAsked && !(serving.length > 0 && isOnePoint(leaf.values))
}
