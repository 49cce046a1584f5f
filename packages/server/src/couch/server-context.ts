/** The server as CouchDB's routes see it. They reach documents only through the gateway. */
import type { FastifyInstance } from 'fastify'
import type { Environment } from 'pannier/types'
import type { Auth } from '../auth/auth.ts'
import type { DesignDocuments } from '../design/design-documents.ts'
import type { BodyStore } from '../http/body-store.ts'
import type { Metrics } from '../http/metrics.ts'
import type { BodyLimits } from '../http/request-body.ts'
import type { ServerLimits } from '../http/server-limits.ts'
import type { DatabaseUpdates, FilterSource } from '@pannier/backend/internal'
import type { ActiveTasks } from '../replicator/tasks.ts'
import type { Gateway } from '@pannier/backend'
import type { CountWrites } from './count-requests.ts'
import type { FeedSchedule } from './feed-schedule.ts'
import type { MangoIndexes } from './mango/mango-indexes.ts'
import type { OpenFeeds } from './open-feeds.ts'

export interface ServerContext {
  /** The environment: clock, timers and chance. */
  readonly environment: Environment
  /** The way to documents. */
  readonly gateway: Gateway
  /** Logins (auth): sessions, users and permissions. */
  readonly auth: Auth
  /** The limits in force. */
  readonly limits: ServerLimits
  /** Counts of requests and times. */
  readonly metrics: Metrics
  /** Bodies of requests that bring documents. */
  readonly bodies: BodyStore
  /** Never changes: replication ids contain it. */
  readonly uuid: string
  /** Mango indexes. */
  readonly indexes: MangoIndexes
  /** Design documents. */
  readonly designs: DesignDocuments
  /** Work in the background. */
  readonly tasks: ActiveTasks
  /** The feed of created and deleted databases. */
  readonly updates: DatabaseUpdates
  /** Change feeds that are open. */
  readonly feeds: OpenFeeds
  /** When each of them reads, and how long it waits. */
  readonly schedule: FeedSchedule
  /** Aborted when the server is being closed: feeds end. */
  readonly closing: AbortSignal
  /** Whether the server is ready: a balancer may send requests here. */
  readonly isReady: () => Promise<boolean>
  /** Counts documents that are about to be written, for limits in a time. */
  readonly countWrites: CountWrites
  /** Finds filters that are functions of design documents. */
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

/** The limits of bodies of JSON. */
export function jsonLimits({ limits }: ServerContext): BodyLimits {
  return { bytesMax: limits.requestBytesMax, stallMsMax: limits.stallMsMax }
}

/** The limit of a body with documents and attachments, which have limits of their own. */
export function documentLimits({ limits }: ServerContext): BodyLimits {
  return { bytesMax: limits.uploadBytesMax, stallMsMax: limits.stallMsMax }
}

/** The limits of bodies that are attachments. */
export function attachmentLimits({ limits }: ServerContext): BodyLimits {
  return { bytesMax: limits.attachmentBytesMax, stallMsMax: limits.stallMsMax }
}
