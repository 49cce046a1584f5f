/** What CouchDB's routes stand on. Documents are reached through the gateway, and in no other way. */
import type { FastifyInstance } from 'fastify'
import type { Auth } from '../auth/auth.ts'
import type { DesignDocuments } from '../design/design-documents.ts'
import type { BodyStore } from '../http/body-store.ts'
import type { Metrics } from '../http/metrics.ts'
import type { ServerLimits } from '../http/server-limits.ts'
import type { FilterSource } from '../service/change-filter.ts'
import type { DatabaseUpdates } from '../service/database-updates.ts'
import type { Gateway } from '../service/gateway.ts'
import type { ActiveTasks } from '../service/tasks.ts'
import type { MangoIndexes } from './mango/mango-indexes.ts'
import type { OpenFeeds } from './open-feeds.ts'

/** What routes and features share. */
export interface ServerContext {
  /** The way to documents. */
  readonly gateway: Gateway
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
  /** Of filters that are functions in design documents. */
  readonly filterSource: FilterSource
}

/** A file of routes. */
export type Routes = (app: FastifyInstance, context: ServerContext) => void

const contexts = new WeakMap<FastifyInstance, ServerContext>()

export function keepContext(app: FastifyInstance, context: ServerContext): void {
  contexts.set(app, context)
}

/** The context of a server, for tests. */
export function contextOf(app: FastifyInstance): ServerContext {
  return contexts.get(app)!
}
