/** Only admins of a database write its design documents, by any route: they are programs that run for all users. */
import type { GuardedDocuments, GuardedWrite, ServiceError, WriteGuard } from '@pannier/backend'
import type { JsonObject } from '@pannier/backend/internal'
import { refusalOf } from './permissions.ts'

export function designGuard(securityOf: (database: string) => Promise<JsonObject | undefined>): WriteGuard {
  return { prepare: (write) => (write.documents.some(isDesign) ? guarded(write, securityOf) : write.documents) }
}

async function guarded(
  { principal, database, documents }: GuardedWrite,
  securityOf: (database: string) => Promise<JsonObject | undefined>,
): Promise<GuardedDocuments> {
  const security = await securityOf(database)
  const refusal = refusalOf({ principal, needs: 'database-admin', database, security })
  if (refusal === undefined) return documents
  return documents.map((document): JsonObject | ServiceError => (isDesign(document) ? refusal : document))
}

function isDesign({ _id }: JsonObject): boolean {
  return typeof _id === 'string' && _id.startsWith('_design/')
}
