/** The index that would have helped a query most, if there is one: equal fields first, then those of the sort, then a range. */
import type { IndexDefinition } from '../../document/collection-state.ts'
import { INDEX_FIELDS_MAX, type IndexInput } from '../../index/index-definition.ts'
import { conjuncts, isAlways, type Condition, type WithinCondition } from '../ast/normalise.ts'
import { ARRAYS, isOnePoint } from '../ast/value-set.ts'
import type { Plan, QuerySpecification } from './plan.ts'

/** Undefined if the plan is as good as an index can make it, or the index is there. */
export function suggestIndex(
  plan: Plan,
  { condition, sort }: QuerySpecification,
  indexes: readonly IndexDefinition[],
): IndexInput | undefined {
  const isFine = plan.access.kind !== 'scan' && plan.sort === undefined && isAlways(plan.residual)
  if (isFine) return undefined
  const parts = conjuncts(condition).filter(isIndexable)
  const element = parts.find((part) => parts.some((other) => other.values === ARRAYS && isElement(part, other)))
  if (element !== undefined) {
    const { path } = element
    return has(indexes, [path], true) ? undefined : { on: path, multi: true }
  }
  const fields = [...new Set(parts.filter(({ values }) => isOnePoint(values)).map(({ path }) => path))]
  const sorted = sort.filter(({ path }) => !fields.includes(path))
  fields.push(...sorted.map(({ path, descending }) => (descending ? `-${path}` : path)))
  const others = parts
    .map(({ path }) => path)
    .filter((path) => !fields.some((field) => field.replace(/^-/, '') === path))
  if (others.length > 0) fields.push(others[0]!)
  if (fields.length === 0 || fields.length > INDEX_FIELDS_MAX || fields[0] === '_id' || has(indexes, fields, false)) {
    return undefined
  }
  return fields
}

/** `_id` is looked up without an index, other reserved names can't have one. */
function isIndexable(part: Condition): part is WithinCondition {
  return part.kind === 'within' && !part.path.startsWith('_')
}

/** An element is looked for in what has to be an array. */
function isElement(part: WithinCondition, array: WithinCondition): boolean {
  return part.path === array.path && !part.self && !part.every
}

function has(indexes: readonly IndexDefinition[], fields: readonly string[], multi: boolean): boolean {
  return indexes.some(
    (index) =>
      index.multi === multi &&
      index.where === undefined &&
      index.text === undefined &&
      fields.every((field, at) => {
        const there = index.fields[at]
        return there !== undefined && (there.descending ? `-${there.path}` : there.path) === field
      }),
  )
}
