/** What the routes share, and what plugins add to: `app.pannier`. */
import type { FastifyInstance } from 'fastify'
import type { Database } from 'pannier'
import type { Auth } from '../auth/auth.ts'
import type { BodyStore } from '../http/body-store.ts'
import type { Metrics } from '../http/metrics.ts'
import type { DesignDocuments } from '../design/design-documents.ts'
import type { MangoIndexes } from './mango/mango-indexes.ts'
import type { ActiveTasks } from '../service/tasks.ts'
import type { DatabaseUpdates } from '../service/database-updates.ts'
import type { Databases } from '../service/databases.ts'
import type { OpenFeeds } from './open-feeds.ts'
import type { ServerState } from '../service/state.ts'
import type { FilterSource, WriteGuard } from '../service/guards.ts'
import type { ServerLimits } from '../http/server-limits.ts'

export interface ServerContext {
  readonly database: Database
  readonly databases: Databases
  readonly state: ServerState
  readonly auth: Auth
  readonly limits: ServerLimits
  readonly metrics: Metrics
  /** Of requests that bring documents. */
  readonly bodies: BodyStore
  /** Of this server, for ever: replication ids are made of it. */
  readonly uuid: string
  /** What `GET /` tells as `features`. */
  readonly features: Set<string>
  readonly indexes: MangoIndexes
  readonly designs: DesignDocuments
  readonly tasks: ActiveTasks
  readonly updates: DatabaseUpdates
  readonly feeds: OpenFeeds
  /** Aborted when the server is being closed: feeds end. */
  readonly closing: AbortSignal
  /** Asked in this order. */
  readonly writeGuards: WriteGuard[]
  /** Of filters that are functions in design documents. */
  filterSource: FilterSource
}

declare module 'fastify' {
  interface FastifyInstance {
    readonly pannier: ServerContext
  }
}

/** A file of routes. */
export type Routes = (app: FastifyInstance, context: ServerContext) => void
