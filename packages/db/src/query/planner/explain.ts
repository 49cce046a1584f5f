/** A plan as plain data for people: a tree of steps, each with the step that feeds it. */
import { isAlways, type Condition } from '../ast/normalise.ts'
import { intervalsOf, isOnePoint, type ValueSet } from '../ast/value-set.ts'
import type { AccessPath } from './access-path.ts'
import type { Plan, QuerySpecification } from './plan.ts'

export interface Explanation {
  readonly plan: PlanStep
  /** Rows before skip and limit. */
  readonly rows: number
  /** True: `rows` is exact; false: there may be fewer. */
  readonly rowsExact: boolean
  /** The index alone gives the order. */
  readonly sortedByIndex: boolean
  /** No document is read. */
  readonly covering: boolean
  /** In units of testing one document in a scan. */
  readonly cost: number
}

export interface PlanStep {
  readonly step:
    | 'full scan'
    | 'id scan'
    | 'index scan'
    | 'union'
    | 'nothing'
    | 'fetch'
    | 'filter'
    | 'sort'
    | 'skip'
    | 'limit'
    | 'project'
  readonly [detail: string]: unknown
}

export function explainPlan(plan: Plan, query: QuerySpecification): Explanation {
  const { access, residual, filter, sort, project, byRank } = plan
  const isExact = isAlways(residual)
  const reads = access.kind === 'scan' ? {} : { reads: filter }
  let tree = explainAccess(access, plan.reverse)
  let fetched = access.kind === 'scan'
  const fetch = (): void => {
    if (!fetched) tree = { step: 'fetch', input: tree }
    fetched = true
  }
  if (filter === 'documents') fetch()
  if (!isExact) tree = { step: 'filter', ...reads, condition: explainCondition(residual), input: tree }
  if (sort !== undefined) {
    if (sort === 'documents') fetch()
    tree = { step: 'sort', by: query.sort.map(fieldName), input: tree }
    fetched = false
  }
  if (query.skip > 0) tree = { step: 'skip', rows: query.skip, byRank: byRank && sort === undefined, input: tree }
  if (query.limit < Infinity) tree = { step: 'limit', rows: query.limit, input: tree }
  if (project === 'documents') fetch()
  if (query.fields !== undefined) tree = { step: 'project', fields: query.fields, input: tree }
  return {
    plan: tree,
    rows: plan.rows,
    rowsExact: byRank || (isExact && access.kind === 'scan'),
    sortedByIndex: query.sort.length > 0 && sort === undefined,
    covering: project === 'entries',
    cost: plan.cost,
  }
}

function explainAccess(access: AccessPath, reverse: boolean): PlanStep {
  const { kind, index, rows, bounds, ranges } = access
  const details = {
    ranges: ranges.length,
    bounds: bounds.map(({ path, values }) => ({ path, values: explainValues(values) })),
    rows,
  }
  switch (kind) {
    case 'scan':
      return { step: 'full scan', rows }
    case 'ids':
      return { step: 'id scan', reverse, ...details }
    case 'index':
      return {
        step: 'index scan',
        index: index!.name,
        fields: index!.fields.map(fieldName),
        multi: index!.multi,
        reverse,
        ...details,
      }
    default:
      if (access.branches.length === 0) return { step: 'nothing' }
      return { step: 'union', inputs: access.branches.map((branch) => explainAccess(branch, false)), rows }
  }
}

function explainValues(values: ValueSet): unknown[] {
  return intervalsOf(values).map(([start, end]) => {
    if (end !== undefined && isOnePoint([start, end])) return { $eq: start.value }
    const upper = end === undefined ? {} : { [end.above ? '$lte' : '$lt']: end.value }
    return { [start.above ? '$gt' : '$gte']: start.value, ...upper }
  })
}

function explainCondition(condition: Condition): unknown {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return { [`$${condition.kind}`]: condition.of.map(explainCondition) }
    case 'regex': {
      const found = { $regex: condition.source, $options: condition.flags }
      return { [condition.path]: condition.negated ? { $not: found } : found }
    }
    default:
      return { [condition.path]: { [condition.every ? '$every' : '$some']: explainValues(condition.values) } }
  }
}

function fieldName({ path, descending }: { readonly path: string; readonly descending: boolean }): string {
  return descending ? `-${path}` : path
}
