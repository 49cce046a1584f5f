/**
 * The order of values, as in CouchDB: missing, null, false, true, numbers, strings, arrays, objects.
 *
 * Strings compare by code point; arrays element by element and objects by (name, value) pairs in property order, the
 * shorter first. This file is normative: key-encoding.ts must agree with it for everything that a key holds whole.
 */
import { ArgumentError } from '../base/options.ts'

/** Compares values: negative, zero or positive. Takes JSON values, undefined (missing) and typed arrays, which compare as arrays. */
export function compareValues(a: unknown, b: unknown): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b || compareInfinities(a, b)
  if (typeof a === 'string' && typeof b === 'string') return compareStrings(a, b)
  const rank = rankOf(a)
  const difference = rank - rankOf(b)
  if (difference !== 0 || rank < RANK_ARRAY) return difference
  return rank === RANK_ARRAY
    ? compareArrays(a as ArrayLike<unknown>, b as ArrayLike<unknown>)
    : compareObjects(a as object, b as object)
}

/** By code point, a lone surrogate counting as one. */
export function compareStrings(a: string, b: string): number {
  if (a === b) return 0
  const length = Math.min(a.length, b.length)
  let i = 0
  while (i < length && a.charCodeAt(i) === b.charCodeAt(i)) i++
  if (i === length) return a.length - b.length || 0
  // The unit before may be the first half of a character in one of them.
  if (i > 0 && (a.charCodeAt(i - 1) & 0xfc00) === 0xd800) {
    const difference = a.codePointAt(i - 1)! - b.codePointAt(i - 1)!
    if (difference !== 0) return difference
  }
  return a.codePointAt(i)! - b.codePointAt(i)!
}

const RANK_ARRAY = 6

function rankOf(value: unknown): number {
  if (value === undefined) return 0
  if (value === null) return 1
  if (value === false) return 2
  if (value === true) return 3
  if (typeof value === 'number') return 4
  if (typeof value === 'string') return 5
  return isArrayLike(value) ? RANK_ARRAY : 7
}

/** Arrays and typed arrays. */
export function isArrayLike(value: unknown): value is ArrayLike<unknown> {
  return Array.isArray(value) || (ArrayBuffer.isView(value) && 'length' in value)
}

/** Made by a literal, JSON or `Object.create(null)`, of any realm. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

/** Whether two values are equal, including the order of names: then their JSON is equal. */
export function isSame(left: unknown, right: unknown): boolean {
  if (Object.is(left, right)) return true
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false
  if (Object.getPrototypeOf(left) !== Object.getPrototypeOf(right)) return false
  const [leftEntries, rightEntries] = [Object.entries(left), Object.entries(right)]
  return (
    leftEntries.length === rightEntries.length &&
    leftEntries.every(([name, value], at) => name === rightEntries[at]![0] && isSame(value, rightEntries[at]![1]))
  )
}

export function checkPlainObject(document: unknown): asserts document is Record<string, unknown> {
  if (isPlainObject(document)) return
  throw new ArgumentError('a document must be a plain object', document)
}

/** Equal infinities have no difference. */
function compareInfinities(a: number, b: number): number {
  return a === b ? 0 : a < b ? -1 : 1
}

function compareArrays(a: ArrayLike<unknown>, b: ArrayLike<unknown>): number {
  for (let i = 0; i < a.length && i < b.length; i++) {
    const difference = compareValues(a[i], b[i])
    if (difference !== 0) return difference
  }
  return a.length - b.length
}

function compareObjects(a: object, b: object): number {
  const aEntries = Object.entries(a)
  const bEntries = Object.entries(b)
  for (let i = 0; i < aEntries.length && i < bEntries.length; i++) {
    const [aName, aValue] = aEntries[i]!
    const [bName, bValue] = bEntries[i]!
    const difference = compareStrings(aName, bName) || compareValues(aValue, bValue)
    if (difference !== 0) return difference
  }
  return aEntries.length - bEntries.length
}
