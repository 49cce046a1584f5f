/**
 * Computes aggregates in the cheapest way: from counts and ends of indexes, from group to group of an index, or in one
 * pass over rows. Rows come from an index that covers them, or from documents.
 */
import { outermostPaths } from '../../codec/field-path.ts'
import { compareValues } from '../../codec/collation.ts'
import { buildOperators } from '../operators/build.ts'
import { BATCH_ROWS_WHOLE } from '../operators/operator.ts'
import { explainPlan } from '../planner/explain.ts'
import type { Explanation } from '../planner/explanation.ts'
import { candidatePlans, planQuery, type Plan, type QuerySpecification } from '../planner/plan.ts'
import { hasNoEmpty } from '../planner/no-empty.ts'
import type { QuerySource } from '../query-source.ts'
import type { Condition } from '../ast/normalise.ts'
import { plainValue } from './accumulators.ts'
import { GroupTable, groupName, type Group } from './group-table.ts'
import { IndexRows, InexactKey, type IndexGroup } from './index-answers.ts'
import type { AggregateStep, EmptyValues } from './specification.ts'

interface AggregateWork {
  readonly condition: Condition
  /** The values that missing ones count as. */
  readonly empty?: EmptyValues | undefined
  /** The paths of groups. Without any, all rows are one group, which is there even if there are no rows. */
  readonly groupPaths: readonly string[]
  readonly steps: readonly AggregateStep[]
  /** Memory that groups may take. */
  readonly groupBytesMax: number
  /** The number of lowest groups that are wanted. */
  readonly groupsMax?: number
}

/** A group with its results. */
export interface ResultGroup extends IndexGroup {
  /** The paths that identify and order groups. */
  readonly key: string
  readonly identity: string
}

/** How an aggregate is answered, as `explain` tells it. */
export interface AggregateExplanation {
  /**
   * - 'index ends': counts, and first and last entries of indexes.
   * - 'index groups': from group to group of an index, one seek and one count each.
   * - 'one pass': over all rows, as `plan` says. (More than one pass if there are more groups than memory holds.)
   */
  readonly way: 'index ends' | 'index groups' | 'one pass'
  /** The indexes that give the answer, or the rows. */
  readonly indexes: readonly string[]
  /** The plan of the one walk. */
  readonly plan?: Explanation
}

type Way =
  | { readonly way: 'index ends'; readonly answers: readonly EndAnswer[] }
  | { readonly way: 'index groups'; readonly rows: IndexRows }
  | { readonly way: 'one pass'; readonly plan: Plan }

/** The groups, in batches and in order unless an index has given another. `check` may throw. */
export async function* aggregateGroups(
  source: QuerySource,
  work: AggregateWork,
  check: () => void,
): AsyncGenerator<ResultGroup[], void, undefined> {
  const way = await source.attempt(() => chooseWay(source, work))
  try {
    if (way.way === 'index ends') {
      yield [await source.attempt(() => groupOf([], answerByEnds(source, way.answers)))]
      return
    }
    if (way.way === 'index groups') {
      // All of them at once: the index may have to be given up half-way.
      yield await scanGroups(source, way.rows, work, check)
      return
    }
  } catch (error) {
    if (!(error instanceof InexactKey)) throw error
  }
  yield* passOver(source, work, check)
}

export async function explainAggregate(source: QuerySource, work: AggregateWork): Promise<AggregateExplanation> {
  const way = await source.attempt(() => chooseWay(source, work))
  switch (way.way) {
    case 'index ends': {
      const names = way.answers.flatMap(({ rows, plan }) => rows?.indexName ?? plan?.access.index?.name ?? [])
      return { way: way.way, indexes: [...new Set(names)] }
    }
    case 'index groups':
      return { way: way.way, indexes: [way.rows.indexName] }
    default: {
      const { index } = way.plan.access
      const plan = explainPlan(way.plan, passQuery(work))
      return { way: way.way, indexes: index === undefined ? [] : [index.name], plan }
    }
  }
}

/** May miss. */
function chooseWay(source: QuerySource, work: AggregateWork): Way {
  const query = passQuery(work)
  const plans = candidatePlans(source, query)
  const served = plans
    .filter((plan) => IndexRows.canServe(plan))
    .map(({ access }) => new IndexRows(access, source.index(access.index!)))
  const { groupPaths, steps, empty } = work
  const read = [...groupPaths, ...steps.map(({ path }) => path)]
  // An index has missing values as such.
  const isPlain = read.every((path) => empty?.get(path) === undefined || hasNoEmpty(source, path))
  if (!isPlain) return { way: 'one pass', plan: planQuery(source, query) }
  if (groupPaths.length === 0) {
    const answers = steps.map((step) => endAnswer(step, plans, served))
    if (!answers.includes(undefined)) return { way: 'index ends', answers: answers as EndAnswer[] }
  } else {
    const rows = served.find(
      (one) =>
        one.hasGroups(groupPaths) &&
        steps.every(
          ({ operator, path }) => operator === '$count' || (isEnd(operator) && one.hasEnds(path, groupPaths)),
        ),
    )
    if (rows !== undefined) return { way: 'index groups', rows }
  }
  return { way: 'one pass', plan: planQuery(source, query) }
}

/** How one aggregate over all rows is answered. */
interface EndAnswer {
  readonly step: AggregateStep
  /** Plan of `$count`. */
  readonly plan?: Plan
  /** Rows of the other aggregates. */
  readonly rows?: IndexRows
}

function endAnswer(step: AggregateStep, plans: readonly Plan[], served: readonly IndexRows[]): EndAnswer | undefined {
  const { operator, path } = step
  if (operator === '$count') {
    const plan = plans.find(({ byRank }) => byRank)
    return plan && { step, plan }
  }
  const rows = served.find((one) =>
    operator === '$distinct' ? one.hasGroups([path]) : isEnd(operator) && one.hasEnds(path, []),
  )
  return rows && { step, rows }
}

function isEnd(operator: string): boolean {
  return operator === '$min' || operator === '$max'
}

function answerByEnds(source: QuerySource, answers: readonly EndAnswer[]): unknown[] {
  return answers.map(({ step, plan, rows }) => {
    if (rows === undefined) return plan!.rows
    if (step.operator !== '$distinct') return rows.end(step.path, step.operator === '$max')
    const values: unknown[] = []
    const groups = rows.groups([step.path], [])
    for (let group = groups.next(); group !== undefined; group = groups.next()) {
      const [value] = group.values
      if (value !== undefined && !(values.length > 0 && compareValues(values.at(-1), value) === 0)) values.push(value)
    }
    return values.sort(compareValues)
  })
}

/** Groups that one step looks at. */
const GROUPS_PER_STEP = 512

async function scanGroups(
  source: QuerySource,
  rows: IndexRows,
  { groupPaths, steps, groupsMax = Infinity }: AggregateWork,
  check: () => void,
): Promise<ResultGroup[]> {
  const wanted = rows.givesInOrder(groupPaths) ? groupsMax : Infinity
  const scan = rows.groups(groupPaths, steps)
  const groups: ResultGroup[] = []
  for (let going = true; going;) {
    check()
    going = await source.attempt(() => {
      for (let looked = 0; looked < GROUPS_PER_STEP; looked++) {
        const found = scan.next()
        if (found === undefined) return false
        const group = groupOf(found.values, found.results)
        const last = groups.at(-1)
        if (last?.identity === group.identity) groups[groups.length - 1] = merged(last, group, steps)
        else groups.push(group)
        // Values with equal keys come in any order.
        if (groups.length > wanted && group.key !== groups[wanted - 1]?.key) return false
      }
      return true
    })
    await source.pause()
  }
  return groups
}

/** Two parts of one group. */
function merged(left: ResultGroup, right: ResultGroup, steps: readonly AggregateStep[]): ResultGroup {
  const results = steps.map(({ operator }, at) => {
    const [one, other] = [left.results[at], right.results[at]]
    if (operator === '$count') return (one as number) + (other as number)
    if (one === undefined || other === undefined) return one ?? other
    return compareValues(one, other) < 0 === (operator === '$min') ? one : other
  })
  return { ...left, results }
}

async function* passOver(
  source: QuerySource,
  work: AggregateWork,
  check: () => void,
): AsyncGenerator<ResultGroup[], void, undefined> {
  const { groupPaths, steps, groupBytesMax, empty } = work
  const query = passQuery(work)
  let after: Group | undefined
  do {
    const table = new GroupTable({ groupPaths, steps, empty }, after, groupBytesMax)
    const rows = await source.attempt(() => buildOperators(source, planQuery(source, query), query))
    for (;;) {
      check()
      const batch = await source.attempt(() => rows.next(BATCH_ROWS_WHOLE))
      if (batch === undefined) break
      for (const row of batch) table.add(row)
      if (table.isTooLarge) await table.trim(source.pause)
      await source.pause()
    }
    const groups = groupPaths.length === 0 ? [table.whole()] : await table.groups(source.pause)
    for (let from = 0; from < groups.length; from += GROUPS_PER_STEP) {
      yield groups.slice(from, from + GROUPS_PER_STEP).map(({ values, accumulators }) =>
        groupOf(
          values,
          accumulators.map((one) => one.result()),
        ),
      )
      await source.pause()
    }
    after = table.last
  } while (after !== undefined)
}

function groupOf(values: readonly unknown[], results: readonly unknown[]): ResultGroup {
  return { ...groupName(values), values: values.map(plainValue), results: results.map(plainValue) }
}

/** The rows of one pass: the fields that are needed. */
function passQuery({ condition, groupPaths, steps }: AggregateWork): QuerySpecification {
  const paths = steps.map(({ path }) => path).filter((path) => path !== '')
  return { condition, sort: [], skip: 0, limit: Infinity, fields: outermostPaths([...groupPaths, ...paths]) }
}
