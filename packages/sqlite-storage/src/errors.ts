/**
 * Converts the failures of an SQLite. Drivers give no codes in common, but each gives SQLite's own sentence (`sqlite3_errmsg`), which the
 * C library has in English alone.
 */
import { isPannierError, PannierError, type ErrorCode } from 'pannier'

const KINDS: readonly (readonly [pattern: RegExp, code: ErrorCode, message: (name: string) => string])[] = [
  [/disk is full|SQLITE_FULL/, 'PANNIER_QUOTA_EXCEEDED', (name) => `There is no room left for the database ${name}.`],
  [
    /is locked|SQLITE_BUSY/,
    'PANNIER_LOCKED',
    (name) => `Something else has the database ${name} open. Close it there.`,
  ],
  [/is not a database|SQLITE_NOTADB/, 'PANNIER_FORMAT_WRONG', notOurs],
  [/malformed|mismatch|no such table|SQLITE_CORRUPT/, 'PANNIER_CORRUPT', (name) => `The database ${name} is damaged.`],
]

/** A failure to open a database, or of an open one. */
export function convert(error: unknown, name: string, otherwise: 'PANNIER_OPEN_FAILED' | 'PANNIER_IO_FAILED'): unknown {
  if (isPannierError(error)) return error
  const text = error instanceof Error ? error.message : String(error)
  const kind = KINDS.find(([pattern]) => pattern.test(text))
  if (kind !== undefined) return new PannierError(kind[1], kind[2](name), { cause: error })
  const what = otherwise === 'PANNIER_OPEN_FAILED' ? 'opened' : 'read or written'
  return new PannierError(otherwise, `The database ${name} could not be ${what}: ${text}.`, { cause: error })
}

export function damaged(name: string): PannierError {
  return new PannierError('PANNIER_CORRUPT', `The database ${name} is damaged.`)
}

export function notOurs(name: string): string {
  return `The file ${name} is not a Pannier database; it was left as it is.`
}

export function stale(what: string): PannierError {
  return new PannierError('PANNIER_STALE', `Another handle has written since: ${what}.`)
}
