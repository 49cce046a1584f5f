/** The order of a list: fields that a query planner knows, or values that are computed for each record. */
import { firstOf, some, valueOf, withRows, withWork, type RowBudget, type Work } from './evaluate.ts'
import { kindOf } from './kinds.ts'
import { readBy, withParents, type BoundRule, type Join, type Value } from './plan.ts'
import type { RuleRecord, RuleRecords } from './records.ts'
import { valueType } from './schema.ts'
import { compareSorted, type SqlValue } from './values.ts'

/** A field of a record, or of what its single relations lead to. */
export interface SortPath {
  /** The path: `author.name` */
  readonly path: string
  /** The empty value that a missing one counts as. */
  readonly empty: '' | 0 | false
}

/** The `sort` of `bind` as paths, for a query planner. Undefined if one of them is computed: lists, JSON, `:length` and `:lower`. */
export function sortPaths(rule: BoundRule): readonly SortPath[] | undefined {
  const paths = rule.sort.map(sortPath)
  return paths.some((path) => path === undefined) ? undefined : (paths as SortPath[])
}

function sortPath(value: Value): SortPath | undefined {
  if (value.kind !== 'field' || valueType(value.field) === 'object') return undefined
  const { name } = value.field
  const names = [name]
  for (let { join }: { join: Join } = value; join.kind !== 'record'; join = join.parent) {
    if (join.kind !== 'related' || join.field === undefined) return undefined
    names.unshift(join.field.name)
  }
  return { path: names.join('.'), empty: kindOf(value.field).empty as SortPath['empty'] }
}

/**
 * The values that a record is sorted by, for `compareSortValues`. Rows must meet the rule: the first one of a list
 * counts, and the least one by a back-relation.
 *
 * @throws RuleError limit: it tries too many rows
 * @example
 * import { bind, parse } from '@pannier/rules'
 * import { sortValues } from '@pannier/rules/compile'
 *
 * const bound = bind({ schema, collection: 'posts', filter: parse('public = true'), sort: ['tags:length'], now: new Date() })
 * sortValues(bound, post, records) // [2]
 */
export function sortValues(
  bound: BoundRule,
  record: RuleRecord,
  records: RuleRecords,
  budget?: RowBudget,
): readonly unknown[] {
  const open = [...withParents(bound.sort.flatMap(readBy))].filter((join) => join !== bound.record)
  const isFirst = !open.some(({ kind }) => kind === 'back' || kind === 'all')
  const ascending = bound.sort.map(() => false)
  let found: readonly SqlValue[] | undefined
  withWork(bound, record, records, budget, (work) =>
    choose(open, work, () => {
      if (some(bound.condition, work) !== true) return false
      const values = bound.sort.map((value) => valueOf(value, work)?.value ?? null)
      if (found === undefined || compareSortValues(values, found, ascending) < 0) found = values
      return isFirst
    }),
  )
  return found ?? bound.sort.map(() => null)
}

/** Goes through the choices of rows until one is taken. */
function choose(open: readonly Join[], work: Work, take: () => boolean): boolean | undefined {
  const next = firstOf(open)
  if (next === undefined) return take()
  const rest = open.filter((join) => join !== next)
  return withRows(next, work, () => choose(rest, work, take))
}

/** The order of two lists of values, up to the first that differs. */
export function compareSortValues(
  one: readonly unknown[],
  other: readonly unknown[],
  descending: readonly boolean[],
): number {
  for (const [index, isDescending] of descending.entries()) {
    const sign = compareSorted(one[index] as SqlValue, other[index] as SqlValue)
    if (sign !== 0) return isDescending ? -sign : sign
  }
  return 0
}
