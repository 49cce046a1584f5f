/** Answers a callback of PouchDB with the fate of a promise. */
import { nextTick } from 'pouchdb-utils'
import { failureOf } from './failures.ts'
import type { Callback } from './pouch.ts'

/** An error that the callback throws is the caller's, and reaches no promise of ours. */
export function answer<T>(callback: Callback<T>, run: () => Promise<T>): void {
  run().then(
    (result) => nextTick(() => callback(null, result)),
    (error: unknown) => nextTick(() => callback(failureOf(error))),
  )
}
