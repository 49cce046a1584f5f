/** Why a transaction is rejected for good, and what only hinders it now. docs/internals/sync-writes.md is the contract. */
import { ServiceError, type ErrorData, type ServiceErrorCode } from '../../gateway/service-error.ts'
import { BatchError } from '../../records/batch-error.ts'
import type { PushCode, StoredOutcome } from './push-format.ts'

class Dependent extends ServiceError {}

/** A write builds on what is not there. */
export function depends(n: number): ServiceError {
  return new Dependent('CONFLICT', `It builds on transaction ${n}, which was rejected or is not known.`)
}

const CODES: Partial<Readonly<Record<ServiceErrorCode, PushCode>>> = {
  UNAUTHENTICATED: 'FORBIDDEN',
  FORBIDDEN: 'FORBIDDEN',
  NOT_FOUND: 'NOT_FOUND',
  CONFLICT: 'CONFLICT',
  EXISTS: 'INVALID',
  INVALID: 'INVALID',
  TOO_LARGE: 'INVALID',
  DOCUMENT_TOO_LARGE: 'INVALID',
  UNSUPPORTED: 'INVALID',
}

/** Undefined: it may go well another time. */
export function rejection(error: unknown): StoredOutcome | undefined {
  if (!(error instanceof BatchError)) return undefined
  const { index, reason } = error
  const code = reason instanceof Dependent ? 'DEPENDS' : CODES[reason.code]
  if (code === undefined) return undefined
  const { message, data } = reason
  return { status: 'rejected', at: index, code, message, ...(data && { data }) }
}

/** As it is without the other writes: it is not the client that is wrong. */
export function hindrance(error: unknown): unknown {
  return error instanceof BatchError ? error.reason : error
}

/** @throws BatchError for the write that can't be in the transaction, whenever it is judged */
export function refuse(at: number, message: string, data?: ErrorData): never {
  throw new BatchError(at, new ServiceError('INVALID', message, data && { data }))
}
