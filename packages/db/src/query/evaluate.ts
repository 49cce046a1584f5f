/**
 * The reference: says of a decoded document whether a predicate holds, as directly as docs/query-planner.md says it. Slow
 * and plain; every plan must agree with it.
 */
import { unreachable } from '../base/assert.ts'
import { compareValues, isArrayLike } from '../codec/collation.ts'
import { compileFieldPath, getField } from '../codec/field-path.ts'
import type { Comparison, Predicate } from './ast/predicate.ts'

export function evaluate(predicate: Predicate, document: object, negated = false): boolean {
  switch (predicate.kind) {
    case 'and':
    case 'or': {
      const all = (predicate.kind === 'and') !== negated
      const holds = (part: Predicate): boolean => evaluate(part, document, negated)
      return all ? predicate.of.every(holds) : predicate.of.some(holds)
    }
    case 'not':
      return evaluate(predicate.of, document, !negated)
    case 'exists':
      return (valueAt(document, predicate.path) === undefined) === negated
    case 'regex': {
      const expression = new RegExp(predicate.source, predicate.flags)
      const found = (value: unknown): boolean => typeof value === 'string' && expression.test(value)
      return test(valueAt(document, predicate.path), false, found, negated)
    }
    case 'compare': {
      const { path, comparisons } = predicate
      const meets = (value: unknown): boolean => comparisons.every((comparison) => meetsComparison(comparison, value))
      return test(valueAt(document, path), comparisons.some(hasArrayOperand), meets, negated)
    }
    default:
      return unreachable(predicate)
  }
}

function valueAt(document: object, path: string): unknown {
  return getField(document, compileFieldPath(path))
}

/** A missing value meets no condition, negated or not. */
function test(value: unknown, whole: boolean, holds: (value: unknown) => boolean, negated: boolean): boolean {
  if (value === undefined) return false
  const elements = isArrayLike(value) ? Array.from(value) : undefined
  const candidates = elements === undefined ? [value] : whole ? [value, ...elements] : elements
  return candidates.some(holds) !== negated
}

function hasArrayOperand({ operator, operand }: Comparison): boolean {
  return operator === '$in' ? (operand as unknown[]).some(Array.isArray) : Array.isArray(operand)
}

function meetsComparison({ operator, operand }: Comparison, value: unknown): boolean {
  switch (operator) {
    case '$in':
      return (operand as unknown[]).some((one) => compareValues(value, one) === 0)
    case '$beginsWith':
      return typeof value === 'string' && beginsWith(Array.from(value), Array.from(operand as string))
    case '$eq':
      return compareValues(value, operand) === 0
    case '$gt':
      return compareValues(value, operand) > 0
    case '$gte':
      return compareValues(value, operand) >= 0
    case '$lt':
      return compareValues(value, operand) < 0
    case '$lte':
      return compareValues(value, operand) <= 0
    default:
      return unreachable(operator)
  }
}

function beginsWith(value: readonly string[], prefix: readonly string[]): boolean {
  return prefix.every((char, at) => value[at] === char)
}
