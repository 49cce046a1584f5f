/** Errors as PouchDB has them, with `status`, `name`, `error` and `reason`: those of the library, and those of its plug-ins. */
import { isPannierError, type ErrorCode, type PannierError } from 'pannier'
import {
  BAD_REQUEST,
  createError,
  MISSING_STUB,
  REV_CONFLICT,
  UNKNOWN_ERROR,
  type ErrorKind,
  type PouchError,
} from 'pouchdb-errors'
import { nextTick } from 'pouchdb-utils'
import type { Callback } from './pouch.ts'

const TOO_LARGE: ErrorKind = errorKind(413, 'too_large', 'The request is too large')
const FULL: ErrorKind = errorKind(500, 'QuotaExceededError', 'There is no room left')
const NO_ENTRY: ErrorKind = errorKind(401, 'unauthorized', 'The database does not open')
const LOCKED: ErrorKind = errorKind(412, 'locked', 'Another process has the database open')

/** A kind of errors that PouchDB has not, or that its plug-ins keep to themselves. */
export function errorKind(status: number, name: string, message: string): ErrorKind {
  // Its copies of kinds have the fields that these have.
  return { status, name, message, error: true }
}

const KINDS: Partial<Record<ErrorCode, ErrorKind>> = {
  PANNIER_CONFLICT: REV_CONFLICT,
  PANNIER_ATTACHMENT_MISSING: MISSING_STUB,
  PANNIER_KEY_TOO_LARGE: TOO_LARGE,
  PANNIER_DOCUMENT_TOO_LARGE: TOO_LARGE,
  PANNIER_DOCUMENT_TOO_DEEP: TOO_LARGE,
  PANNIER_ATTACHMENT_TOO_LARGE: TOO_LARGE,
  PANNIER_BATCH_TOO_LARGE: TOO_LARGE,
  PANNIER_QUOTA_EXCEEDED: FULL,
  PANNIER_KEY_WRONG: NO_ENTRY,
  PANNIER_ENCRYPTED: NO_ENTRY,
  PANNIER_NOT_ENCRYPTED: NO_ENTRY,
  PANNIER_LOCKED: LOCKED,
}

/** Any other error stays what it is. */
export function failureOf(error: unknown): unknown {
  if (isPannierError(error, 'PANNIER_CLOSED')) return new Error('database is closed', { cause: error })
  if (isPannierError(error)) return pannierFailure(error)
  return error instanceof TypeError ? withCause(createError(BAD_REQUEST, error.message), error) : error
}

/** PouchDB's error of a conflict has no reason. */
function pannierFailure(error: PannierError): PouchError {
  const kind = KINDS[error.code] ?? UNKNOWN_ERROR
  return kind === REV_CONFLICT ? createError(kind) : withCause(createError(kind, error.message), error)
}

function withCause(failure: PouchError, cause: unknown): PouchError {
  return Object.defineProperty(failure, 'cause', { value: cause, configurable: true, writable: true })
}

/** Undefined where the library refuses the id or the revision: no document has such a one. */
export async function unlessRefused<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof TypeError || isPannierError(error, 'PANNIER_KEY_TOO_LARGE')) return undefined
    throw error
  }
}

/** Answers a callback of PouchDB with the fate of a promise. An error that the callback throws is the caller's, and reaches no promise of ours. */
export function answer<T>(callback: Callback<T>, run: () => Promise<T>): void {
  run().then(
    (result) => nextTick(() => callback(null, result)),
    (error: unknown) => nextTick(() => callback(failureOf(error))),
  )
}

/** An error of PouchDB's map/reduce plug-in: options of a query that are wrong. */
export function queryParseError(message: string): PouchError {
  return createError(errorKind(400, 'query_parse_error', message))
}

/** An error of the same plug-in: no design document has the view. */
export function viewNotFound(message: string): PouchError {
  return createError(errorKind(404, 'not_found', message))
}

/** A built-in reduce has met values that it can't reduce. */
export function builtInError(message: string): PouchError {
  return createError(errorKind(500, 'invalid_value', message))
}
