/** Errors of the client: errors of the library, with what the server said. */
import { PannierError, type ErrorCode } from 'pannier'

interface ClientErrorFacts {
  readonly status?: number | undefined
  readonly details?: Readonly<Record<string, unknown>>
  readonly cause?: unknown
}

/**
 * A failure of the client or of its server, with the codes of the library. `details` has what the server said: for forms the reasons by
 * field.
 *
 * @example
 * if (isPannierError(error, 'PANNIER_SIGNED_OUT')) show('Sign in again.')
 */
export class ClientError extends PannierError {
  /** Status of the server's answer. */
  readonly status: number | undefined

  constructor(code: ErrorCode, message: string, facts: ClientErrorFacts = {}) {
    super(code, message, facts)
    this.name = 'ClientError'
    this.status = facts.status
  }
}

export function closed(): ClientError {
  return new ClientError('PANNIER_CLOSED', 'The client is closed, or changes the account.')
}

/** The server's message is the same for all mistakes; the reasons by field are in the details. */
export function reasonOf(message: string, data: Readonly<Record<string, unknown>>): string {
  const reasons = Object.entries(data).flatMap(([field, reason]) => {
    const said = (reason as { readonly message?: unknown } | null)?.message
    return typeof said === 'string' && said !== '' ? [`${field}: ${said}`] : []
  })
  return [message, ...reasons].join(' ')
}
