/** `_stats`: of numbers, of arrays of numbers element by element, and of statistics made before, as in CouchDB. */
import { isPlainObject } from '../codec/collation.ts'
import { reduceError, type ReduceError } from './reduce-error.ts'

export interface NumberStatistics {
  readonly sum: number
  readonly count: number
  readonly min: number
  readonly max: number
  readonly sumsqr: number
}

export type Statistics = NumberStatistics | readonly Statistics[] | ReduceError

const REASON =
  'The _stats function requires that map values be numbers, arrays of numbers, or objects with the numbers sum, count, min, ' +
  'max and sumsqr.'

/** Of one value. */
export function statisticsOf(value: unknown): Statistics {
  if (typeof value === 'number') return { sum: value, count: 1, min: value, max: value, sumsqr: value * value }
  if (Array.isArray(value)) {
    const all = value.map(statisticsOf)
    return all.find((element) => reduceError(element) !== undefined) ?? all
  }
  const error = reduceError(value)
  if (error !== undefined) return error
  if (isPlainObject(value)) {
    const { sum, count, min, max, sumsqr } = value
    const numbers = [sum, count, min, max, sumsqr]
    if (numbers.every((number) => typeof number === 'number'))
      return { sum, count, min, max, sumsqr } as NumberStatistics
  }
  return { error: 'builtin_reduce_error', reason: REASON, caused_by: value }
}

export function mergeStatistics(left: Statistics | undefined, right: Statistics): Statistics {
  if (left === undefined) return right
  const error = reduceError(left) ?? reduceError(right)
  if (error !== undefined) return error
  if (Array.isArray(left) && Array.isArray(right) && left.length === right.length) {
    const merged = left.map((element: Statistics, at) => mergeStatistics(element, right[at] as Statistics))
    return merged.find((element) => reduceError(element) !== undefined) ?? merged
  }
  if (Array.isArray(left) || Array.isArray(right))
    return { error: 'builtin_reduce_error', reason: REASON, caused_by: right }
  const [a, b] = [left as NumberStatistics, right as NumberStatistics]
  return {
    sum: a.sum + b.sum,
    count: a.count + b.count,
    min: Math.min(a.min, b.min),
    max: Math.max(a.max, b.max),
    sumsqr: a.sumsqr + b.sumsqr,
  }
}
