/**
 * Sets of values: the points in the order of all values where the set begins and ends, alternately.
 *
 * A missing field is the value `undefined`, below all others. Of selectors, only MISSING contains it.
 */
import { firstWhere } from '../../base/binary-search.ts'
import { compareValues } from '../../codec/collation.ts'

/** The place right below or right above a value. */
export interface Cut {
  readonly value: unknown
  readonly above: boolean
}

/** Ascending, none twice: values after the first cut are in the set, those after the second are not, and so on. */
export type ValueSet = readonly Cut[]

/** Undefined: no end. */
export type Interval = readonly [start: Cut, end: Cut | undefined]

/** Everything that a field can be. */
export const EVERYTHING: ValueSet = [below(null)]
export const MISSING: ValueSet = pointAt(undefined)
export const STRINGS: ValueSet = [below(''), below([])]
export const ARRAYS: ValueSet = [below([]), below({})]
/** The names of types in selectors. */
export type ValueType = 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object'

/** By the name of the type. */
export const TYPES: Readonly<Record<ValueType, ValueSet>> = {
  null: pointAt(null),
  boolean: [below(false), above(true)],
  number: [above(true), below('')],
  string: STRINGS,
  array: ARRAYS,
  object: [below({})],
}

export function below(value: unknown): Cut {
  return { value, above: false }
}

export function above(value: unknown): Cut {
  return { value, above: true }
}

export function pointAt(value: unknown): ValueSet {
  return [below(value), above(value)]
}

export type CompareOperator = '$eq' | '$gt' | '$gte' | '$lt' | '$lte' | '$in' | '$beginsWith'

/** A comparison of selectors. */
interface Comparing {
  /** The type of its operand. Left out: any, as it goes by the order of values. In CouchDB's dialect one value meets all of these. */
  readonly takes?: 'an array' | 'a string'
  /** The values that meet it. */
  valuesOf(operand: unknown): ValueSet
}

/** The operators that one set of values expresses. */
export const COMPARISONS: Readonly<Record<CompareOperator, Comparing>> = {
  $eq: { valuesOf: pointAt },
  $gt: { valuesOf: (operand) => [above(operand)] },
  $gte: { valuesOf: (operand) => [below(operand)] },
  $lt: { valuesOf: (operand) => complement([below(operand)]) },
  $lte: { valuesOf: (operand) => complement([above(operand)]) },
  $in: { takes: 'an array', valuesOf: points },
  $beginsWith: { takes: 'a string', valuesOf: beginningWith },
}

const SURROGATES = /[\ud800-\uffff]/

export function points(values: readonly unknown[]): ValueSet {
  // Without surrogates the order of code points is that of the language.
  const isPlain = values.every((value) => typeof value === 'string' && !SURROGATES.test(value))
  const sorted = isPlain ? (values as readonly string[]).toSorted() : values.toSorted(compareValues)
  const differ = isPlain ? (left: unknown, right: unknown) => left !== right : compareValues
  return sorted.filter((value, at) => at === 0 || differ(value, sorted[at - 1])).flatMap(pointAt)
}

/** The strings that begin with `prefix`, by code points. */
export function beginningWith(prefix: string): ValueSet {
  const codePoints = Array.from(prefix, (char) => char.codePointAt(0)!)
  while (codePoints.at(-1) === 0x10ffff) codePoints.pop()
  const last = codePoints.pop()
  if (last === undefined) return [below(prefix), STRINGS[1]!]
  // Two lone halves would become one character.
  const paired = last === 0xdbff && ((codePoints.at(-1) ?? 0) & 0xfffffc00) === 0xd800
  return [below(prefix), below(String.fromCodePoint(...codePoints, paired ? 0xe000 : last + 1))]
}

export function intersect(left: ValueSet, right: ValueSet): ValueSet {
  const both: Cut[] = []
  for (let i = 0, j = 0; i < left.length || j < right.length;) {
    const order = i === left.length ? 1 : j === right.length ? -1 : compareCuts(left[i]!, right[j]!)
    const cut = order > 0 ? right[j]! : left[i]!
    if (order <= 0) i++
    if (order >= 0) j++
    // An odd number of cuts is behind us: we are inside.
    const isInside = i % 2 === 1 && j % 2 === 1
    if (isInside !== (both.length % 2 === 1)) both.push(cut)
  }
  return both
}

/** Everything without sets. Halves first, so that many sets cost little more than sorting them. */
export function intersectAll(sets: readonly ValueSet[]): ValueSet {
  if (sets.length < 2) return sets[0] ?? EVERYTHING
  const half = sets.length >>> 1
  return intersect(intersectAll(sets.slice(0, half)), intersectAll(sets.slice(half)))
}

export function unite(sets: readonly ValueSet[]): ValueSet {
  return complement(intersectAll(sets.map((set) => complement(set, MISSING))), MISSING)
}

/** Everything that a field can be but these; from MISSING on, also that if it is not among them. */
export function complement(set: ValueSet, [lowest]: ValueSet = EVERYTHING): ValueSet {
  return set.length > 0 && compareCuts(set[0]!, lowest!) === 0 ? set.slice(1) : [lowest!, ...set]
}

export function intervalsOf(set: ValueSet): Interval[] {
  return set.flatMap((cut, at) => (at % 2 === 0 ? [[cut, set[at + 1]] as const] : []))
}

/** Finitely many values. */
export function isPoints(set: ValueSet): boolean {
  return intervalsOf(set).every(([start, end]) => end !== undefined && compareValues(start.value, end.value) === 0)
}

export function isOnePoint(set: ValueSet): boolean {
  return set.length === 2 && isPoints(set)
}

/** A test for being in the set. */
export function compileSet(set: ValueSet): (value: unknown) => boolean {
  if (isPoints(set) && set.every(({ value }) => typeof value !== 'object' || value === null)) {
    const values = new Set(set.map(({ value }) => value))
    const [only] = values
    return values.size === 1 ? (value) => value === only : (value) => values.has(value)
  }
  const contains = (value: unknown): boolean => {
    const next = firstWhere(0, set.length, (at) => {
      const order = compareValues(value, set[at]!.value)
      return order < 0 || (order === 0 && set[at]!.above)
    })
    return next % 2 === 1
  }
  const [from, to] = [set[0]?.value, set.length < 2 ? Infinity : set[1]!.value]
  if (set.length > 2 || typeof from !== 'number' || typeof to !== 'number') return contains
  const [fromOut, toIn] = [set[0]!.above, set[1]?.above === true]
  return (value) => {
    if (typeof value !== 'number') return contains(value)
    return (value > from || (value === from && !fromOut)) && (value < to || (value === to && toIn))
  }
}

function compareCuts(left: Cut, right: Cut): number {
  return compareValues(left.value, right.value) || Number(left.above) - Number(right.above)
}
