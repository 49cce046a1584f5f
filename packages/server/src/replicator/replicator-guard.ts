/**
 * What may be written to `_replicator`, in whatever way: replications that can be read, each with an owner, who is the one with
 * whose rights it runs and the only one, beside server admins, who may change it.
 */
import { isServerAdmin, REPLICATOR_DATABASE } from '../auth/permissions.ts'
import { HttpError } from '../http/http-error.ts'
import { isJsonObject } from '../http/request-body.ts'
import type { JsonObject } from '../http/request-body.ts'
import type { GuardedDocuments, GuardedWrite, User, WriteGuard } from '../http/seams.ts'
import { readSpec } from './replication-spec.ts'

export const replicatorGuard: WriteGuard = (write) =>
  write.database === REPLICATOR_DATABASE ? guardedReplications(write) : write.documents

async function guardedReplications({
  request: { user },
  collection,
  documents,
}: GuardedWrite): Promise<GuardedDocuments> {
  const results: (JsonObject | HttpError)[] = []
  for (const document of documents) {
    const id = document['_id']
    const current = typeof id === 'string' ? await collection.get(id) : undefined
    try {
      results.push(guarded(document, current, user))
    } catch (error) {
      if (!(error instanceof HttpError)) throw error
      results.push(new HttpError(403, 'forbidden', error.reason))
    }
  }
  return results
}

/** The document as it is to be stored. */
function guarded(document: JsonObject, current: JsonObject | undefined, user: User): JsonObject {
  if (String(document['_id']).startsWith('_design/')) return document
  const isAdmin = isServerAdmin(user)
  if (!isAdmin && current !== undefined && current['owner'] !== user.name)
    throw new HttpError(403, 'forbidden', 'Only its owner and server admins may change a replication.')
  if (document['_deleted'] === true) return document
  readSpec(document)
  const context = document['user_ctx']
  if (context !== undefined) checkContext(context, user, isAdmin)
  const owner = document['owner'] ?? (isAdmin ? current?.['owner'] : undefined) ?? user.name
  if (typeof owner !== 'string') throw new HttpError(403, 'forbidden', '`owner` must be the name of a user.')
  if (!isAdmin && owner !== user.name)
    throw new HttpError(403, 'forbidden', 'The owner of a replication is who writes it.')
  return { ...document, owner }
}

function checkContext(context: unknown, user: User, isAdmin: boolean): void {
  const { name = null, roles = [] } = isJsonObject(context) ? context : { name: 0, roles: undefined }
  const isSound = (name === null || typeof name === 'string') && Array.isArray(roles) && roles.every(isText)
  if (!isSound) throw new HttpError(403, 'forbidden', '`user_ctx` must be an object with `name` and `roles`.')
  const isOwn = name === user.name && (roles as string[]).every((role) => user.roles.includes(role))
  if (!isAdmin && !isOwn) throw new HttpError(403, 'forbidden', '`user_ctx` must be of who writes the document.')
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}
