/** Errors of the client, beside the errors of the library. */

/**
 * - `UNREACHABLE`: the server did not answer.
 * - `SIGNED_OUT`: the session has ended, or nobody is signed in.
 * - `REFUSED`: the server did not take the request. `data` has its reasons by field.
 * - `NOT_FOUND`: the record is not there.
 * - `EXISTS`: there is a record with this id.
 * - `INVALID`: the call is not right.
 * - `MFA`: another way to sign in is needed too. `data.mfaId` goes with the next one.
 * - `CLOSED`: the client is closed.
 */
export type ClientErrorCode =
  | 'UNREACHABLE'
  | 'SIGNED_OUT'
  | 'REFUSED'
  | 'NOT_FOUND'
  | 'EXISTS'
  | 'INVALID'
  | 'MFA'
  | 'CLOSED'

interface ClientErrorFacts {
  readonly status?: number | undefined
  readonly data?: Readonly<Record<string, unknown>>
  readonly cause?: unknown
}

/**
 * A failure of the client or of its server.
 *
 * @example
 * if (error instanceof ClientError && error.code === 'SIGNED_OUT') show('Sign in again.')
 */
export class ClientError extends Error {
  /** Stable; match this, never the message. */
  readonly code: ClientErrorCode
  /** Status of the server's answer. */
  readonly status: number | undefined
  /** The details that the server gave: for forms the reasons by field. */
  readonly data: Readonly<Record<string, unknown>>

  constructor(code: ClientErrorCode, message: string, { status, data = {}, cause }: ClientErrorFacts = {}) {
    super(message, { cause })
    this.name = 'ClientError'
    this.code = code
    this.status = status
    this.data = data
  }
}

export function closed(): ClientError {
  return new ClientError('CLOSED', 'The client is closed, or changes the account.')
}

/** The server's message is the same for all mistakes; the reasons by field are in the data. */
export function reasonOf(message: string, data: Readonly<Record<string, unknown>>): string {
  const reasons = Object.entries(data).flatMap(([field, reason]) => {
    const said = (reason as { readonly message?: unknown } | null)?.message
    return typeof said === 'string' && said !== '' ? [`${field}: ${said}`] : []
  })
  return [message, ...reasons].join(' ')
}
