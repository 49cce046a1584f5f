/** Converts node:sqlite's errors into the library's own. None leaves this folder unconverted. */
import { PannierError, isPannierError, type ErrorCode } from '../../base/errors.ts'

/** Primary result codes of SQLite: the low byte of the extended code that an error carries. */
const BUSY = 5
const LOCKED = 6
const CORRUPT = 11
const FULL = 13
const MISMATCH = 20
const NOT_A_DATABASE = 26

/** A failure of an open database. */
export function operationError(error: unknown, path: string): unknown {
  switch (resultCode(error)) {
    case undefined:
      return error
    case BUSY:
    case LOCKED:
      return lockedError(path, error)
    case FULL:
      return failure('PANNIER_QUOTA_EXCEEDED', `There is no room left for the database file ${path}.`, error)
    case CORRUPT:
    case NOT_A_DATABASE:
    case MISMATCH:
      return damagedError(path, error)
    default:
      return failure(
        'PANNIER_IO_FAILED',
        `The database file ${path} could not be read or written: ${messageOf(error)}.`,
        error,
      )
  }
}

/** A failure to open. */
export function openError(error: unknown, path: string): unknown {
  if (isPannierError(error)) return error
  switch (resultCode(error)) {
    case BUSY:
    case LOCKED:
      return lockedError(path, error)
    case NOT_A_DATABASE:
      return wrongFormatError(path, error)
    case CORRUPT:
      return damagedError(path, error)
    default:
      return failure(
        'PANNIER_OPEN_FAILED',
        `The database file ${path} could not be opened: ${messageOf(error)}.`,
        error,
      )
  }
}

export function damagedError(path: string, cause?: unknown): PannierError {
  return failure('PANNIER_CORRUPT', `The database file ${path} is damaged.`, cause)
}

export function wrongFormatError(path: string, cause?: unknown): PannierError {
  return failure('PANNIER_FORMAT_WRONG', `The file ${path} is not a Pannier database; it was left as it is.`, cause)
}

function lockedError(path: string, cause: unknown): PannierError {
  const message = `Another process has the database file ${path} open. One process at a time can use it.`
  return failure('PANNIER_LOCKED', message, cause)
}

function failure(code: ErrorCode, message: string, cause: unknown): PannierError {
  return new PannierError(code, message, { cause })
}

/** Undefined for an error that is not SQLite's. */
function resultCode(error: unknown): number | undefined {
  const { code, errcode } = error as { code?: unknown; errcode?: unknown }
  // A number in the file that is none of ours: ours are safe integers.
  if (code === 'ERR_OUT_OF_RANGE') return CORRUPT
  return code === 'ERR_SQLITE_ERROR' && typeof errcode === 'number' ? errcode & 255 : undefined
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
