/**
 * The part of a request that filter functions see: no credentials (CVE-2023-45725), and not the client's address.
 * Otherwise the author of a design document could collect the cookies of all readers.
 */
import type { FilterRequest, JsonObject } from '@pannier/backend/internal'

/** The user, as functions see them. */
export interface UserContext {
  readonly db: string
  readonly name: string | null
  readonly roles: readonly string[]
}

/** The context of a filter: CouchDB's `req`, as far as it is harmless. */
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

export function filterContext({ principal, reader, database }: FilterRequest, security: JsonObject): FilterContext {
  const headers: Record<string, string> = {}
  for (const name of HEADERS) {
    const value = reader.headers[name]
    if (typeof value === 'string') headers[name] = value
  }
  const { name, roles } = principal
  const { method, path, query } = reader
  return {
    method,
    path,
    query,
    headers,
    userCtx: { db: database, name, roles },
    secObj: security,
    id: null,
    cookie: {},
    peer: '',
  }
}
