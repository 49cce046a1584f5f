/** The values to which single relations lead, for sorts. */
import { compileFieldPath, getField } from '../codec/field-path.ts'
import { buildOperators } from '../query/operators/build.ts'
import { planQuery } from '../query/planner/plan.ts'
import type { QuerySource } from '../query/query-source.ts'
import { allOf, eachBatch, type Run } from './related-keys.ts'
import type { RelationStep } from './relation-graph.ts'
import { ALWAYS } from './relate.ts'

/** The value at the end of the path, by the id of the document to which the first step leads. Missing values are left out. */
export async function valuesAlong(
  run: Run,
  source: QuerySource,
  [step, ...others]: readonly RelationStep[],
  rest: string,
): Promise<ReadonlyMap<unknown, unknown>> {
  const values = new Map<unknown, unknown>()
  if (step === undefined) return values
  const target = source.other!(step.to)
  const further = others.length === 0 ? undefined : await valuesAlong(run, target, others, rest)
  const field = others[0]?.name ?? rest
  const path = compileFieldPath(field)
  const query = allOf(ALWAYS, field === '_id' ? [field] : ['_id', field])
  const operator = await run.source.attempt(() => buildOperators(target, planQuery(target, query), query))
  await eachBatch(run, operator, (rows) => {
    for (const row of rows) {
      const found = getField(row, path)
      const value = further === undefined ? found : further.get(found)
      if (value !== undefined) values.set((row as { readonly _id: string })._id, value)
    }
  })
  return values
}
