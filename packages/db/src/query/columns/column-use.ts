/** When queries use columns. */
import type { LeafCondition } from '../ast/normalise.ts'
import { isOnePoint } from '../ast/value-set.ts'
import type { QuerySource } from '../query-source.ts'

/** The least number of documents, and the least cost of a plan, by that of a walk of all documents. Tests change it. */
export const COLUMNS_USE: { documentsMin: number; costShareMin: number } = { documentsMin: 2000, costShareMin: 0.2 }

/** Whether it looks for text, or for several values among the elements of arrays: of a field that has a multi index. */
export function isForColumns({ indexes }: QuerySource, leaf: LeafCondition): boolean {
  if (leaf.kind === 'contains') return !leaf.negated
  const isOfElements =
    leaf.kind === 'within'
      ? !leaf.whole && !leaf.self && leaf.collation === undefined && !isOnePoint(leaf.values)
      : leaf.kind === 'elements' && leaf.which !== 'keys'
  return isOfElements && indexes.some(({ multi, fields }) => multi && fields[0]!.path === leaf.path)
}
