/** Refusals of the library, in PocketBase's words. */
import { isPannierError, type PannierError } from 'pannier'
import type { Definition } from '../../definitions/definition.ts'
import { uniqueErrors } from '../../definitions/library-index.ts'
import { toText } from '../../fields/cast.ts'
import { NOT_UNIQUE } from '../../fields/field-errors.ts'
import { conflicting, type ErrorData, missing, ServiceError } from '../../gateway/service-error.ts'
import type { RecordOperation } from './operations.ts'

/** A create rule does not admit the record. PocketBase has no more words for it, and so REST has none. */
export class UnadmittedRecord extends ServiceError {
  constructor() {
    super('INVALID', 'Failed to create record.')
  }
}

export function failed(action: 'create' | 'update', data?: ErrorData): ServiceError {
  return new ServiceError('INVALID', `Failed to ${action} record.`, data && { data })
}

/** The error for the client. What says nothing about the record stays as it is. `written`: whose records were to be written. */
export function writeError(
  error: unknown,
  written: readonly Definition[],
  action: 'create' | 'update' | 'delete',
): unknown {
  if (!isPannierError(error)) return error
  if (error.cause instanceof ServiceError) return error.cause
  switch (error.code) {
    case 'PANNIER_NOT_UNIQUE':
      return action === 'delete'
        ? needed(error, uniqueErrors(error, written))
        : failed(action, uniqueErrors(error, written))
    case 'PANNIER_CONFLICT':
      return action === 'create' ? failed('create', { id: NOT_UNIQUE }) : conflicting()
    case 'PANNIER_NOT_FOUND':
      return missing('')
    case 'PANNIER_RELATION_BROKEN':
      return needed(error)
    case 'PANNIER_DOCUMENT_INVALID':
    case 'PANNIER_DOCUMENT_TOO_LARGE':
    case 'PANNIER_DOCUMENT_TOO_DEEP':
    case 'PANNIER_KEY_TOO_LARGE':
    case 'PANNIER_BATCH_TOO_LARGE':
    case 'PANNIER_ATTACHMENT_TOO_LARGE':
    case 'PANNIER_LIMIT_EXCEEDED':
      return new ServiceError('INVALID', `Failed to ${action} record.`, { cause: error })
    default:
      return error
  }
}

/** Names the record in what refuses its write. One that is gone already needs no delete. */
export function unlessGone(operation: RecordOperation): (error: unknown) => undefined {
  return (error) => {
    if (!(error instanceof ServiceError)) throw error
    const isGone = error.code === 'NOT_FOUND'
    if (operation.action === 'delete' && isGone) return undefined
    const id = 'id' in operation ? operation.id : toText(operation.input['id'])
    const isOvertaken = isGone || error.code === 'CONFLICT'
    const reason = isOvertaken ? 'Somebody has changed it meanwhile.' : error.message
    const message = `Failed to ${operation.action} the record "${id}", and nothing was written. ${reason}`
    const code = isOvertaken ? 'CONFLICT' : error.code
    throw new ServiceError(code, message, { cause: error, ...(error.data && { data: error.data }) })
  }
}

/** A record of others needs the one that was to be deleted. */
function needed(cause: PannierError, data?: ErrorData): ServiceError {
  const message = 'Failed to delete record. Make sure that the record is not part of a required relation reference.'
  return new ServiceError('INVALID', message, { cause, ...(data && { data }) })
}
