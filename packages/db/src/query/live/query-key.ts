/** Text by which queries and conditions are told apart. */
import type { Condition } from '../ast/normalise.ts'
import type { QuerySpecification } from '../planner/plan.ts'

/** Equal only for conditions that say the same. */
export function conditionKey(condition: Condition): string {
  return JSON.stringify(condition, distinct)
}

/** Equal only for specifications that ask for the same. */
export function queryKey(specification: QuerySpecification): string {
  return JSON.stringify(specification, distinct)
}

/** JSON leaves out what is missing and makes null of numbers that are not finite; these are texts here, so texts are marked. */
function distinct(_name: string, value: unknown): unknown {
  if (typeof value === 'string') return `'${value}`
  if (value === undefined) return 'undefined'
  return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value
}
