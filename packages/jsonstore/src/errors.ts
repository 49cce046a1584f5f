/** Errors of operations. */
import { isPannierError } from 'pannier'
import { CODES, nameOfCode } from './codes.ts'
import type { CodeName } from './codes.ts'

export interface ErrorFacts {
  /** The function that failed: 'find', 'initCollection', … */
  readonly src?: string
  /** The name of the collection. */
  readonly col?: string
  readonly usr?: string
  /** The documents that the failure is about. */
  readonly doc?: unknown
  /** The wrong name or value. The message shows it; JSONStore's own fields don't. */
  readonly given?: unknown
  /** The result of the operation so far, or the answer of an adapter. */
  readonly res?: unknown
  readonly cause?: unknown
}

/** The user of a store that is opened without a name. */
export const USERNAME_DEFAULT = 'jsonstore'

const GIVEN_CHARS_MAX = 200

/** JSONStore's error object, as an Error. As text it is JSON, as apps for JSONStore log it. */
export class JSONStoreError extends Error {
  /** The source (src): the function that failed. */
  readonly src: string
  /** The error code (err); stable. */
  readonly err: number
  /** The name of the code. */
  readonly msg: string
  /** The collection, if the error is about one. */
  readonly col: string
  /** The user name, if the error is about a store. */
  readonly usr: string
  /** The document, if the error is about one. */
  readonly doc: unknown
  /** The work that was done before the failure. */
  readonly res: unknown
  readonly #given: unknown

  constructor(err: number, facts: ErrorFacts = {}) {
    const { src = '', col = '', usr = USERNAME_DEFAULT, doc = {}, given, res = {}, cause } = facts
    const msg = nameOfCode(err)
    super(`${msg} (${err})${shown(given)}`, cause === undefined ? undefined : { cause })
    Object.defineProperty(this, 'name', { value: 'JSONStoreError', configurable: true, writable: true })
    this.src = src
    this.err = err
    this.msg = msg
    this.col = col
    this.usr = usr
    this.doc = doc
    this.res = res
    this.#given = given
  }

  /** @internal The same failure with further facts. */
  with(facts: ErrorFacts): JSONStoreError {
    const { err, usr, doc, res, cause } = this
    return new JSONStoreError(err, { usr, doc, given: this.#given, res, cause, ...facts })
  }

  /** The error as a string. */
  override toString(): string {
    return JSON.stringify(this, null, ' ')
  }
}

export function failure(name: CodeName, facts?: ErrorFacts): JSONStoreError {
  return new JSONStoreError(CODES[name], facts)
}

/** Any failure, with its place. `name`: the code for failures of the storage. */
export function toJSONStoreError(error: unknown, facts: ErrorFacts, name: CodeName): JSONStoreError {
  if (error instanceof JSONStoreError) {
    const { col } = error
    return error.with({ ...facts, ...(col !== '' && { col }) })
  }
  return failure(isPannierError(error) ? name : 'UNKNOWN_FAILURE', { ...facts, cause: error })
}

function shown(given: unknown): string {
  return typeof given === 'string' || typeof given === 'number' ? `: ${given}`.slice(0, GIVEN_CHARS_MAX) : ''
}
