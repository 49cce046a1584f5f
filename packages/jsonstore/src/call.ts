/**
 * How every asynchronous function answers: with a promise, with the callbacks `onSuccess` and `onFailure` of its options, and
 * with an event on the document's body.
 */
import type { CodeName } from './codes.ts'
import { toJSONStoreError } from './errors.ts'
import type { ErrorFacts } from './errors.ts'
import { chainedPromise } from './promise.ts'
import type { JSONStorePromise } from './promise.ts'

/** Options that every asynchronous function takes. Deprecated by JSONStore in favour of promises. */
export interface CallbackOptions {
  readonly onSuccess?: ((result: never) => unknown) | undefined
  readonly onFailure?: ((error: never) => unknown) | undefined
}

/** Where a call is made. */
export interface CallSite {
  readonly src: string
  readonly col?: string
  readonly usr?: string
  /** What a failure of the storage is called; -1 when left out. */
  readonly storageFailure?: CodeName
  readonly events: EventTarget | undefined
}

export const SUCCESS_EVENT = 'WL/JSONSTORE/SUCCESS'
export const FAILURE_EVENT = 'WL/JSONSTORE/FAILURE'

/** `work` is called at once; what it throws is a failure of the call. */
export function call<T>(site: CallSite, options: unknown, work: () => T | Promise<T>): JSONStorePromise<T> {
  const { src, col, usr, storageFailure = 'PERSISTENT_STORE_FAILURE', events } = site
  const facts: ErrorFacts = { src, ...(col !== undefined && { col }), ...(usr !== undefined && { usr }) }
  const promise = chainedPromise<T>((resolve, reject) => {
    const fail = (error: unknown): void => reject(toJSONStoreError(error, facts, storageFailure))
    try {
      Promise.resolve(work()).then(resolve, fail)
    } catch (error) {
      fail(error)
    }
  })
  const { onSuccess, onFailure } = callbacksOf(options)
  if (onSuccess !== undefined) void promise.done(onSuccess)
  if (onFailure !== undefined) void promise.fail(onFailure)
  if (events !== undefined) {
    void promise.done((res) => tell(events, SUCCESS_EVENT, { src, col, usr, res }))
    // Whoever looks after the promise hears of the failure as well.
    const told = promise.then(undefined, (error: unknown) => tell(events, FAILURE_EVENT, error))
    void told
  }
  return promise
}

function callbacksOf(options: unknown): {
  readonly onSuccess: ((result: unknown) => unknown) | undefined
  readonly onFailure: ((error: unknown) => unknown) | undefined
} {
  const { onSuccess, onFailure } = (typeof options === 'object' && options !== null ? options : {}) as Record<
    string,
    unknown
  >
  return {
    onSuccess: typeof onSuccess === 'function' ? (onSuccess as () => unknown) : undefined,
    onFailure: typeof onFailure === 'function' ? (onFailure as () => unknown) : undefined,
  }
}

function tell(events: EventTarget, type: string, detail: unknown): void {
  events.dispatchEvent(new CustomEvent(type, { detail }))
}
