/** The errors of PouchDB's map/reduce plug-in. */
import { createError, type PouchError } from 'pouchdb-errors'
import { errorKind } from '../failures.ts'

export function queryParseError(message: string): PouchError {
  return createError(errorKind(400, 'query_parse_error', message))
}

export function viewNotFound(message: string): PouchError {
  return createError(errorKind(404, 'not_found', message))
}

/** A built-in reduce has met values that it can't reduce. */
export function builtInError(message: string): PouchError {
  return createError(errorKind(500, 'invalid_value', message))
}
