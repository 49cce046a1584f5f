/**
 * How every asynchronous function answers: with a promise, with the callbacks `onSuccess` and `onFailure` of its options, and
 * with an event on the document's body.
 */
import { isObject } from 'pannier/internal'
import { CODES } from './codes.ts'
import type { CodeName } from './codes.ts'
import { toJSONStoreError } from './errors.ts'
import type { ErrorFacts, JSONStoreError } from './errors.ts'
import { chainedPromise } from './promise.ts'
import type { JSONStorePromise } from './promise.ts'

/** Options that every asynchronous function takes. Deprecated by JSONStore in favour of promises. */
export interface CallbackOptions {
  /** Called with the result. */
  readonly onSuccess?: ((result: never) => unknown) | undefined
  /** Gets the code of the failure; where `replace` misses documents (-11), these in its place. The error itself comes second. */
  readonly onFailure?: ((codeOrDocuments: never, error: never) => unknown) | undefined
}

/** Where a call is made. */
export interface CallSite {
  readonly src: string
  readonly col?: string
  readonly usr?: string
  /** The name of the code for a failure of the storage; -1 when left out. */
  readonly storageFailure?: CodeName
  readonly events: EventTarget | undefined
}

const SUCCESS_EVENT = 'WL/JSONSTORE/SUCCESS'
const FAILURE_EVENT = 'WL/JSONSTORE/FAILURE'

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
  if (onFailure !== undefined) void promise.fail((error) => report(onFailure, error as JSONStoreError))
  if (events !== undefined) {
    void promise.done((res) => tell(events, SUCCESS_EVENT, { src, col, usr, res }))
    // Whoever looks after the promise hears of the failure as well.
    const told = promise.then(undefined, (error: unknown) => tell(events, FAILURE_EVENT, error))
    void told
  }
  return promise
}

interface Callbacks {
  readonly onSuccess?: (result: unknown) => unknown
  readonly onFailure?: (codeOrDocuments: unknown, error: unknown) => unknown
}

export function callbacksOf(options: unknown): Callbacks {
  const { onSuccess, onFailure } = isObject(options) ? options : {}
  return {
    ...(typeof onSuccess === 'function' && { onSuccess: onSuccess as () => unknown }),
    ...(typeof onFailure === 'function' && { onFailure: onFailure as () => unknown }),
  }
}

/** Calls back as JSONStore does: with the documents that a function could not find, else with the code. */
export function report(onFailure: NonNullable<Callbacks['onFailure']>, error: JSONStoreError): unknown {
  const { err, doc } = error
  return onFailure(err === CODES.OPERATION_FAILED_ON_SPECIFIC_DOCUMENT ? doc : err, error)
}

/** Calls a callback of the app later. An error that it throws is an unhandled rejection, and changes nothing for others. */
export function notify(callback: () => unknown): void {
  void Promise.resolve().then(callback)
}

function tell(events: EventTarget, type: string, detail: unknown): void {
  events.dispatchEvent(new CustomEvent(type, { detail }))
}
