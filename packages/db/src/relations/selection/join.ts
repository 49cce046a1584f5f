/** Joins documents of two collections by equal texts: those that have a partner become a plain condition. */
import { combine, type Condition } from '../../query/ast/normalise.ts'
import { points } from '../../query/ast/value-set.ts'
import { compileFieldPath, getField } from '../../codec/field-path.ts'
import { buildOperators } from '../../query/operators/build.ts'
import type { Plan, QuerySpecification } from '../../query/planner/plan.ts'
import type { QuerySource } from '../../query/query-source.ts'
import { ALWAYS, NEVER } from '../relate.ts'
import { eachBatch, type Run } from '../related-keys.ts'
import { holding, textValues } from './selection-condition.ts'

/** Pairs of a field of the partner and one of the document. */
type JoinPairs = readonly (readonly [related: string, own: string])[]

/** The documents that have a partner. `query` and `plan`: for the fields of all partners, or of one if there are no pairs. */
export async function partnersOf(
  run: Run,
  target: QuerySource,
  pairs: JoinPairs,
  query: QuerySpecification,
  plan: Plan,
): Promise<Condition> {
  const read = pairs.map(([field]) => compileFieldPath(field))
  const tuples = new Map<string, readonly string[]>()
  const operator = await run.source.attempt(() => buildOperators(target, plan, query))
  await eachBatch(run, operator, (rows) => {
    for (const row of rows) {
      const texts = textsOf(read.map((path) => getField(row, path)))
      if (texts !== undefined) tuples.set(JSON.stringify(texts), texts)
    }
  })
  if (pairs.length === 0) return tuples.size === 0 ? NEVER : ALWAYS
  const [[, own]] = pairs as [readonly [string, string]]
  const first = new Set(Array.from(tuples.values(), (texts) => texts[0]!))
  const values = textValues(points([...first]), first.has(''))
  if (values.length === 0) return NEVER
  const narrowing: Condition = { kind: 'within', path: own, values, every: false, whole: true, self: true }
  if (pairs.length === 1) return narrowing
  const holds = (found: readonly unknown[]): boolean => {
    const texts = textsOf(found)
    return texts !== undefined && tuples.has(JSON.stringify(texts))
  }
  return combine('and', [
    narrowing,
    holding(
      pairs.map(([, path]) => path),
      holds,
    ),
  ])
}

/** Undefined if one of them is no text. */
function textsOf(values: readonly unknown[]): readonly string[] | undefined {
  const texts = values.map((value) => value ?? '')
  return texts.every((text) => typeof text === 'string') ? texts : undefined
}
