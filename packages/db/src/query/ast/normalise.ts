/**
 * Brings a predicate into the form that the matcher and the planner work on: negations are gone, nested and/or are flat,
 * all comparisons of one field condition are one set of values.
 */
import { unreachable } from '../../base/assert.ts'
import {
  above,
  beginningWith,
  below,
  complement,
  EVERYTHING,
  intersect,
  MISSING,
  pointAt,
  points,
  type ValueSet,
} from './value-set.ts'
import type { Comparison, Predicate, RegexPredicate } from './predicate.ts'

export type Condition = AllOf | AnyOf | WithinCondition | RegexCondition

export interface AllOf {
  readonly kind: 'and'
  /** Never `and`. */
  readonly of: readonly Condition[]
}

export interface AnyOf {
  readonly kind: 'or'
  /** Never `or`. */
  readonly of: readonly Condition[]
}

/**
 * The value is in the set; of an array some element is or, with `every`, every element is.
 */
export interface WithinCondition {
  readonly kind: 'within'
  readonly path: string
  readonly values: ValueSet
  readonly every: boolean
  /** An array as a whole counts like one more of its elements. */
  readonly whole: boolean
}

export interface RegexCondition extends RegexPredicate {
  /** The field is there and the expression is not found. */
  readonly negated: boolean
}

export function normalise(predicate: Predicate, negated = false): Condition {
  switch (predicate.kind) {
    case 'and':
    case 'or':
      return combine(
        (predicate.kind === 'and') === negated ? 'or' : 'and',
        predicate.of.map((part) => normalise(part, negated)),
      )
    case 'not':
      return normalise(predicate.of, !negated)
    case 'exists':
      return { kind: 'within', path: predicate.path, values: negated ? MISSING : EVERYTHING, every: false, whole: true }
    case 'regex':
      return { ...predicate, negated }
    case 'compare':
      return within(predicate.path, predicate.comparisons, negated)
    default:
      return unreachable(predicate)
  }
}

export function isAlways(condition: Condition): boolean {
  return condition.kind === 'and' && condition.of.length === 0
}

export function isNever(condition: Condition): boolean {
  return condition.kind === 'or' && condition.of.length === 0
}

/** `and` and `or` of conditions, without needless nesting. */
export function combine(kind: 'and' | 'or', parts: readonly Condition[]): Condition {
  const of = parts.flatMap((part) => (part.kind === kind ? part.of : [part]))
  const other = kind === 'and' ? 'or' : 'and'
  const decided = of.find((part) => part.kind === other && part.of.length === 0)
  return decided ?? (of.length === 1 ? of[0]! : { kind, of })
}

/** The conditions that all have to hold. */
export function conjuncts(condition: Condition): readonly Condition[] {
  return condition.kind === 'and' ? condition.of : [condition]
}

function within(path: string, comparisons: readonly Comparison[], negated: boolean): Condition {
  const values = comparisons.map(valuesOf).reduce(intersect, EVERYTHING)
  if (values.length === 0 && !negated) return { kind: 'or', of: [] }
  const whole = comparisons.some(({ operator, operand }) =>
    operator === '$in' ? (operand as unknown[]).some(Array.isArray) : Array.isArray(operand),
  )
  return { kind: 'within', path, values: negated ? complement(values) : values, every: negated, whole }
}

function valuesOf({ operator, operand }: Comparison): ValueSet {
  switch (operator) {
    case '$eq':
      return pointAt(operand)
    case '$in':
      return points(operand as readonly unknown[])
    case '$beginsWith':
      return beginningWith(operand as string)
    case '$gt':
      return [above(operand)]
    case '$gte':
      return [below(operand)]
    case '$lt':
      return complement([below(operand)])
    case '$lte':
      return complement([above(operand)])
    default:
      return unreachable(operator)
  }
}
