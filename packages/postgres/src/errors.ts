/** Converts the failures of PostgreSQL, of its driver and of the network. None leaves this package unconverted. */
import { isPannierError, PannierError, type ErrorCode } from 'pannier'

/** The outcome is unknown: a call has failed, and whether the database has done it is not known. */
export class UnknownOutcome extends Error {}

/** A call was refused: it has failed, and the database has done nothing. `isPassing`: it may succeed if it is tried again. */
export class Refused extends Error {
  readonly isPassing: boolean

  constructor(isPassing: boolean, cause: unknown) {
    super('refused', { cause })
    this.isPassing = isPassing
  }
}

/** A fence did not hold: `1 / 0` in a statement. */
const DIVISION_BY_ZERO = '22012'
const UNIQUE_VIOLATION = '23505'

/**
 * SQLSTATEs of a server that starts, stops, is a standby, has no connection left, or prefers another transaction. Or
 * when a transaction came too slowly.
 */
const PASSING: ReadonlySet<string> = new Set(
  '25006 53300 57P03 40001 40P01 55P03 26000 42P05 25P02 25P03 25P04'.split(' '),
)

/** The server may have committed before it ended the connection. */
const ENDED: ReadonlySet<string> = new Set(['57P01', '57P02', '57P05', '57014'])

/** The five characters of SQLSTATE; undefined if the error is not of the server. */
export function stateOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | undefined)?.code
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && 'severity' in (error as object) ? code : undefined
}

/** Whether a fence of the statement has refused it. */
export function isFenced(error: unknown): boolean {
  const state = stateOf(error instanceof Refused ? error.cause : error)
  return state === DIVISION_BY_ZERO || state === UNIQUE_VIOLATION
}

/** The outcome of a call that was sent. */
export function outcomeOf(error: unknown): Refused | UnknownOutcome {
  const state = stateOf(error)
  if (state === undefined || ENDED.has(state) || state.startsWith('08'))
    return new UnknownOutcome('unknown', { cause: error })
  return new Refused(PASSING.has(state), error)
}

/** For the caller of the library. `place` names the database without its password. */
export function operationError(error: unknown, place: string): unknown {
  if (isPannierError(error)) return error
  if (error instanceof UnknownOutcome)
    return failure('PANNIER_OUTCOME_UNKNOWN', `PostgreSQL at ${place} did not answer.`, error.cause)
  const cause = error instanceof Refused ? error.cause : error
  const state = stateOf(cause)
  if (state === '53100' || state === '53200')
    return failure('PANNIER_QUOTA_EXCEEDED', `PostgreSQL at ${place} has no room left: ${messageOf(cause)}.`, cause)
  return failure(
    'PANNIER_IO_FAILED',
    `PostgreSQL at ${place} could not be read or written: ${messageOf(cause)}.`,
    cause,
  )
}

/** For the caller of `open`: what is wrong, and what to do. */
export function openError(error: unknown, place: string, schema: string): unknown {
  if (isPannierError(error)) return error
  const cause = error instanceof Refused || error instanceof UnknownOutcome ? error.cause : error
  return failure('PANNIER_OPEN_FAILED', `${reasonOf(cause, place, schema)}`, cause)
}

function reasonOf(cause: unknown, place: string, schema: string): string {
  const message = messageOf(cause)
  const code = codeOf(cause)
  const reason = REASONS.get(code)
  if (reason !== undefined) return reason(place, message, schema)
  if (/certificate|self-signed|altnames/i.test(message))
    return `The certificate of PostgreSQL at ${place} is not accepted: ${message}. Give its authority: sslrootcert=FILE in the URL, or \`ssl: { ca }\`.`
  if (/does not support SSL/i.test(message))
    return `PostgreSQL at ${place} has no TLS. Switch it on there, or leave sslmode out of the URL.`
  if (/password must be a string/i.test(message))
    return `PostgreSQL at ${place} asks for a password. Write it in the URL: postgres://user:password@host/database.`
  return `PostgreSQL at ${place} could not be opened: ${message}.`
}

type Reason = (place: string, message: string, schema: string) => string

const unreachable: Reason = (place, message) =>
  `PostgreSQL at ${place} can't be reached: ${message}. Check the host and the port, and that it runs.`

const noLogin: Reason = (place, message) =>
  `PostgreSQL at ${place} refused the login: ${message}. Check the user and the password of the URL.`

const REASONS: ReadonlyMap<string, Reason> = new Map(
  Object.entries<Reason>({
    ECONNREFUSED: unreachable,
    ENOTFOUND: unreachable,
    EAI_AGAIN: unreachable,
    EHOSTUNREACH: unreachable,
    ENETUNREACH: unreachable,
    ETIMEDOUT: unreachable,
    ECONNRESET: unreachable,
    '28P01': noLogin,
    '28000': noLogin,
    '3D000': (place, message) =>
      `PostgreSQL at ${place} has no such database: ${message}. Make it with CREATE DATABASE, or correct the URL.`,
    '42501': (place, message, schema) =>
      `The user may not use the schema ${schema} of PostgreSQL at ${place}: ${message}. Grant it: GRANT CREATE ON DATABASE … TO …, or make the schema and give it to the user.`,
    '25006': (place) =>
      `PostgreSQL at ${place} is a read-only standby. Name the primary, or all hosts: postgres://a:5432,b:5432/database. Or its user may only read: take back default_transaction_read_only.`,
    '53300': (place, message) =>
      `PostgreSQL at ${place} has no connection left: ${message}. Raise max_connections there, or lower \`connectionsMax\` here.`,
  }),
)

function codeOf(cause: unknown): string {
  const { code } = (cause ?? {}) as { code?: unknown }
  return typeof code === 'string' ? code : ''
}

function messageOf(cause: unknown): string {
  const message = cause instanceof Error ? cause.message : String(cause)
  // Node names no address where several were tried: the code says what happened.
  return (message === '' ? codeOf(cause) : message).replace(/\.$/, '')
}

export function failure(code: ErrorCode, message: string, cause?: unknown): PannierError {
  return new PannierError(code, message, cause === undefined ? {} : { cause })
}
