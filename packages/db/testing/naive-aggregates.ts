/** Groups and aggregates in the simplest form: every implementation is compared with it. */
import { compareValues, isArrayLike } from '../src/codec/collation.ts'
import { compileFieldPath, getField } from '../src/codec/field-path.ts'
import { parseSelector } from '../src/query/ast/parse-selector.ts'
import { evaluate } from './evaluate-predicate.ts'

export type NaiveAggregates = Readonly<Record<string, Readonly<Record<string, unknown>>>>

export interface NaiveGroup {
  readonly values: readonly unknown[]
  readonly results: Readonly<Record<string, unknown>>
}

/** In the order of their values. */
export function naiveGroups(
  documents: readonly object[],
  selector: Record<string, unknown>,
  paths: readonly string[],
  wanted: NaiveAggregates,
): NaiveGroup[] {
  const predicate = parseSelector(selector)
  const groups: { readonly values: readonly unknown[]; readonly members: object[] }[] = []
  for (const document of documents) {
    if (!evaluate(predicate, document)) continue
    const values = paths.map((path) => valueAt(document, path))
    const group = groups.find((other) => compareAll(other.values, values) === 0)
    if (group === undefined) groups.push({ values, members: [document] })
    else group.members.push(document)
  }
  if (paths.length === 0 && groups.length === 0) groups.push({ values: [], members: [] })
  return groups
    .sort((left, right) => compareAll(left.values, right.values))
    .map(({ values, members }) => ({ values, results: resultsOf(members, wanted) }))
}

function resultsOf(members: readonly object[], wanted: NaiveAggregates): Record<string, unknown> {
  const results: Record<string, unknown> = {}
  for (const [name, one] of Object.entries(wanted)) {
    const [[operator, path]] = Object.entries(one) as [[string, string]]
    const values = operator === '$count' ? [] : members.map((member) => valueAt(member, path))
    const sorted = values.filter((value) => value !== undefined).sort(compareValues)
    const numbers = values.filter((value) => typeof value === 'number')
    const sum = numbers.reduce((total, value) => total + value, 0)
    const present = sorted.filter((value) => value !== null)
    const result = {
      $count: () => members.length,
      $min: () => present[0],
      $max: () => present.at(-1),
      $sum: () => sum,
      $avg: () => (numbers.length === 0 ? undefined : sum / numbers.length),
      $distinct: () => sorted.filter((value, at) => at === 0 || compareValues(value, sorted[at - 1]) !== 0),
    }[operator]!()
    if (result !== undefined) results[name] = result
  }
  return results
}

function compareAll(left: readonly unknown[], right: readonly unknown[]): number {
  for (let at = 0; at < left.length; at++) {
    const order = compareValues(left[at], right[at])
    if (order !== 0) return order
  }
  return 0
}

function valueAt(document: object, path: string): unknown {
  const value = getField(document, compileFieldPath(path))
  return isArrayLike(value) && !Array.isArray(value) ? Array.from(value) : value
}
