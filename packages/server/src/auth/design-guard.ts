/** Design documents are programs that run for all who use a database: only its admins write them, in whatever way. */
import type { HttpError } from '../http/http-error.ts'
import type { JsonObject } from '../http/request-body.ts'
import type { GuardedDocuments, GuardedWrite, WriteGuard } from '../http/seams.ts'
import { refusalOf } from './permissions.ts'

export function designGuard(securityOf: (database: string) => Promise<JsonObject | undefined>): WriteGuard {
  return (write) => (write.documents.some(isDesign) ? guarded(write, securityOf) : write.documents)
}

async function guarded(
  { request: { user }, database, documents }: GuardedWrite,
  securityOf: (database: string) => Promise<JsonObject | undefined>,
): Promise<GuardedDocuments> {
  const security = await securityOf(database)
  const refusal = refusalOf({ user, needs: 'database-admin', database, security })
  if (refusal === undefined) return documents
  return documents.map((document): JsonObject | HttpError => (isDesign(document) ? refusal : document))
}

function isDesign({ _id }: JsonObject): boolean {
  return typeof _id === 'string' && _id.startsWith('_design/')
}
