/** Who may do what in a database: CouchDB's `_security` objects and the rules for them. Pure. */
import { badRequest, HttpError } from '../http/http-error.ts'
import { isJsonObject, type JsonObject } from '../http/request-body.ts'
import type { Needs, User } from '../http/seams.ts'
import { ADMIN_ROLE, USER_PREFIX } from './accounts.ts'

export interface SecurityGroup {
  readonly names: readonly string[]
  readonly roles: readonly string[]
}

export interface Security {
  readonly admins: SecurityGroup
  readonly members: SecurityGroup
}

/** Of a database that has no `_security` yet, as in CouchDB 3: for server admins only. */
export const DEFAULT_SECURITY: JsonObject = { members: { roles: [ADMIN_ROLE] }, admins: { roles: [ADMIN_ROLE] } }

/** Of whom others must not read; users may read their own document. */
export const USERS_DATABASE = '_users'
/** Has the credentials of other servers in it: only its admins read it. */
export const REPLICATOR_DATABASE = '_replicator'

/** What is asked for. */
export interface Access {
  readonly user: User
  readonly needs: Needs
  /** The database that it is about, and its `_security`. */
  readonly database?: string | undefined
  readonly security?: JsonObject | undefined
  /** The document, if it is about one. */
  readonly documentId?: string | undefined
}

/** Undefined if it is allowed; else the answer: 401 to those who might log in, 403 to those who have, where CouchDB does so. */
export function refusalOf({ user, needs, database, security, documentId }: Access): HttpError | undefined {
  if (needs === 'anyone' || isServerAdmin(user)) return undefined
  if (needs === 'user')
    return user.name === null ? new HttpError(401, 'unauthorized', 'Authentication required.') : undefined
  if (needs === 'server-admin') return new HttpError(401, 'unauthorized', 'You are not a server admin.')
  const { admins, members } = readSecurity(security ?? DEFAULT_SECURITY)
  if (contains(admins, user)) return undefined
  if (needs === 'database-admin') return refused(user, 'You are not a db or server admin.')
  if (database === REPLICATOR_DATABASE) return refused(user, 'You are not an admin of this db.')
  if (database === USERS_DATABASE) {
    const isOwn = user.name !== null && documentId === USER_PREFIX + user.name
    return isOwn ? undefined : refused(user, 'Only administrators and the user may access the documents of a user.')
  }
  const isPublic = members.names.length === 0 && members.roles.length === 0
  if (isPublic || contains(members, user)) return undefined
  return refused(user, 'You are not allowed to access this db.')
}

export function isServerAdmin({ roles }: User): boolean {
  return roles.includes(ADMIN_ROLE)
}

/** Whether the user is a server admin, or an admin of the database. */
export function isDatabaseAdmin(user: User, security: JsonObject | undefined): boolean {
  return isServerAdmin(user) || contains(readSecurity(security ?? DEFAULT_SECURITY).admins, user)
}

/** Checks what a client wants `_security` to be. @throws HttpError 400 */
export function checkSecurity(value: unknown): JsonObject {
  if (!isJsonObject(value)) throw badRequest('The security object is a JSON object.')
  for (const group of ['admins', 'members']) {
    const found = value[group] ?? {}
    if (!isJsonObject(found)) throw badRequest(`${group} must be a JSON object of names and roles`)
    for (const list of ['names', 'roles']) {
      const entries = found[list] ?? []
      if (!Array.isArray(entries) || entries.some((entry) => typeof entry !== 'string'))
        throw badRequest(`${list} must be a JSON list of strings`)
    }
  }
  return value
}

/** Who reads these two databases is no matter of their members. @throws HttpError 403 for what would have no effect */
export function checkEffect(database: string, security: JsonObject): void {
  if (database !== USERS_DATABASE && database !== REPLICATOR_DATABASE) return
  const { members } = readSecurity(security)
  const isDefault = members.names.length === 0 && members.roles.join() === ADMIN_ROLE
  if (security['members'] === undefined || isDefault) return
  throw new HttpError(
    403,
    'forbidden',
    `${database} has no members: only its admins, and in _users each user for the own document, have access. Leave members out, or as they are.`,
  )
}

function readSecurity(security: JsonObject): Security {
  return { admins: groupOf(security['admins']), members: groupOf(security['members']) }
}

function groupOf(group: unknown): SecurityGroup {
  const { names, roles } = isJsonObject(group) ? group : ({} as JsonObject)
  return { names: textsOf(names), roles: textsOf(roles) }
}

function textsOf(list: unknown): string[] {
  return Array.isArray(list) ? list.filter((entry) => typeof entry === 'string') : []
}

function contains({ names, roles }: SecurityGroup, user: User): boolean {
  return (user.name !== null && names.includes(user.name)) || user.roles.some((role) => roles.includes(role))
}

function refused({ name }: User, reason: string): HttpError {
  return name === null ? new HttpError(401, 'unauthorized', reason) : new HttpError(403, 'forbidden', reason)
}
