/** Design documents are programs that run for all who use a database: only its admins write them, in whatever way. */
import type { HttpError } from '../http/http-error.ts'
import type { JsonObject } from '../http/request-body.ts'
import type { WriteGuard } from '../http/seams.ts'
import { refusalOf } from './permissions.ts'

export function designGuard(securityOf: (database: string) => Promise<JsonObject | undefined>): WriteGuard {
  return async ({ request: { user }, database, documents }) => {
    if (!documents.some(isDesign)) return documents
    const security = await securityOf(database)
    const refusal = refusalOf({ user, needs: 'database-admin', database, security })
    if (refusal === undefined) return documents
    return documents.map((document): JsonObject | HttpError => (isDesign(document) ? refusal : document))
  }
}

function isDesign({ _id }: JsonObject): boolean {
  return typeof _id === 'string' && _id.startsWith('_design/')
}
