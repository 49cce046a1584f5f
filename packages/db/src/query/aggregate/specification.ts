/** The aggregates that can be computed over documents, as types and as checked arguments. */
import type { Condition } from '../ast/normalise.ts'
import type { SortField } from '../planner/plan.ts'
import { badArgument, calling } from '../../base/options.ts'
import { checkFieldPath } from '../../codec/field-path.ts'
import { isPlainObject } from '../../codec/collation.ts'
import type { FieldPath, FieldValue } from '../field-types.ts'

/**
 * One result.
 *
 * - `$count`: of documents.
 * - `$min`, `$max`: by the order of all values; missing and null don't count. Arrays count as a whole, here and below.
 * - `$sum`, `$avg`: of numbers; whatever is no number does not count.
 * - `$distinct`: the different values, ascending; missing does not count.
 */
export type Aggregate<Path extends string = string> =
  | { readonly $count: true }
  | { readonly $min: Path }
  | { readonly $max: Path }
  | { readonly $sum: Path }
  | { readonly $avg: Path }
  | { readonly $distinct: Path }

/** Results by name. */
export type Aggregates<Document> = { readonly [name: string]: Aggregate<FieldPath<Document>> }

/** The result of aggregates. */
export type Aggregated<Document, Wanted> = { -readonly [Name in keyof Wanted]: AggregateValue<Document, Wanted[Name]> }

/** The type of one result of an aggregate: that of the field, or a number. */
export type AggregateValue<Document, One> = One extends { readonly $min: infer Path extends string }
  ? NonNullable<FieldValue<Document, Path>> | undefined
  : One extends { readonly $max: infer Path extends string }
    ? NonNullable<FieldValue<Document, Path>> | undefined
    : One extends { readonly $distinct: infer Path extends string }
      ? Exclude<FieldValue<Document, Path>, undefined>[]
      : One extends { readonly $avg: string }
        ? number | undefined
        : number

export type AggregateOperator = '$count' | '$min' | '$max' | '$sum' | '$avg' | '$distinct'

/** An aggregate as it is worked on. */
export interface AggregateStep {
  readonly name: string
  readonly operator: AggregateOperator
  /** The path of the field; '' for `$count`. */
  readonly path: string
}

const OPERATORS: ReadonlySet<string> = new Set(['$count', '$min', '$max', '$sum', '$avg', '$distinct'])

/** Throws a TypeError for what is malformed. */
export function parseAggregates(wanted: unknown): AggregateStep[] {
  if (!isPlainObject(wanted)) throw badArgument('aggregate()', 'aggregates must be an object', wanted)
  return Object.entries(wanted).map(([name, one]) => {
    const [operator, ...others] = isPlainObject(one) ? Object.keys(one) : []
    if (operator === undefined || others.length > 0 || !OPERATORS.has(operator))
      throw badArgument('aggregate()', `'${name}' must have one of ${[...OPERATORS].join(', ')}`, operator)
    const operand = (one as Record<string, unknown>)[operator]
    if (operator === '$count' && operand !== true) throw badArgument('aggregate()', '$count must be true', operand)
    const path = operator === '$count' ? '' : calling('aggregate()', () => checkFieldPath(operand))
    return { name, operator: operator as AggregateOperator, path }
  })
}

/** By paths: what a missing or null value counts as. */
export type EmptyValues = ReadonlyMap<string, '' | 0 | false>

export interface GroupsSpecification {
  /** Undefined: missing values are groups of their own, and no aggregate but a count takes them. */
  readonly empty?: EmptyValues | undefined
  readonly groupPaths: readonly string[]
  readonly steps: readonly AggregateStep[]
  readonly having: Condition
  readonly sort: readonly SortField[]
  readonly skip: number
  readonly limit: number
}
