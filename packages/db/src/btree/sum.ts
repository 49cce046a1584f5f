/** `_sum`: numbers, arrays of numbers element by element, objects field by field, as in CouchDB. */
import { isPlainObject } from '../codec/collation.ts'
import { defineField } from '../codec/field-path.ts'
import { reduceError } from './reduce-error.ts'

/** A JSON value; an error object where something could not be added. */
export type Sum = unknown

const REASON =
  'The _sum function requires that map values be numbers, arrays of numbers, or objects. Objects cannot be mixed with other ' +
  'data structures. Objects can be arbitrarily nested, provided that the values for each key are themselves numbers, arrays ' +
  'of numbers, or objects.'

/** An error stays what it is. `total` is 0 at first. */
export function addValues(total: Sum, value: unknown): Sum {
  if (typeof total === 'number' && typeof value === 'number') return total + value
  const error = reduceError(total) ?? reduceError(value)
  if (error !== undefined) return error
  return added(total, value) ?? { error: 'builtin_reduce_error', reason: REASON, caused_by: value }
}

/** Undefined if they can't be added. */
function added(total: unknown, value: unknown): unknown {
  if (typeof value === 'number' && typeof total === 'number') return total + value
  if (isPlainObject(value)) {
    if (total === 0) return areSummable(value) ? value : undefined
    return isPlainObject(total) ? addedObjects(total, value) : undefined
  }
  const left = typeof total === 'number' ? [total] : total
  const right = typeof value === 'number' ? [value] : value
  if (!Array.isArray(left) || !Array.isArray(right)) return undefined
  const [longer, shorter] = left.length >= right.length ? [left, right] : [right, left]
  if (!right.every((element) => typeof element === 'number')) return undefined
  return longer.map((element: number, at) => element + ((shorter[at] as number | undefined) ?? 0))
}

/** Fields in the order of their names. */
function addedObjects(left: Record<string, unknown>, right: Record<string, unknown>): unknown {
  const result = {}
  for (const name of [...new Set([...Object.keys(left), ...Object.keys(right)])].sort()) {
    const value = !Object.hasOwn(right, name)
      ? left[name]
      : added(Object.hasOwn(left, name) ? left[name] : 0, right[name])
    if (value === undefined) return undefined
    defineField(result, name, value)
  }
  return result
}

function areSummable(value: unknown): boolean {
  if (Array.isArray(value)) return value.every((element) => typeof element === 'number')
  return isPlainObject(value) ? Object.values(value).every(areSummable) : typeof value === 'number'
}
