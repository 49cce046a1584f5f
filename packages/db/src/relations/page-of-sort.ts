/**
 * The documents of a page in the order of a related field. A relation's column tells how many documents lead to each
 * value, so only those of the page are read and sorted.
 */
import { isAlways } from '../query/ast/normalise.ts'
import { columnsOf } from '../query/columns/column-store.ts'
import { CREATED } from '../query/planner/access-path.ts'
import type { QuerySpecification } from '../query/planner/plan.ts'
import { COLUMNS_USE, type QuerySource } from '../query/query-source.ts'
import { NumberSetBuilder } from '../query/sets/number-set.ts'
import { numbersOf, type Run } from './related-keys.ts'
import { HeldValues } from './related-values.ts'
import { servesRelation } from './relation-index.ts'
import type { Relation } from './relation-graph.ts'

/** A query for the same rows of fewer documents; the query itself if there is no column. Its first sort field goes through the relation. */
export async function pageOfSort(
  run: Run,
  source: QuerySource,
  query: QuerySpecification,
  relation: Relation,
): Promise<QuerySpecification> {
  const columns = columnsOf(source)
  const target = source.other!(relation.to)
  const index = source.indexes.find((one) => one.builtTo === undefined && servesRelation(one, relation))
  const isSmall = source.documents.count() < COLUMNS_USE.documentsMin
  const { path, descending, through } = query.sort[0]!
  const { values } = through!
  if (columns === undefined || index === undefined || isSmall || !(values instanceof HeldValues)) return query
  const numbers = isAlways(query.condition) ? undefined : await numbersOf(run, source, query.condition)
  const column = await columns.relation({ source, target, index }, () => run.check())
  if (column === undefined) return query
  const { byRow, count } = await values.placesIn(run, target, column.targets)
  if (!column.isAt(source) || !column.targets.isAt(target)) return query
  const { rows } = column
  const places = descending ? byRow.map((place) => count - 1 - place) : byRow
  const isWanted = numbers === undefined ? rows.livingMarks() : rows.marks(numbers, 0)
  const counts = new Uint32Array(count)
  column.countTargets(isWanted).forEach((led, at) => (counts[places[at]!]! += led))
  // The first and the last place with rows of the page.
  const { skip, limit } = query
  let before = 0
  let first = 0
  while (first < counts.length && before + counts[first]! <= skip) before += counts[first++]!
  let last = first
  for (let end = before; last < counts.length && end < skip + limit; last++) end += counts[last]!
  const isOfPage = Uint8Array.from(places, (place) => Number(place >= first && place < last))
  const found: number[][] = Array.from({ length: last - first }, () => [])
  for (const row of column.rowsLeadingTo(isOfPage, isWanted))
    found[places[column.targetOf(row)]! - first]!.push(rows.numberOf(row))
  const inOrder = found.flat()
  const isByCreation = query.sort.length === 1 || (query.sort[1]!.path === CREATED && !query.sort[1]!.descending)
  const start = isByCreation ? skip - before : 0
  const page = new NumberSetBuilder()
  for (const number of isByCreation ? inOrder.slice(start, start + limit) : inOrder) page.add(number)
  return {
    ...query,
    condition: { kind: 'numbers', numbers: page.build(), column: path },
    skip: isByCreation ? 0 : skip - before,
  }
}
