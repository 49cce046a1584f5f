/** Puts the server together, and takes it down so that nothing is lost. */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { open } from 'pannier'
import type { Database } from 'pannier'
import { ActiveTasks } from './couch/active-tasks.ts'
import { attachmentRoutes } from './couch/attachment-routes.ts'
import { bulkRoutes } from './couch/bulk-routes.ts'
import { changesRoutes } from './couch/changes-routes.ts'
import { DatabaseUpdates } from './couch/database-updates.ts'
import { databaseRoutes } from './couch/database-routes.ts'
import { Databases } from './couch/databases.ts'
import { documentRoutes } from './couch/document-routes.ts'
import { findRoutes } from './couch/find-routes.ts'
import { indexRoutes } from './couch/index-routes.ts'
import { listRoutes } from './couch/list-routes.ts'
import { localRoutes } from './couch/local-routes.ts'
import { OpenFeeds } from './couch/open-feeds.ts'
import type { ServerContext } from './couch/server-context.ts'
import { serverRoutes } from './couch/server-routes.ts'
import { ServerState } from './couch/server-state.ts'
import { snapshotRoutes } from './couch/snapshot-routes.ts'
import { MangoIndexes } from './design/mango-indexes.ts'
import { createApp } from './http/app.ts'
import { HttpError } from './http/http-error.ts'
import { Metrics } from './http/metrics.ts'
import { RunningRequests } from './http/running-requests.ts'
import { DEFAULT_LIMITS } from './http/server-options.ts'
import type { ServerOptions } from './http/server-options.ts'

export interface PannierServer {
  /** Where it listens; undefined before `listen`. */
  readonly url: string | undefined
  readonly database: Database
  /** The HTTP server, for more routes and for tests without a socket. */
  readonly app: FastifyInstance
  /** Loopback unless another host is named. Resolves with the URL. */
  listen(options?: { readonly port?: number; readonly host?: string }): Promise<string>
  /** Ends feeds, finishes the requests that run, then closes the database. Idempotent. */
  close(): Promise<void>
}

const FILE_NAME = 'pannier.sqlite'
const LOOPBACK = '127.0.0.1'
const ROUTES = [
  serverRoutes,
  databaseRoutes,
  changesRoutes,
  listRoutes,
  bulkRoutes,
  findRoutes,
  indexRoutes,
  localRoutes,
  snapshotRoutes,
  documentRoutes,
  attachmentRoutes,
]

/**
 * A server that speaks CouchDB's HTTP API on a Pannier database. docs/http-api.md tells what it answers.
 *
 * @throws PANNIER_LOCKED if another process has the database open.
 * @example
 * const server = await createServer({ dir: './data' })
 * console.log(await server.listen({ port: 5984 }))
 */
export async function createServer(options: ServerOptions): Promise<PannierServer> {
  const { database = await openIn(options), plugins = [] } = options
  const isOwn = options.database === undefined
  const limits = { ...DEFAULT_LIMITS, ...options.limits }
  const closing = new AbortController()
  const metrics = new Metrics()
  const app = await createApp(options, limits, metrics)
  const running = new RunningRequests(app)
  const state = new ServerState(database)
  const databases = new Databases(database, state)
  const { uuid } = await state.ensure('identity', () => ({ uuid: crypto.randomUUID().replaceAll('-', '') }))
  const context: ServerContext = {
    database,
    databases,
    state,
    limits,
    metrics,
    uuid: uuid as string,
    features: new Set(),
    indexes: new MangoIndexes(database, app.log),
    tasks: new ActiveTasks(),
    updates: new DatabaseUpdates(database, await databases.names()),
    feeds: new OpenFeeds(metrics, limits.feedsMax),
    closing: closing.signal,
    writeGuards: [],
    filterSource: async ({ filter }) => {
      throw new HttpError(404, 'not_found', `missing filter ${filter.slice(0, 80)}`)
    },
  }
  app.decorate('pannier', context)
  for (const plugin of plugins) await app.register(plugin)
  for (const routes of ROUTES) routes(app, context)
  await app.ready()
  let url: string | undefined
  let closed: Promise<void> | undefined
  const close = async (): Promise<void> => {
    closing.abort()
    const ended = app.close()
    await running.idle(limits.closeMsMax)
    // Idle ones, those that have not sent a request yet, and requests that do not end in time.
    app.server.closeAllConnections()
    await ended
    for (const part of [context.indexes, context.updates, databases]) part.close()
    metrics.registry.clear()
    if (isOwn) await database.close()
  }
  return {
    get url() {
      return url
    },
    database,
    app,
    listen: async ({ port = 5984, host = LOOPBACK } = {}) => (url = await app.listen({ port, host })),
    close: () => (closed ??= close()),
  }
}

async function openIn({ dir, durability = 'relaxed' }: ServerOptions): Promise<Database> {
  if (typeof dir !== 'string' || dir === '') throw new TypeError('createServer needs `dir` or `database`')
  await mkdir(dir, { recursive: true })
  return open(join(dir, FILE_NAME), { durability })
}
