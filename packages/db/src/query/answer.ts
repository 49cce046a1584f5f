/** How a query is answered: loaded with the first one, as a page may well begin with documents whose ids it knows. */
import { buildOperators } from './operators/build.ts'
import { BATCH_ROWS_MAX, type Operator } from './operators/operator.ts'
import { planQuery, type QuerySpecification } from './planner/plan.ts'
import type { QuerySource } from './query-source.ts'

/** May throw a Miss. */
export function planRows(source: QuerySource, query: QuerySpecification): Operator<object> {
  return buildOperators(source, planQuery(source, query), query)
}

/** How many rows there are: known at once where no walk is needed to tell. `check` is called again and again, and may throw. */
export async function countRows(source: QuerySource, query: QuerySpecification, check: () => void): Promise<number> {
  const plan = await source.attempt(() => planQuery(source, query))
  if (plan.byRank) return plan.rows
  const operator = await source.attempt(() => buildOperators(source, plan, query))
  for (let count = 0; ;) {
    check()
    const batch = await source.attempt(() => operator.next(BATCH_ROWS_MAX))
    if (batch === undefined) return count
    count += batch.length
  }
}
