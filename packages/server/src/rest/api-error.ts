/** Errors that hooks and custom routes answer with. */
import { badArgument } from 'pannier/internal'
import { ServiceError } from '@pannier/backend'
import type { ErrorData, ServiceErrorCode } from '@pannier/backend'

const CODES: ReadonlyMap<number, ServiceErrorCode> = new Map([
  [401, 'UNAUTHENTICATED'],
  [403, 'FORBIDDEN'],
  [404, 'NOT_FOUND'],
  [409, 'CONFLICT'],
  [413, 'TOO_LARGE'],
  [429, 'TOO_MANY_REQUESTS'],
  [503, 'UNAVAILABLE'],
])

/**
 * An answer with a status from 400 to 599. An empty message means the usual one of the status.
 *
 * @example
 * throw new ApiError(402, 'Your plan has 3 projects.', { plan: { code: 'plan_full', message: 'Choose another plan.' } })
 */
export class ApiError extends ServiceError {
  /** The status, 400 to 599. */
  readonly status: number

  constructor(status: number, message = '', data?: ErrorData) {
    if (!Number.isInteger(status) || status < 400 || status > 599)
      throw badArgument('ApiError()', 'status must be a whole number from 400 to 599', status)
    super(CODES.get(status) ?? 'INVALID', message, data && { data })
    this.name = 'ApiError'
    this.status = status
  }
}
