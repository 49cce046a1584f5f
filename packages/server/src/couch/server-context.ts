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

/** What routes and features share. */
export interface ServerContext {
  /** The database that is served. */
  readonly database: Database
  /** CouchDB's databases: the collections. */
  readonly databases: Databases
  /** What the server keeps across starts. */
  readonly state: ServerState
  /** Sessions, users and permissions. */
  readonly auth: Auth
  /** The limits in force. */
  readonly limits: ServerLimits
  /** Counts of requests and times. */
  readonly metrics: Metrics
  /** Of requests that bring documents. */
  readonly bodies: BodyStore
  /** Of this server, for ever: replication ids are made of it. */
  readonly uuid: string
  /** What `GET /` tells as `features`. */
  readonly features: Set<string>
  /** Mango indexes. */
  readonly indexes: MangoIndexes
  /** Design documents. */
  readonly designs: DesignDocuments
  /** What runs in the background. */
  readonly tasks: ActiveTasks
  /** The feed of created and deleted databases. */
  readonly updates: DatabaseUpdates
  /** Change feeds that are open. */
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
