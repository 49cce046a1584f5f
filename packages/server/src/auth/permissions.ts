/** CouchDB's `_security` objects and the rules of access to a database that follow from them. Pure functions. */
import { isObject } from 'pannier/internal'
import type { Needs } from '../http/declarations.ts'
import { ServiceError } from '@pannier/backend'
import type { Principal } from '@pannier/backend'
import { forbidden, invalid } from '@pannier/backend/internal'
import type { JsonObject } from '@pannier/backend/internal'
import { ADMIN_ROLE, USER_PREFIX } from './accounts.ts'

interface SecurityGroup {
  readonly names: readonly string[]
  readonly roles: readonly string[]
}

interface Security {
  readonly admins: SecurityGroup
  readonly members: SecurityGroup
}

/** For a database without `_security`, as in CouchDB 3: for server admins only. */
export const DEFAULT_SECURITY: JsonObject = { members: { roles: [ADMIN_ROLE] }, admins: { roles: [ADMIN_ROLE] } }

/** Users may read only their own document in it. */
export const USERS_DATABASE = '_users'
/** Has the credentials of other servers in it: only its admins read it. */
export const REPLICATOR_DATABASE = '_replicator'

/** The refusal that guests get, also for a database that does not exist. */
const NOT_ALLOWED = 'You are not allowed to access this db.'
/** The refusal for everybody who may not see the whole collection, whatever is in it. */
const RESTRICTED =
  "This is a collection with rules, which do not let you see all of it. CouchDB's API serves whole collections only: use @pannier/client, or the REST API under /api."

/** The access that is asked for. */
export interface Access {
  readonly principal: Principal
  readonly needs: Needs
  /** The database that it is about, and its `_security`. */
  readonly database?: string | undefined
  readonly security?: JsonObject | undefined
  /** Whether the principal sees all of it, for a collection of the application. */
  readonly isOpen?: boolean
  /** The document, if it is about one. */
  readonly documentId?: string | undefined
}

/** Undefined if it is allowed; else the answer: 401 to those who might log in, 403 to those who have, where CouchDB does so. */
export function refusalOf({
  principal,
  needs,
  database,
  security,
  isOpen,
  documentId,
}: Access): ServiceError | undefined {
  if (needs === 'anyone' || principal.isAdmin) return undefined
  if (needs === 'user')
    return principal.name === null ? new ServiceError('UNAUTHENTICATED', 'Authentication required.') : undefined
  if (needs === 'server-admin') return new ServiceError('UNAUTHENTICATED', 'You are not a server admin.')
  if (isOpen !== undefined && needs === 'member')
    return isOpen ? undefined : refused(principal, principal.name === null ? NOT_ALLOWED : RESTRICTED)
  const { admins, members } = readSecurity(security ?? DEFAULT_SECURITY)
  if (contains(admins, principal)) return undefined
  if (needs === 'database-admin') return refused(principal, 'You are not a db or server admin.')
  if (database === REPLICATOR_DATABASE) return refused(principal, 'You are not an admin of this db.')
  if (database === USERS_DATABASE) {
    const isOwn = principal.name !== null && documentId === USER_PREFIX + principal.name
    return isOwn
      ? undefined
      : refused(principal, 'Only administrators and the user may access the documents of a user.')
  }
  const isPublic = members.names.length === 0 && members.roles.length === 0
  if (isPublic || contains(members, principal)) return undefined
  return refused(principal, NOT_ALLOWED)
}

/** Somebody with these roles; `_admin` among them makes a server admin. */
export function principalOf(
  { name, roles }: Pick<Principal, 'name' | 'roles'>,
  by: Principal['by'],
  address?: string,
): Principal {
  return { name, roles, isAdmin: roles.includes(ADMIN_ROLE), by, ...(address !== undefined && { address }) }
}

/** Checks what a client wants `_security` to be. @throws ServiceError INVALID */
export function checkSecurity(value: unknown): JsonObject {
  if (!isObject(value)) throw invalid('The security object is a JSON object.')
  for (const group of ['admins', 'members']) {
    const found = value[group] ?? {}
    if (!isObject(found)) throw invalid(`${group} must be a JSON object of names and roles`)
    for (const list of ['names', 'roles']) {
      const entries = found[list] ?? []
      if (!Array.isArray(entries) || entries.some((entry) => typeof entry !== 'string'))
        throw invalid(`${list} must be a JSON list of strings`)
    }
  }
  return value
}

/**
 * The members of these two databases do not decide who reads them. @throws ServiceError FORBIDDEN for what would have
 * no effect
 */
export function checkEffect(database: string, security: JsonObject): void {
  if (database !== USERS_DATABASE && database !== REPLICATOR_DATABASE) return
  const { members } = readSecurity(security)
  const isDefault = members.names.length === 0 && members.roles.join() === ADMIN_ROLE
  if (security['members'] === undefined || isDefault) return
  throw forbidden(
    `${database} has no members: only its admins, and in _users each user for the own document, have access. Leave members out, or as they are.`,
  )
}

function readSecurity(security: JsonObject): Security {
  return { admins: groupOf(security['admins']), members: groupOf(security['members']) }
}

function groupOf(group: unknown): SecurityGroup {
  const { names, roles } = isObject(group) ? group : ({} as JsonObject)
  return { names: textsOf(names), roles: textsOf(roles) }
}

function textsOf(list: unknown): string[] {
  return Array.isArray(list) ? list.filter((entry) => typeof entry === 'string') : []
}

function contains({ names, roles }: SecurityGroup, principal: Principal): boolean {
  return (
    (principal.name !== null && names.includes(principal.name)) || principal.roles.some((role) => roles.includes(role))
  )
}

function refused({ name }: Principal, reason: string): ServiceError {
  return name === null ? new ServiceError('UNAUTHENTICATED', reason) : forbidden(reason)
}
