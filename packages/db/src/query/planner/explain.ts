/**
 * A plan, and what running it took, as plain data for people: a tree of steps, each with the step that feeds it. Also the index
 * that would help most.
 */
import { Miss } from '../../base/miss.ts'
import { type IndexInput, INDEX_FIELDS_MAX } from '../../index/index-definition.ts'
import { isAlways, type Condition, type TestCondition, conjuncts, type WithinCondition } from '../ast/normalise.ts'
import { intervalsOf, isOnePoint, type ValueSet, ARRAYS } from '../ast/value-set.ts'
import { buildOperators } from '../operators/build.ts'
import { BATCH_ROWS_WHOLE, type Tally } from '../operators/operator.ts'
import type { QuerySource } from '../query-source.ts'
import type { AccessPath } from './access-path.ts'
import { planQuery, type Plan, type QuerySpecification } from './plan.ts'
import type { IndexDefinition } from '../../document/collection-state.ts'

/** How a query is answered: its plan, its indexes and its costs. */
export interface Explanation {
  /** The steps, each with the steps below it. */
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
  /** An index that would have helped, as `collection(name, { indexes })` takes it. */
  readonly suggestion: IndexInput | undefined
  /** For a query that was run. */
  readonly actual?: ActualWork
}

interface ActualWork {
  /** Rows that the query gave. */
  readonly rows: number
  /** Documents that were read. */
  readonly documents: number
  /** Pages that were read because they were not in memory. */
  readonly pages: number
}

export interface PlanStep {
  readonly step:
    | 'full scan'
    | 'id scan'
    | 'index scan'
    | 'union'
    | 'intersection'
    | 'nothing'
    | 'fetch'
    | 'filter'
    | 'sort'
    | 'skip'
    | 'limit'
    | 'project'
  readonly [detail: string]: unknown
}

/** With `check`, which is called again and again and may throw, the query is run. */
export async function explainQuery(
  source: QuerySource,
  query: QuerySpecification,
  check: (() => void) | undefined,
): Promise<Explanation> {
  const tally = new RowCounts()
  const counted: QuerySource = { ...source, attempt: (step) => source.attempt(() => tally.watch(step)) }
  const plan = await counted.attempt(() => planQuery(counted, query))
  const suggestion = suggestIndex(plan, query, source.indexes)
  if (check === undefined) return explainPlan(plan, query, suggestion)
  const operator = await counted.attempt(() => buildOperators(counted, plan, query, { tally }))
  do {
    check()
    await source.pause()
  } while ((await counted.attempt(() => operator.next(BATCH_ROWS_WHOLE))) !== undefined)
  return explainPlan(plan, query, suggestion, tally)
}

class RowCounts implements Tally {
  pages = 0
  private readonly rows = new Map<object | string, number>()

  add(step: object | string, rows: number): void {
    this.rows.set(step, this.of(step) + rows)
  }

  of(step: object | string): number {
    return this.rows.get(step) ?? 0
  }

  /** Counts what a step misses. */
  watch<T>(step: () => T): T {
    try {
      return step()
    } catch (thrown) {
      if (thrown instanceof Miss) this.pages += thrown.pages()
      throw thrown
    }
  }
}

export function explainPlan(
  plan: Plan,
  query: QuerySpecification,
  suggestion?: IndexInput,
  tally?: RowCounts,
): Explanation {
  const { access, residual, filter, sort, project, byRank } = plan
  const isExact = isAlways(residual)
  const reads = access.kind === 'scan' ? {} : { reads: filter }
  const actual = (step: object | string): object => (tally === undefined ? {} : { actualRows: tally.of(step) })
  let tree = explainAccess(access, plan.reverse, actual)
  let fetched = access.kind === 'scan'
  const fetch = (step: string): void => {
    if (!fetched) tree = { step: 'fetch', ...actual(step), input: tree }
    fetched = true
  }
  if (filter === 'documents') fetch('fetch')
  if (!isExact) {
    tree = { step: 'filter', ...reads, condition: explainCondition(residual), ...actual('filter'), input: tree }
  }
  if (sort !== undefined) {
    if (sort === 'documents') fetch('fetch')
    const passes = tally === undefined ? {} : { passes: tally.of('sort passes') }
    tree = { step: 'sort', by: query.sort.map(fieldName), ...actual('sort'), ...passes, input: tree }
    fetched = false
  }
  if (query.skip > 0) {
    const isByRank = byRank && sort === undefined
    tree = { step: 'skip', rows: query.skip, byRank: isByRank, ...actual('result'), input: tree }
  }
  if (query.limit < Infinity) tree = { step: 'limit', rows: query.limit, ...actual('result'), input: tree }
  if (project === 'documents') fetch('last fetch')
  if (query.fields !== undefined) tree = { step: 'project', fields: query.fields, ...actual('result'), input: tree }
  return {
    plan: tree,
    rows: plan.rows,
    rowsExact: byRank || (isExact && access.kind === 'scan'),
    sortedByIndex: query.sort.length > 0 && sort === undefined,
    covering: project === 'entries',
    cost: plan.cost,
    suggestion,
    ...(tally === undefined ? {} : { actual: workOf(plan, tally) }),
  }
}

function workOf({ access }: Plan, tally: RowCounts): ActualWork {
  const scanned = access.kind === 'scan' ? tally.of(access) : 0
  return {
    rows: tally.of('result'),
    documents: scanned + tally.of('fetch') + tally.of('last fetch'),
    pages: tally.pages,
  }
}

function explainAccess(access: AccessPath, reverse: boolean, actual: (access: AccessPath) => object): PlanStep {
  const { kind, index, rows, bounds, ranges, branches } = access
  const details = {
    ranges: ranges.length,
    bounds: bounds.map(({ path, values }) => ({ path, values: explainValues(values) })),
    rows,
    ...actual(access),
  }
  switch (kind) {
    case 'scan':
      return { step: 'full scan', rows, ...actual(access) }
    case 'ids':
      return { step: 'id scan', reverse, ...details }
    case 'index':
      return {
        step: 'index scan',
        index: index!.name,
        fields: index!.fields.map(fieldName),
        multi: index!.multi,
        ...(index!.where && { where: index!.where }),
        reverse,
        ...details,
      }
    default: {
      if (branches.length === 0) return { step: 'nothing' }
      const isIntersection = kind === 'intersection'
      const inputs = branches.map((branch, at) => explainAccess(branch, reverse && isIntersection && at === 0, actual))
      return { step: kind, inputs, rows, ...actual(access) }
    }
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
  if (condition.kind === 'and' || condition.kind === 'or') {
    return { [`$${condition.kind}`]: condition.of.map(explainCondition) }
  }
  if (condition.kind === 'within') {
    const { path, values, every, self } = condition
    return { [path]: { [self ? '$value' : every ? '$every' : '$some']: explainValues(values) } }
  }
  const test = explainTest(condition)
  return { [condition.path]: condition.negated ? { $not: test } : test }
}

function explainTest(condition: TestCondition): object {
  switch (condition.kind) {
    case 'regex':
      return { $regex: condition.source, $options: condition.flags }
    case 'size':
      return { $size: condition.size }
    case 'mod':
      return { $mod: [condition.divisor, condition.remainder] }
    default: {
      const name = { some: '$elemMatch', every: '$allMatch', keys: '$keyMapMatch' }[condition.which]
      return { [name]: explainCondition(condition.of) }
    }
  }
}

function fieldName({ path, descending }: { readonly path: string; readonly descending: boolean }): string {
  return descending ? `-${path}` : path
}

/** Undefined if the plan is as good as an index can make it, or the index is there. */
function suggestIndex(
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
