/**
 * Parses a selector (CouchDB's Mango language) into a predicate. A malformed selector is a TypeError that names the place.
 *
 * `{ address: { city: 'Oslo' } }` and `{ 'address.city': 'Oslo' }` are the same; `{}` as a condition means "equals {}".
 */
import { isPlainObject } from '../../codec/collation.ts'
import { fieldNames } from '../../codec/field-path.ts'
import type { CompareOperator, Comparison, JsonValue, Predicate } from './predicate.ts'

/** How deep a selector, or a value in it, may nest. */
export const SELECTOR_DEPTH_MAX = 200

export function parseSelector(selector: unknown): Predicate {
  return parseCondition(selector, '', 0)
}

/** What an object says of the value at `path`; of the document itself where `path` is ''. */
function parseCondition(condition: unknown, path: string, depth: number): Predicate {
  if (!isPlainObject(condition)) fail(path, 'a selector is an object')
  if (depth > SELECTOR_DEPTH_MAX) fail(path, 'it nests too deep')
  const parts: Predicate[] = []
  const comparisons: Comparison[] = []
  for (const [name, operand] of Object.entries(condition)) {
    const place = path === '' ? name : `${path}.${name}`
    if (!name.startsWith('$')) parts.push(parseField(operand, checkedPath(place), depth))
    else if (COMBINATIONS.has(name)) parts.push(parseCombination(name, operand, path, place, depth))
    else if (path === '') fail(place, 'this operator needs a field')
    else if (COMPARISONS.has(name)) comparisons.push(parseComparison(name as CompareOperator, operand, place))
    else if (name !== '$options') parts.push(parseTest(name, operand, path, place, condition))
    else if (!('$regex' in condition)) fail(place, '$options goes with $regex')
  }
  if (comparisons.length > 0) parts.unshift(compare(path, comparisons))
  return parts.length === 1 ? parts[0]! : freeze({ kind: 'and', of: freeze(parts) })
}

/** What is given for a field: conditions or fields of its own, or the value that it has to equal. */
function parseField(operand: unknown, path: string, depth: number): Predicate {
  if (isPlainObject(operand) && Object.keys(operand).length > 0) return parseCondition(operand, path, depth + 1)
  return compare(path, [parseComparison('$eq', operand, path)])
}

function parseCombination(name: string, operand: unknown, path: string, place: string, depth: number): Predicate {
  if (name === '$not') return not(parseCondition(operand, path, depth + 1))
  if (!Array.isArray(operand)) fail(place, 'it takes an array of selectors')
  const of = freeze(operand.map((condition) => parseCondition(condition, path, depth + 1)))
  return name === '$and' ? freeze({ kind: 'and', of }) : name === '$or' ? either(of) : not(either(of))
}

function parseComparison(operator: CompareOperator, operand: unknown, place: string): Comparison {
  if (operator === '$in' && !Array.isArray(operand)) fail(place, 'it takes an array')
  if (operator === '$beginsWith' && typeof operand !== 'string') fail(place, 'it takes a string')
  return freeze({ operator, operand: frozenCopy(operand, place, 0) })
}

/** The operators that stand for themselves. */
function parseTest(name: string, operand: unknown, path: string, place: string, condition: PlainObject): Predicate {
  if (name === '$ne') return not(compare(path, [parseComparison('$eq', operand, place)]))
  if (name === '$nin') return not(compare(path, [parseComparison('$in', operand, place)]))
  if (name === '$exists') {
    if (typeof operand !== 'boolean') fail(place, 'it takes true or false')
    const exists: Predicate = freeze({ kind: 'exists', path })
    return operand ? exists : not(exists)
  }
  if (name !== '$regex') fail(place, 'there is no such operator')
  const flags = condition['$options'] ?? ''
  if (typeof operand !== 'string' || typeof flags !== 'string' || /[gy]/.test(flags)) {
    fail(place, 'it takes the source of a RegExp, and $options its flags (neither g nor y)')
  }
  try {
    new RegExp(operand, flags)
  } catch (error) {
    fail(place, String(error))
  }
  return freeze({ kind: 'regex', path, source: operand, flags })
}

const COMBINATIONS: ReadonlySet<string> = new Set(['$and', '$or', '$nor', '$not'])
const COMPARISONS: ReadonlySet<string> = new Set(['$eq', '$gt', '$gte', '$lt', '$lte', '$in', '$beginsWith'])

type PlainObject = Readonly<Record<string, unknown>>

/** A dotted path; each name in it is at least one character long. */
function checkedPath(path: string): string {
  if (fieldNames(path).includes('')) fail(path, 'a field has an empty name')
  return path
}

/** JSON only; later changes of what the caller gave do not reach the copy. */
function frozenCopy(value: unknown, place: string, depth: number): JsonValue {
  if (value === null || typeof value === 'boolean' || typeof value === 'string' || Number.isFinite(value)) {
    return value as JsonValue
  }
  if (depth > SELECTOR_DEPTH_MAX) fail(place, 'it nests too deep')
  if (Array.isArray(value)) return freeze(value.map((element) => frozenCopy(element, place, depth + 1)))
  if (!isPlainObject(value)) fail(place, 'only JSON values can be compared with')
  const fields = Object.entries(value).map(([name, inner]) => [name, frozenCopy(inner, place, depth + 1)] as const)
  return freeze(Object.fromEntries(fields))
}

function compare(path: string, comparisons: readonly Comparison[]): Predicate {
  return freeze({ kind: 'compare', path, comparisons: freeze(comparisons) })
}

function either(of: readonly Predicate[]): Predicate {
  return freeze({ kind: 'or', of })
}

function not(of: Predicate): Predicate {
  return freeze({ kind: 'not', of })
}

function freeze<T extends object>(value: T): Readonly<T> {
  return Object.freeze(value)
}

function fail(place: string, why: string): never {
  throw new TypeError(`The selector is malformed at "${place}": ${why}.`)
}
