/** Errors inside a write, as PocketBase's API answers them: it says which write has failed, and hides other errors. */
import { ServiceError } from '@pannier/backend'
import type { ServerEvent } from './event-methods.ts'

const OF_A_WRITE = /^on(?:Record|Model)(?:Validate|(?:Create|Update|Delete)(?:Execute)?)$/
const OF_A_COLLECTION = /^onCollection(?:Validate|(?:Create|Update)(?:Execute)?)$/

/** The error of a write for an error of one of its handlers. `log` gets what no client is shown. */
export function failureOf(
  name: string,
  { type, record }: ServerEvent,
  error: unknown,
  log: (error: unknown) => void,
): unknown {
  const { message, data } = error as ServiceError
  const isUpdate = type === 'validate' ? record?.isNew() === false : type === 'update'
  const kind = type === 'delete' ? 'delete' : isUpdate ? 'update' : 'create'
  if (OF_A_COLLECTION.test(name))
    return new ServiceError('INVALID', `Failed to ${kind} collection. Raw error: \n${message}`, { cause: error })
  if (!OF_A_WRITE.test(name) || 'status' in (error as object)) return error
  if (!(error instanceof ServiceError)) log(error)
  return new ServiceError('INVALID', `Failed to ${kind} record.`, { cause: error, ...(data && { data }) })
}
