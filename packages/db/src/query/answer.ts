/** How a query is answered. */
import { isPromise } from '../base/async.ts'
import { buildOperators } from './operators/build.ts'
import { BATCH_ROWS_MAX, type Operator } from './operators/operator.ts'
import { planQuery, type QuerySpecification } from './planner/plan.ts'
import type { QuerySource } from './query-source.ts'

/** May throw a Miss. */
export function planRows(source: QuerySource, query: QuerySpecification): Operator<object> {
  // Whole documents are read from nothing else.
  if (query.fields === undefined && query.limit > 0) source.documents.prefetch()
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
    const paused = source.pause()
    if (isPromise(paused)) await paused
  }
}
