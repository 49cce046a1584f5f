/** Why a transaction is rejected for good, and what only hinders it now. docs/internals/sync-writes.md is the contract. */
import { ServiceError, type ErrorData, type ServiceErrorCode } from '../../gateway/service-error.ts'
import { BatchError } from '../../records/batch-error.ts'
import { UnadmittedRecord } from '../../records/write/write-errors.ts'
import type { PushCode, PushWrite, StoredOutcome } from './push-format.ts'

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

/** `writes`: those of the transaction. Undefined: it may go well another time. */
export function rejection(error: unknown, writes: readonly PushWrite[]): StoredOutcome | undefined {
  if (!(error instanceof BatchError)) return undefined
  const { index, reason } = error
  const code = reason instanceof Dependent ? 'DEPENDS' : CODES[reason.code]
  if (code === undefined) return undefined
  const { data } = reason
  const { action, collection } = writes[index]!
  const message = isOfRule(reason) ? OF_RULE[action](collection) : reason.message
  return { status: 'rejected', at: index, code, message, ...(data && { data }) }
}

/** Neither has words of its own: REST has PocketBase's. */
function isOfRule(reason: ServiceError): boolean {
  return reason instanceof UnadmittedRecord || (reason.code === 'NOT_FOUND' && reason.message === '')
}

/** The rule that does not admit a write, and what to do. A record that is hidden from the account gets the words of one that is gone. */
const OF_RULE: Readonly<Record<PushWrite['action'], (collection: string) => string>> = {
  create: (name) =>
    `The create rule of "${name}" does not admit this record. Retry it with other values, or discard it.`,
  update: (name) =>
    `The record is gone, or the update rule of "${name}" does not admit this change. Retry it with other values, or discard it.`,
  delete: (name) => `The record is gone, or the delete rule of "${name}" does not admit the deletion. Discard it.`,
}

/** The hindrance of an error as it is without the other writes: it is not the client that is wrong. */
export function hindrance(error: unknown): unknown {
  return error instanceof BatchError ? error.reason : error
}

/** @throws BatchError for the write that can't be in the transaction, whenever it is judged */
export function refuse(at: number, message: string, data?: ErrorData): never {
  throw new BatchError(at, new ServiceError('INVALID', message, data && { data }))
}
