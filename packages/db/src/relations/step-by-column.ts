/** Takes a step along a relation by a column, from one set of documents to another. */
import { columnsOf } from '../query/columns/column-store.ts'
import type { Condition, RelatedCondition } from '../query/ast/normalise.ts'
import type { Plan } from '../query/planner/plan.ts'
import { COLUMNS_USE, type QuerySource } from '../query/query-source.ts'
import type { NumberSet } from '../query/sets/number-set.ts'
import { numbersOf, type Run } from './related-keys.ts'
import { servesRelation } from './relation-index.ts'

/** Related documents, beyond which ids take longer than a column: of some, and of a share of all rows of the column. */
const DOCUMENTS_MIN = 16
const ROWS_PER_DOCUMENT = 2400

/** The documents before the step; undefined if ids are faster, or there is no column. `of`, `plan`: of the related documents. */
export async function stepByColumn(
  run: Run,
  source: QuerySource,
  target: QuerySource,
  { back, ...relation }: RelatedCondition,
  of: Condition,
  { rows }: Plan,
): Promise<NumberSet | undefined> {
  const columns = columnsOf(source)
  // It belongs to the collection that holds the ids.
  const sources = back ? { source: target, target: source } : { source, target }
  const index = sources.source.indexes.find((one) => one.builtTo === undefined && servesRelation(one, relation))
  const documents = sources.source.documents.count()
  if (columns === undefined || index === undefined || documents < COLUMNS_USE.documentsMin) return undefined
  if (COLUMNS_USE.documentsMin > 0 && rows < Math.max(DOCUMENTS_MIN, documents / ROWS_PER_DOCUMENT)) return undefined
  const column = await columns.relation({ ...sources, index }, () => run.check())
  if (column === undefined) return undefined
  const numbers = of.kind === 'numbers' ? of.numbers : await numbersOf(run, target, of)
  return column.isAt(sources.source) && column.targets.isAt(sources.target)
    ? column[back ? 'leadingFrom' : 'leadingTo'](numbers)
    : undefined
}
