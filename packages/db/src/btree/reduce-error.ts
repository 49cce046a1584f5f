/** What built-in reducers give for values that they can't reduce, as CouchDB does: a row with an error in it, not a failure. */
import { isPlainObject } from '../codec/collation.ts'

export interface ReduceError {
  readonly error: 'builtin_reduce_error'
  readonly reason: string
  readonly caused_by?: unknown
}

/** The value, if it is such an error. */
export function reduceError(value: unknown): ReduceError | undefined {
  return isPlainObject(value) && value['error'] === 'builtin_reduce_error'
    ? (value as unknown as ReduceError)
    : undefined
}
