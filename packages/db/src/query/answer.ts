/** How a query is answered: loaded with the first one, as a page may well begin with documents whose ids it knows. */
import { buildOperators } from './operators/build.ts'
import type { Operator } from './operators/operator.ts'
import { planQuery, type QuerySpecification } from './planner/plan.ts'
import type { QuerySource } from './query-source.ts'

/** May throw a Miss. */
export function planRows(source: QuerySource, query: QuerySpecification): Operator<object> {
  return buildOperators(source, planQuery(source, query), query)
}

/** How many rows there are, where no walk is needed to tell; else undefined. May throw a Miss. */
export function knownCount(source: QuerySource, query: QuerySpecification): number | undefined {
  const { byRank, rows } = planQuery(source, query)
  return byRank ? rows : undefined
}
