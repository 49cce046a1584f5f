/** A plan and the figures of its run as plain data for people: a tree of steps, each with the step that feeds it. */
import { Miss } from '../../base/miss.ts'
import type { IndexInput } from '../../index/index-definition.ts'
import { isAlways, type Condition, type TestCondition } from '../ast/normalise.ts'
import { intervalsOf, isOnePoint, type ValueSet } from '../ast/value-set.ts'
import type { RelatedStep } from '../query-run.ts'
import { buildOperators } from '../operators/build.ts'
import { BATCH_ROWS_WHOLE, type Tally } from '../operators/operator.ts'
import type { QuerySource } from '../query-source.ts'
import type { AccessPath } from './access-path.ts'
import { drawable, type ActualWork, type Explanation, type PlanStep, type RelatedExplanation } from './explanation.ts'
import { planQuery, type Plan, type QuerySpecification } from './plan.ts'
import { suggestIndex } from './suggest-index.ts'

/** Runs the query if there is a `check`, which is called repeatedly and may throw. */
export async function explainQuery(
  source: QuerySource,
  query: QuerySpecification,
  related: readonly RelatedStep[] | undefined,
  check: (() => void) | undefined,
): Promise<Explanation> {
  const steps = related === undefined ? {} : { related: related.map(explainRelated) }
  const tally = new RowCounts()
  const counted: QuerySource = { ...source, attempt: (step) => source.attempt(() => tally.watch(step)) }
  const plan = await counted.attempt(() => planQuery(counted, query))
  if (check === undefined)
    return drawable({ ...explainPlan(plan, query, await suggestIndex(source, plan, query)), ...steps })
  const operator = await counted.attempt(() => buildOperators(counted, plan, query, { tally }))
  do {
    check()
    await source.pause()
  } while ((await counted.attempt(() => operator.next(BATCH_ROWS_WHOLE))) !== undefined)
  return drawable({ ...explainPlan(plan, query, await suggestIndex(source, plan, query), tally), ...steps })
}

function explainRelated({ condition, plan, query, way, ids, related }: RelatedStep): RelatedExplanation {
  const { to: collection, field, back } = condition
  const { plan: tree } = explainPlan(plan, query)
  return { collection, field, back, way, ids, plan: tree, related: related.map(explainRelated) }
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
  const { access, residual, filter, sort, project, byRank, skips } = plan
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
    tree = {
      step: 'sort',
      by: explainSort(query),
      ...actual('sort'),
      ...passes,
      input: tree,
    }
    fetched = false
  }
  if (query.skip > 0) {
    const isByRank = skips && sort === undefined
    tree = { step: 'skip', rows: query.skip, byRank: isByRank, ...actual('result'), input: tree }
  }
  if (query.limit < Infinity) tree = { step: 'limit', rows: query.limit, ...actual('result'), input: tree }
  if (project === 'documents') fetch('last fetch')
  if (query.fields !== undefined) tree = { step: 'project', fields: query.fields, ...actual('result'), input: tree }
  return drawable({
    plan: tree,
    rows: plan.rows,
    rowsExact: byRank || (isExact && access.kind === 'scan'),
    sortedByIndex: query.sort.length > 0 && sort === undefined,
    covering: project === 'entries',
    cost: plan.cost,
    suggestion,
    ...(tally === undefined ? {} : { actual: workOf(plan, tally) }),
  })
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
    case 'numbers':
      return {
        step: 'number set',
        ...(access.columns!.length > 0 && { columns: access.columns }),
        ...(access.searches!.length > 0 && { searches: access.searches }),
        reverse,
        rows,
        ...actual(access),
      }
    case 'set':
      return {
        step: 'number set',
        reverse,
        rows,
        ...actual(access),
        input: explainAccess(branches[0]!, false, actual),
      }
    default: {
      if (branches.length === 0) return { step: 'nothing' }
      const isIntersection = kind === 'intersection'
      const inputs = branches.map((branch, at) => explainAccess(branch, reverse && isIntersection && at === 0, actual))
      return { step: kind === 'missing' ? 'missing field' : kind, inputs, rows, ...actual(access) }
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

/** The question of a query, for people. */
export function explainQuestion(query: QuerySpecification): object {
  return { ...query, selector: explainCondition(query.condition), sort: explainSort(query) }
}

function explainSort({ sort }: QuerySpecification): string[] {
  return sort.map(({ through, ...field }) => fieldName({ ...field, ...(through && { path: through.path }) }))
}

function explainCondition(condition: Condition): unknown {
  if (condition.kind === 'and' || condition.kind === 'or') {
    return { [`$${condition.kind}`]: condition.of.map(explainCondition) }
  }
  if (condition.kind === 'numbers') {
    const { kind: _, numbers, ...from } = condition
    return { $number: { $in: `${numbers.count} numbers` }, ...from }
  }
  if (condition.kind === 'complement') return { $complement: explainCondition(condition.of) }
  if (condition.kind === 'search') return { $search: condition.text }
  if (condition.kind === 'related') return { [condition.field]: { $related: explainCondition(condition.of) } }
  if (condition.kind === 'holds') return { $function: condition.paths }
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
    case 'contains':
      return { $contains: condition.text }
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
