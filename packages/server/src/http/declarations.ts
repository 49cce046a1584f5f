/** Declarations of routes, the properties that requests get, and the door of each URL. */
import type { Environment } from 'pannier/types'
import type { Principal } from '@pannier/backend'

/** The principal that a route requires; each value includes those before it. */
export type Needs = 'anyone' | 'user' | 'member' | 'database-admin' | 'server-admin'

declare module 'fastify' {
  interface FastifyInstance {
    /** Clock, timers and chance of the server. */
    environment: Environment
  }
  interface FastifyRequest {
    /** The principal, which the plugin that authenticates has set. */
    principal: Principal
    /**
     * Checks again that the principal may do what was allowed when the request came. Does nothing if nothing has
     * changed since.
     *
     * @throws ServiceError UNAUTHENTICATED, FORBIDDEN
     */
    checkAgain?: () => Promise<void>
    /** The most bytes of a body that this request may bring, where that is less than others may. */
    bodyBytesMax?: number
  }
  interface FastifyContextConfig {
    readonly needs?: Needs
    /** The actions of a route of PocketBase's API on its collection, for limits of requests: `create`. */
    readonly tags?: readonly string[]
    /** Whether it is not logged (unlogged): a request that is answered well. */
    readonly unlogged?: boolean
    /**
     * Content types that a POST may have besides JSON ('*': any, for a route that does nothing). Any page could send
     * others without a preflight request (CSRF).
     */
    readonly contentTypes?: readonly string[]
  }
}

/** PocketBase's API has errors, headers and authentication of its own. */
export function isRestUrl(url: string): boolean {
  return /^\/+api(?:[/?]|$)/.test(url)
}

/** The parameters of routes of a database. */
export interface DatabaseRoute {
  Params: { readonly db: string }
}
