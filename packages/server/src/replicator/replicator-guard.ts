/**
 * Guards writes to `_replicator`, by any route: only valid replications, each with an owner. A replication runs with
 * its owner's rights, and only the owner and server admins may change it.
 */
import { isObject } from 'pannier/internal'
import { REPLICATOR_DATABASE } from '../auth/permissions.ts'
import { ServiceError } from '@pannier/backend'
import type { GuardedDocuments, GuardedWrite, Principal, WriteGuard } from '@pannier/backend'
import { forbidden } from '@pannier/backend/internal'
import type { JsonObject } from '@pannier/backend/internal'
import { readSpec } from './replication-spec.ts'

export const replicatorGuard: WriteGuard = {
  prepare: (write) => (write.database === REPLICATOR_DATABASE ? guardedReplications(write) : write.documents),
  decide: ({ database, principal }) => {
    if (database !== REPLICATOR_DATABASE || principal.isAdmin) return undefined
    return ({ old, document }) =>
      old === undefined || isDesign(document) || old['owner'] === principal.name
        ? undefined
        : forbidden('Only its owner and server admins may change a replication.')
  },
}

async function guardedReplications({ principal, stored, documents }: GuardedWrite): Promise<GuardedDocuments> {
  const results: (JsonObject | ServiceError)[] = []
  for (const document of documents) {
    const id = document['_id']
    const current = typeof id === 'string' ? await stored.get(id) : undefined
    try {
      results.push(guarded(document, current, principal))
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      results.push(forbidden(error.message))
    }
  }
  return results
}

/** The document as it is to be stored. */
function guarded(document: JsonObject, current: JsonObject | undefined, principal: Principal): JsonObject {
  if (isDesign(document)) return document
  const { isAdmin, name } = principal
  if (document['_deleted'] === true) return document
  readSpec(document)
  const context = document['user_ctx']
  if (context !== undefined) checkContext(context, principal)
  const owner = document['owner'] ?? (isAdmin ? current?.['owner'] : undefined) ?? name
  if (typeof owner !== 'string') throw forbidden('`owner` must be the name of a user.')
  if (!isAdmin && owner !== name) throw forbidden('The owner of a replication is who writes it.')
  return { ...document, owner }
}

function checkContext(context: unknown, principal: Principal): void {
  const { name = null, roles = [] } = isObject(context) ? context : { name: 0, roles: undefined }
  const isSound = (name === null || typeof name === 'string') && Array.isArray(roles) && roles.every(isText)
  if (!isSound) throw forbidden('`user_ctx` must be an object with `name` and `roles`.')
  const isOwn = name === principal.name && (roles as string[]).every((role) => principal.roles.includes(role))
  if (!principal.isAdmin && !isOwn) throw forbidden('`user_ctx` must be of who writes the document.')
}

function isDesign({ _id: id }: JsonObject): boolean {
  return String(id).startsWith('_design/')
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}
