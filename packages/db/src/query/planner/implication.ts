/**
 * Whether every document that meets one condition meets another. Sound, not complete: `true` is a proof, `false` means
 * nothing.
 *
 * - A condition implies an `and` if it implies all its parts, and an `or` if it implies one. An `or` implies what each
 *   of its
 *   alternatives implies. An `and` implies what one of its parts implies, or what its parts for one field imply together.
 * - Conditions on one field are compared by their sets of values, and by which values of an array they concern.
 * - A condition that no set of values expresses is implied only by itself.
 */
import { compareValues } from '../../codec/collation.ts'
import { conjuncts, ordersText, type Condition, type WithinCondition } from '../ast/normalise.ts'
import { ARRAYS, intersect, intersectAll, type ValueSet } from '../ast/value-set.ts'

export function implies(given: Condition, wanted: Condition): boolean {
  if (wanted.kind === 'and') return wanted.of.every((part) => implies(given, part))
  if (given.kind === 'or') return given.of.every((alternative) => implies(alternative, wanted))
  const parts = conjuncts(given)
  if (parts.some((part) => (part.kind === 'or' ? implies(part, wanted) : isSame(part, wanted)))) return true
  if (wanted.kind === 'or') return wanted.of.some((alternative) => implies(given, alternative))
  if (wanted.kind !== 'within') return false
  const within = parts.filter((part): part is WithinCondition => part.kind === 'within')
  const ofField = within.filter((part) => part.path === wanted.path && isComparable(part, wanted))
  const inOneOrder = ofField.filter((part) => part.collation === wanted.collation || !ordersText(part.values))
  return ofField.some((part) => withinImplies(part, wanted)) || withinImplies(together(inOneOrder, wanted.path), wanted)
}

/** Sets of values in different orders of strings say nothing of each other. */
function isComparable(left: WithinCondition, right: WithinCondition): boolean {
  return left.collation === right.collation || !ordersText(left.values) || !ordersText(right.values)
}

/** Operands are JSON. */
function isSame(left: Condition, right: Condition): boolean {
  return left === right || JSON.stringify(left) === JSON.stringify(right)
}

/** All conditions on one field, combined for its value as a whole. */
function together(parts: readonly WithinCondition[], path: string): WithinCondition {
  const sets = parts.filter(({ self }) => self).map(({ values }) => values)
  if (sets.length === 0) return { kind: 'within', path, values: ANYTHING, every: false, whole: true, self: true }
  const own = intersectAll(sets)
  // A value that is not an array is its own only element.
  const all = lacksArrays(own) ? intersectAll([own, ...parts.map(({ values }) => values)]) : own
  return { kind: 'within', path, values: all, every: false, whole: true, self: true }
}

/** Missing, or any value. */
const ANYTHING: ValueSet = [{ value: undefined, above: false }]

/**
 * For a value that is not an array, every kind of condition means that it is in the set. For an array, `self` means the
 * array itself, `every` all elements, and `whole` in addition the array. Otherwise some element must be in the set or,
 * with `whole`, the array.
 */
function withinImplies(given: WithinCondition, wanted: WithinCondition): boolean {
  if (!isSubset(given.values, wanted.values)) return false
  if (given.self) {
    if (wanted.self || lacksArrays(given.values)) return true
    return !wanted.every && wanted.whole
  }
  if (wanted.self) return isSubset(ARRAYS, wanted.values)
  if (given.every !== wanted.every) return false
  if (given.every) return !wanted.whole || given.whole || isSubset(ARRAYS, wanted.values)
  return !given.whole || wanted.whole || lacksArrays(given.values)
}

function lacksArrays(values: ValueSet): boolean {
  return intersect(values, ARRAYS).length === 0
}

function isSubset(inner: ValueSet, outer: ValueSet): boolean {
  const both = intersect(inner, outer)
  return both.length === inner.length && both.every((cut, at) => isSameCut(cut, inner[at]!))
}

function isSameCut(left: ValueSet[number], right: ValueSet[number]): boolean {
  return left.above === right.above && compareValues(left.value, right.value) === 0
}
