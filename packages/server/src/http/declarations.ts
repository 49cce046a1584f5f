/** What routes declare, and what requests carry. */
import type { Principal } from '../service/principal.ts'

/** What a route asks of the principal; each includes those before it. */
export type Needs = 'anyone' | 'user' | 'member' | 'database-admin' | 'server-admin'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the plugin that authenticates. */
    principal: Principal
    /** Whether the principal may still do what was allowed when the request came; asks only if something has changed since. @throws ServiceError UNAUTHENTICATED, FORBIDDEN */
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

/** The parameters of routes of a database. */
export interface DatabaseRoute {
  Params: { readonly db: string }
}
