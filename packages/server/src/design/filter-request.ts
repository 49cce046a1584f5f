/**
 * What filter functions see of a request: never credentials (CVE-2023-45725), and nothing that tells where a client is. Whoever may write
 * a design document would otherwise learn the cookies of all who read with its filters.
 */
import type { FastifyRequest } from 'fastify'
import type { JsonObject } from '../http/request-body.ts'

/** Who reads or writes, as functions see them. */
export interface UserContext {
  readonly db: string
  readonly name: string | null
  readonly roles: readonly string[]
}

/** CouchDB's `req`, as far as it is harmless. */
export interface FilterContext {
  readonly method: string
  readonly path: readonly string[]
  readonly query: Readonly<Record<string, unknown>>
  readonly headers: Readonly<Record<string, string>>
  readonly userCtx: UserContext
  readonly secObj: JsonObject
  readonly id: null
  readonly cookie: Readonly<Record<string, never>>
  readonly peer: string
}

/** All other headers stay outside. */
const HEADERS: readonly string[] = ['accept', 'accept-language', 'content-type', 'host', 'user-agent']

export function filterContext(request: FastifyRequest, database: string, security: JsonObject): FilterContext {
  const headers: Record<string, string> = {}
  for (const name of HEADERS) {
    const value = request.headers[name]
    if (typeof value === 'string') headers[name] = value
  }
  const { name, roles } = request.user
  return {
    method: request.method,
    path: request.url.split('?')[0]!.split('/').slice(1),
    query: request.query as Record<string, unknown>,
    headers,
    userCtx: { db: database, name, roles },
    secObj: security,
    id: null,
    cookie: {},
    peer: '',
  }
}
