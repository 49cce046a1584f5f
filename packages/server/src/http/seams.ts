/**
 * Where the parts of the server meet: what requests carry, what routes declare, and what the core asks others for. Authentication,
 * design functions and replication are plugins that fill these in.
 */
import type { FastifyRequest } from 'fastify'
import type { Collection } from 'pannier'
import type { HttpError } from './http-error.ts'
import type { JsonObject } from './request-body.ts'

/** Who has sent a request. `_admin` among the roles: a server admin. */
export interface User {
  /** Null: nobody has logged in. */
  readonly name: string | null
  readonly roles: readonly string[]
}

/** What a route asks of the user; each includes those before it. */
export type Needs = 'anyone' | 'user' | 'member' | 'database-admin' | 'server-admin'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the plugin that authenticates. */
    user: User
    /** Whether the user may still do what was allowed when the request came; asks only if something has changed since. @throws HttpError 401, 403 */
    checkAgain?: () => Promise<void>
    /** The most that this request may bring, where that is less than others may. */
    bodyBytesMax?: number
  }
  interface FastifyContextConfig {
    readonly needs?: Needs
    /** Content types beside JSON that a POST may have ('*': any, of a route that does nothing); others could be sent by any page without being asked (CSRF). */
    readonly contentTypes?: readonly string[]
  }
}

/** Documents that a request is about to write. */
export interface GuardedWrite {
  readonly request: FastifyRequest
  /** As in the URL. */
  readonly database: string
  readonly collection: Collection<JsonObject>
  readonly documents: readonly JsonObject[]
  readonly newEdits: boolean
}

/**
 * Is asked before documents are written, however that is asked for: gives for each the document to be written instead, or why
 * it is refused. `_local/` documents are no matter of guards.
 */
export type WriteGuard = (write: GuardedWrite) => GuardedDocuments | Promise<GuardedDocuments>

export type GuardedDocuments = readonly (JsonObject | HttpError)[]

/** A filter of a change feed that the core does not know itself: a function in a design document. */
export interface FilterRequest {
  readonly request: FastifyRequest
  readonly database: string
  readonly collection: Collection<JsonObject>
  /** `ddoc/function`, or `_view`. */
  readonly filter: string
  /** With `_view`: `ddoc/view`. */
  readonly view: string | undefined
}

export interface ChangeFilter {
  /** For each document (tombstones have `_deleted: true`) whether its change is told. */
  accepts(documents: readonly JsonObject[]): Promise<readonly boolean[]>
  /** The feed is over. */
  dispose(): void
}

/** Finds filters. @throws HttpError 404 if there is no such function. */
export type FilterSource = (request: FilterRequest) => Promise<ChangeFilter>
