/**
 * The documents of a page in the order of a related field. A relation's column tells how many documents lead to each
 * value, so only those of the page are read and sorted.
 */
import { encodeIdKey } from '../codec/key-encoding.ts'
import { isAlways } from '../query/ast/normalise.ts'
import { columnsOf } from '../query/columns/column-store.ts'
import type { RelationColumn } from '../query/columns/relation-column.ts'
import { encodeIndexValue } from '../index/index-key.ts'
import { CREATED } from '../query/planner/access-path.ts'
import type { QuerySpecification } from '../query/planner/plan.ts'
import { COLUMNS_USE } from '../query/columns/column-use.ts'
import type { QuerySource } from '../query/query-source.ts'
import { NumberSetBuilder } from '../query/sets/number-set.ts'
import { numbersOf, type Run } from './related-keys.ts'
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
  if (columns === undefined || index === undefined || isSmall) return query
  const numbers = isAlways(query.condition) ? undefined : await numbersOf(run, source, query.condition)
  const { path, descending, through } = query.sort[0]!
  const ids = [...through!.values.keys()] as string[]
  const targets = await run.source.attempt(() => ids.map((id) => target.documents.numbersOf([encodeIdKey(id)])[0]))
  const column = await columns.relation({ source, target, index }, () => run.check())
  if (column === undefined) return query
  const places = new PlacesOfValues(column, through!.values, ids, targets as readonly number[], descending)
  const { rows } = column
  const isWanted = numbers === undefined ? undefined : rows.marks(numbers, 0)
  const counts = new Uint32Array(places.count)
  rows.each((row) => {
    if (isWanted === undefined || isWanted[row] === 1) counts[places.of(row)]!++
  })
  // The first and the last place with rows of the page.
  const { skip, limit } = query
  let before = 0
  let first = 0
  while (first < counts.length && before + counts[first]! <= skip) before += counts[first++]!
  let last = first
  for (let end = before; last < counts.length && end < skip + limit; last++) end += counts[last]!
  const isByCreation = query.sort.length === 1 || (query.sort[1]!.path === CREATED && !query.sort[1]!.descending)
  const found: number[][] = Array.from({ length: last - first }, () => [])
  rows.each((row) => {
    const place = places.of(row)
    if (place >= first && place < last && (isWanted === undefined || isWanted[row] === 1))
      found[place - first]!.push(rows.numberOf(row))
  })
  const inOrder = found.flat()
  const start = isByCreation ? skip - before : 0
  const page = new NumberSetBuilder()
  for (const number of isByCreation ? inOrder.slice(start, start + limit) : inOrder) page.add(number)
  return {
    ...query,
    condition: { kind: 'numbers', numbers: page.build(), column: path },
    skip: isByCreation ? 0 : skip - before,
  }
}

/** The places of rows in the order of the values to which they lead; those that lead to none come as missing values do. */
class PlacesOfValues {
  readonly count: number
  readonly #column: RelationColumn
  /** By the target's row, plus one. */
  readonly #places: Uint32Array

  constructor(
    column: RelationColumn,
    values: ReadonlyMap<unknown, unknown>,
    ids: readonly string[],
    targets: readonly number[],
    descending: boolean,
  ) {
    const keys = ids.map((id) => encodeIndexValue(values.get(id), descending))
    const missing = encodeIndexValue(undefined, descending)
    const order = [...new Set([...keys, missing])].sort()
    const placeOf = new Map(order.map((key, place) => [key, place]))
    this.count = order.length
    this.#column = column
    this.#places = new Uint32Array(column.targets.length + 1).fill(placeOf.get(missing)!)
    targets.forEach((number, at) => {
      this.#places[column.targets.rowOf(number) + 1] = placeOf.get(keys[at]!)!
    })
  }

  of(row: number): number {
    return this.#places[this.#column.targetOf(row)]!
  }
}
