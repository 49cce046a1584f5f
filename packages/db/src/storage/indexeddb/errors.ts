/** Converts IndexedDB's errors into the library's own. None leaves this folder unconverted. */
import { PannierError, isPannierError, type ErrorCode } from '../../base/errors.ts'

/** A failure to open: of `indexedDB.open`, or of there being no `indexedDB`. */
export function openError(error: unknown, name: string): PannierError {
  if (isPannierError(error)) return error
  const [code, what] = openFailure(nameOf(error))
  return new PannierError(code, `The database '${name}' can't be opened: ${what}.`, { cause: error })
}

function openFailure(name: string): [ErrorCode, string] {
  switch (name) {
    case 'SecurityError': // blocked by a setting, or an opaque origin
    case 'InvalidStateError': // private mode of some browsers
    case 'NotSupportedError':
      return ['PANNIER_UNAVAILABLE', 'this page may not store data (private mode, or storage is disabled)']
    case 'QuotaExceededError':
      return ['PANNIER_QUOTA_EXCEEDED', 'there is no room left']
    case 'VersionError':
      return ['PANNIER_FORMAT_NEWER', 'a newer version of Pannier has written it']
    default: // e.g. UnknownError: 'Internal error opening backing store'
      return ['PANNIER_OPEN_FAILED', 'the browser failed to open it']
  }
}

/** A failure of a transaction. What is not IndexedDB's own (thrown by the caller's code, or ours already) stays as it is. */
export function operationError(error: unknown): unknown {
  if (error !== null && !(error instanceof DOMException)) return error
  const [code, what] = operationFailure(nameOf(error))
  return new PannierError(code, `${what}.`, { cause: error })
}

function operationFailure(name: string): [ErrorCode, string] {
  switch (name) {
    case 'QuotaExceededError': // a class of its own in newer engines, under the same name
    case 'InvalidStateError': // Firefox, in the transaction after that (a lost connection is noticed before)
      return ['PANNIER_QUOTA_EXCEEDED', 'There is no room left for what this page stores']
    case 'ConstraintError': // the key of a log record exists: the only thing that is added, not put
      return ['PANNIER_STALE', 'Another handle has written since']
    case 'DataError': // Chromium: the file of a large value is damaged or gone
    case 'NotReadableError':
      return ['PANNIER_CORRUPT', 'The browser can no longer read what was stored']
    default: // AbortError or none when closed underneath, UnknownError, TimeoutError, NotFoundError, DataCloneError
      return ['PANNIER_IO_FAILED', 'The browser failed to read or write the database']
  }
}

export function closedError(why: string): PannierError {
  return new PannierError('PANNIER_CLOSED', why)
}

function nameOf(error: unknown): string {
  return (error as { name?: string } | null)?.name ?? ''
}
