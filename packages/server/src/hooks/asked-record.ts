/** Finds the record that a request is about, before handlers of its event run. */
import type { FastifyRequest } from 'fastify'
import { ServiceError, type Backend, type Definition } from '@pannier/backend'
import type { JsonObject } from '@pannier/backend/internal'
import type { RecordRequestEventName, RequestEventName } from './request-events.ts'

/** A record, as it is stored. */
export interface AskedRecord {
  readonly definition: Definition
  readonly document: JsonObject
}

interface AskedParts {
  readonly backend: Backend
  readonly request: FastifyRequest
  /** Reads the body of the request. */
  readonly values: () => Promise<JsonObject>
}

/** How accounts are found. PocketBase runs the handlers of the optional ones also where there is no account. */
const BY: Readonly<Partial<Record<RequestEventName, Parameters<Backend['accounts']['askedAccount']>[1]>>> = {
  onRecordAuthWithPasswordRequest: 'identity',
  onRecordRequestOTPRequest: 'email',
  onRecordAuthWithOTPRequest: 'otpId',
  onRecordRequestPasswordResetRequest: 'email',
  onRecordConfirmPasswordResetRequest: 'passwordReset',
  onRecordRequestVerificationRequest: 'email',
  onRecordConfirmVerificationRequest: 'verification',
  onRecordConfirmEmailChangeRequest: 'emailChange',
}
const OF_THE_ACCOUNT: ReadonlySet<RequestEventName> = new Set([
  'onFileTokenRequest',
  'onRecordAuthRefreshRequest',
  'onRecordRequestEmailChangeRequest',
])
const OPTIONAL: ReadonlySet<RequestEventName> = new Set([
  'onRecordAuthWithPasswordRequest',
  'onRecordRequestOTPRequest',
])

/** Whether handlers of the event run without a record. */
export function needsRecord(name: RequestEventName): name is RecordRequestEventName {
  return (
    name === 'onFileDownloadRequest' || OF_THE_ACCOUNT.has(name) || (Object.hasOwn(BY, name) && !OPTIONAL.has(name))
  )
}

/** Undefined if no record is meant, or the request is wrong: its route says how. */
export async function askedRecord(name: RequestEventName, parts: AskedParts): Promise<AskedRecord | undefined> {
  const { backend, request, values } = parts
  const { collection = '', record = '' } = request.params as Readonly<Record<string, string>>
  const find = async (of: string, get: (of: Definition) => Promise<JsonObject | undefined>) => {
    const definition = backend.definitions.find(of)
    const document = definition && (await get(definition))
    return document && { definition: definition!, document }
  }
  if (name === 'onFileDownloadRequest')
    return find(collection, (definition) => backend.files.recordOf(definition, record))
  const { account } = request.principal
  if (OF_THE_ACCOUNT.has(name)) return account && find(account.collection, async () => account.record as JsonObject)
  const by = BY[name]
  if (by === undefined) return undefined
  try {
    return await find(collection, async ({ id }) => backend.accounts.askedAccount(id, by, await values()))
  } catch (error) {
    if (error instanceof ServiceError) return undefined
    throw error
  }
}
