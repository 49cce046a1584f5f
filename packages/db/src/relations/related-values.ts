/** The values to which single relations lead, for sorts. */
import { compileFieldPath, getField } from '../codec/field-path.ts'
import { buildOperators } from '../query/operators/build.ts'
import { planQuery, type SortField } from '../query/planner/plan.ts'
import type { QuerySource } from '../query/query-source.ts'
import { allOf, eachBatch, isOneOf, type Run } from './related-keys.ts'
import type { RelationStep } from './relation-graph.ts'
import type { RelationPath } from './relation-path.ts'
import { ALWAYS } from './relate.ts'

/** The sort, with the values of related documents where it goes through relations (`paths`). `documents`: only what these need. */
export async function sortThrough(
  run: Run,
  source: QuerySource,
  sort: readonly SortField[],
  paths: readonly RelationPath[],
  documents?: readonly Readonly<Record<string, unknown>>[],
): Promise<SortField[]> {
  const fields: SortField[] = []
  for (const [at, field] of sort.entries()) {
    const { steps, rest } = paths[at]!
    const [step] = steps
    if (step === undefined) fields.push(field)
    else {
      const ids = documents && referencesIn(documents.map((document) => document[step.name]))
      const values = await valuesAlong(run, source, steps, rest, ids)
      fields.push({ ...field, path: step.name, through: { path: field.path, values } })
    }
  }
  return fields
}

/**
 * The value at the end of the path, by the id of the document to which the first step leads. Missing values are left out. `ids`: of
 * these documents; undefined: of all.
 */
async function valuesAlong(
  run: Run,
  source: QuerySource,
  [step, ...others]: readonly RelationStep[],
  rest: string,
  ids?: readonly string[],
): Promise<ReadonlyMap<unknown, unknown>> {
  const values = new Map<unknown, unknown>()
  if (step === undefined) return values
  const target = source.other!(step.to)
  const field = others[0]?.name ?? rest
  const path = compileFieldPath(field)
  const query = allOf(
    ids === undefined ? ALWAYS : isOneOf('_id', ids, true),
    field === '_id' ? [field] : ['_id', field],
  )
  const operator = await run.source.attempt(() => buildOperators(target, planQuery(target, query), query))
  await eachBatch(run, operator, (rows) => {
    for (const row of rows) {
      const value = getField(row, path)
      if (value !== undefined) values.set((row as { readonly _id: string })._id, value)
    }
  })
  if (others.length === 0) return values
  const further = await valuesAlong(run, target, others, rest, ids && referencesIn(values.values()))
  for (const [id, found] of values) {
    const value = further.get(found)
    if (value === undefined) values.delete(id)
    else values.set(id, value)
  }
  return values
}

/** The ids among the values of a single relation. */
function referencesIn(values: Iterable<unknown>): string[] {
  return [...new Set([...values].filter((value) => typeof value === 'string'))]
}
