/**
 * The reference: says of a decoded document whether a predicate holds, as directly as docs/internals/query-planner.md says it. Slow
 * and plain, regular expressions on the platform's own engine; every plan must agree with it.
 */
import { unreachable } from '../src/base/errors.ts'
import { compareValues, isArrayLike } from '../src/codec/collation.ts'
import { compileFieldPath, getField } from '../src/codec/field-path.ts'
import { collate } from '../src/codec/registered-collation.ts'
import type { Comparison, ElementsPredicate, Predicate } from '../src/query/ast/predicate.ts'
import type { CompareOperator } from '../src/query/ast/value-set.ts'

/** `root` is a document, or what stands for it inside of $elemMatch and the like. */
export function evaluate(predicate: Predicate, root: unknown, negated = false): boolean {
  switch (predicate.kind) {
    case 'and':
    case 'or': {
      const all = (predicate.kind === 'and') !== negated
      const holds = (part: Predicate): boolean => evaluate(part, root, negated)
      return all ? predicate.of.every(holds) : predicate.of.some(holds)
    }
    case 'not':
      return evaluate(predicate.of, root, !negated)
    case 'exists':
      return (valueAt(root, predicate.path) === undefined) === negated
    default:
      break
  }
  // A missing value meets no condition, negated or not.
  const value = valueAt(root, predicate.path)
  return value !== undefined && meets(predicate, value) !== negated
}

function valueAt(root: unknown, path: string): unknown {
  return path === '' ? root : getField(root, compileFieldPath(path))
}

type Leaf = Exclude<Predicate, { readonly kind: 'and' | 'or' | 'not' | 'exists' }>

function meets(predicate: Leaf, value: unknown): boolean {
  const elements = isArrayLike(value) ? Array.from(value) : undefined
  const arrays = 'arrays' in predicate ? predicate.arrays : undefined
  /** What a condition on values is about: below a field the elements of an array. */
  const candidates = predicate.path === '' || arrays === 'whole' || elements === undefined ? [value] : elements
  switch (predicate.kind) {
    case 'compare': {
      const { comparisons } = predicate
      const all = arrays === undefined && comparisons.some(hasArrayOperand) ? [value, ...candidates] : candidates
      const { collation } = predicate
      const placed = (one: unknown): unknown => (collation === undefined ? one : collate(one, collation))
      return all.some((one) =>
        comparisons.every(({ operator, operand }) => meetsComparison(operator, placed(operand), placed(one))),
      )
    }
    case 'regex': {
      const expression = new RegExp(predicate.source, predicate.flags)
      return candidates.some((one) => typeof one === 'string' && expression.test(one))
    }
    case 'contains': {
      const text = Array.from(predicate.text, lower).join('')
      return candidates.some((one) => typeof one === 'string' && Array.from(one, lower).join('').includes(text))
    }
    case 'mod':
      return candidates.some(
        (one) => Number.isInteger(one) && (one as number) % predicate.divisor === predicate.remainder,
      )
    case 'type':
      return typeOf(value) === predicate.type
    case 'size':
      return elements?.length === predicate.size
    case 'all':
      return predicate.values.length > 0 && predicate.values.every((one) => contains(elements ?? [], one))
    case 'elements':
      return meetsElements(predicate, value, elements)
    // evaluate-relations.ts knows them.
    case 'quantified':
    default:
      return unreachable(predicate as never)
  }
}

function meetsElements({ which, of }: ElementsPredicate, value: unknown, elements: unknown[] | undefined): boolean {
  const meetsOne = (one: unknown): boolean => evaluate(of, one)
  if (which === 'keys') return typeOf(value) === 'object' && Object.keys(value as object).some(meetsOne)
  if (elements === undefined || elements.length === 0) return false
  return which === 'some' ? elements.some(meetsOne) : elements.every(meetsOne)
}

function lower(char: string): string {
  return char === 'ς' ? 'σ' : char.toLowerCase()
}

function typeOf(value: unknown): string {
  return value === null ? 'null' : isArrayLike(value) ? 'array' : typeof value
}

function contains(values: readonly unknown[], wanted: unknown): boolean {
  return values.some((one) => compareValues(one, wanted) === 0)
}

function hasArrayOperand({ operator, operand }: Comparison): boolean {
  return operator === '$in' ? (operand as unknown[]).some(Array.isArray) : Array.isArray(operand)
}

function meetsComparison(operator: CompareOperator, operand: unknown, value: unknown): boolean {
  switch (operator) {
    case '$in':
      return contains(operand as unknown[], value)
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
