/** Makes the condition of one comparison, as PocketBase makes its SQL: what empty compares with, patterns, match-all. */
import type { Operator } from './ast.ts'
import { readBy, readByTest, withParents, type Join, type Leaf, type Test, type Value } from './plan.ts'
import { patternOf } from './values.ts'

/** A resolved side of a comparison. */
export interface Side {
  readonly value: Value
  /**
   * How NULL compares. `auto`: as the empty text. `never`: as NULL, for JSON and geoDistance. `always`: as the empty
   * text also where a parameter is known, for strftime.
   */
  readonly nulls: 'auto' | 'never' | 'always'
  /** The same value over rows of its own, for match-all. */
  readonly every?: Value | undefined
  /** The account whose address this is. */
  readonly visible?: Join | undefined
}

/** A value without rows of its own. */
export function plain(value: Value): Side {
  return { value, nulls: 'auto' }
}

/** `record` is what the rule is about. It is not a row of match-all. */
export function leafOf(left: Side, operator: Operator, any: boolean, right: Side, record: Join): Leaf {
  const test = testOf(left, operator, right)
  const visible = [left.visible, right.visible].filter((join) => join !== undefined)
  // A match-all with rows on both sides compares all pairs.
  const rows = any ? [] : [left.every, right.every].filter((value) => value !== undefined)
  const every = rows.length === 0 ? undefined : testOf(rowsOf(left), operator, rowsOf(right))
  const joins = withParents([...readByTest(test), ...visible, ...(every === undefined ? [] : readByTest(every))])
  const before = withParents([record])
  const own = new Set([...withParents(rows.flatMap(readBy))].filter((join) => !before.has(join)))
  for (const join of own) joins.delete(join)
  return { kind: 'leaf', test, every: every && { test: every, joins: own }, visible, joins }
}

/** Beside rows of match-all, the other side compares NULL as usual. */
function rowsOf({ value, every, nulls }: Side): Side {
  return every === undefined ? { value, nulls: 'auto' } : { value: every, nulls }
}

function testOf(left: Side, operator: Operator, right: Side): Test {
  if (isUnknown(left.value) || isUnknown(right.value)) return { kind: 'unknown' }
  switch (operator) {
    case '=':
    case '!=':
      return equality(left, right, operator === '!=')
    case '~':
    case '!~':
      return { kind: 'like', negated: operator === '!~', left: left.value, right: pattern(right.value) }
    default:
      return { kind: 'compare', operator, left: left.value, right: right.value }
  }
}

function equality(left: Side, right: Side, negated: boolean): Test {
  const compare = (operator: 'is' | '=', one: Value, other: Value): Test => ({
    kind: 'compare',
    operator: negated ? 'is not' : operator,
    left: one,
    right: other,
  })
  if (left.nulls === 'never' || right.nulls === 'never') return compare('is', left.value, right.value)
  const [leftEmpty, rightEmpty] = [isEmpty(left), isEmpty(right)]
  if (leftEmpty && rightEmpty) return { kind: 'constant', value: !negated }
  if (isKnown(left) || isKnown(right))
    return compare('=', leftEmpty ? EMPTY : left.value, rightEmpty ? EMPTY : right.value)
  if (leftEmpty) return { kind: 'empty', negated, of: right.value }
  if (rightEmpty) return { kind: 'empty', negated, of: left.value }
  return { kind: 'coalesced', negated, left: left.value, right: right.value }
}

const EMPTY: Value = { kind: 'constant', value: '' }

function isEmpty({ value, nulls }: Side): boolean {
  if (value.kind === 'constant') return value.value === null || value.value === ''
  const parameters = parametersOf(value)
  return nulls === 'auto' && parameters.length === 1 && parameters[0] === ''
}

/** Certainly neither NULL nor empty. */
function isKnown({ value, nulls }: Side): boolean {
  if (nulls === 'always') return false
  if (value.kind === 'constant') return value.value === 1 || value.value === 0
  const parameters = parametersOf(value)
  return parameters.length > 0 && !parameters.includes('')
}

/** A list in the body is one parameter: its JSON. */
function parametersOf(value: Value): readonly unknown[] {
  if (value.kind === 'parameter') return [value.value]
  if (value.kind === 'lower') return parametersOf(value.of)
  if (value.kind === 'call') return value.of.flatMap(parametersOf)
  return value.kind === 'element' && value.join.kind === 'items' ? [value.join.items] : []
}

/** The pattern of a value. A column is wrapped as a whole. Of other values the parameters are wrapped, also those of functions. */
function pattern(value: Value): Value {
  return parametersOf(value).length === 0 ? { kind: 'around', of: value } : withPatterns(value)
}

function withPatterns(value: Value): Value {
  if (value.kind === 'lower') return { kind: 'lower', of: withPatterns(value.of) }
  if (value.kind === 'call') return { ...value, of: value.of.map(withPatterns) }
  if (value.kind !== 'parameter') return value
  return { kind: 'parameter', value: patternOf(String(value.value)), real: false }
}

function isUnknown(value: Value): boolean {
  if (value.kind === 'lower') return isUnknown(value.of)
  if (value.kind === 'call') return value.of.some(isUnknown)
  return value.kind === 'unknown'
}
