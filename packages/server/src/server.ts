/** Assembles the server, and closes it without losing answered writes. */
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { checkOptions, environmentOf, systemEnvironment, tellListener } from 'pannier/internal'
import type { Database } from 'pannier'
import type { OptionNames } from 'pannier/internal'
import type { Environment } from 'pannier/types'
import { Auth } from './auth/auth.ts'
import { appAccounts, appCollections, type IsAround } from './auth/app-accounts.ts'
import type { AuthHost } from './auth/auth-host.ts'
import { ensureCouchAdmin, ensureSuperuser } from './auth/bootstrap.ts'
import { designGuard } from './auth/design-guard.ts'
import { REPLICATOR_DATABASE, USERS_DATABASE } from './auth/permissions.ts'
import { authPlugin } from './auth/plugin.ts'
import { newSigningKey } from './auth/signing-key.ts'
import { endBranches } from './auth/users-guard.ts'
import { fauxtonRoutes } from './couch/fauxton-routes.ts'
import { attachmentRoutes } from './couch/attachment-routes.ts'
import { bulkGetRoutes } from './couch/bulk-get.ts'
import { bulkRoutes } from './couch/bulk-routes.ts'
import { changesRoutes } from './couch/changes-routes.ts'
import { countRequests, writeCounter } from './couch/count-requests.ts'
import { databaseRoutes } from './couch/database-routes.ts'
import { documentRoutes } from './couch/document-routes.ts'
import { FeedSchedule } from './couch/feed-schedule.ts'
import { findRoutes } from './couch/find-routes.ts'
import { indexRoutes } from './couch/index-routes.ts'
import { listRoutes } from './couch/list-routes.ts'
import { localRoutes } from './couch/local-routes.ts'
import { MangoIndexes } from './couch/mango/mango-indexes.ts'
import { nodeRoutes } from './couch/node-routes.ts'
import { OpenFeeds } from './couch/open-feeds.ts'
import { replicatorRoutes } from './couch/replicator-routes.ts'
import { keepContext } from './couch/server-context.ts'
import type { ServerContext } from './couch/server-context.ts'
import { serverRoutes } from './couch/server-routes.ts'
import { snapshotRoutes } from './couch/snapshot-routes.ts'
import { viewRoutes } from './couch/view-routes.ts'
import { waitRoutes } from './couch/wait-routes.ts'
import { designFilters } from './design/change-filters.ts'
import { DesignDocuments } from './design/design-documents.ts'
import { compilationGuard, validationGuard } from './design/document-guards.ts'
import { CustomRoutes } from './hooks/custom-routes.ts'
import { HookFolder } from './hooks/hook-folder.ts'
import { RouteTable } from './hooks/route-table.ts'
import { createApp } from './http/app.ts'
import { BodyStore } from './http/body-store.ts'
import { Metrics } from './http/metrics.ts'
import { keepFresh } from './http/freshness.ts'
import { servePublicFiles } from './http/public-files.ts'
import { refuseOtherMethods } from './http/other-methods.ts'
import { adminPage } from './http/admin-page.ts'
import { RunningRequests } from './http/running-requests.ts'
import { DEFAULT_LIMITS } from './http/server-limits.ts'
import type { ServerLimits } from './http/server-limits.ts'
import type { ReplicatorContext } from './replicator/replicator-context.ts'
import { replicatorGuard } from './replicator/replicator-guard.ts'
import type { ReplicatorOptions } from './replicator/replicator-options.ts'
import { AddressRules } from './outgoing/address-rules.ts'
import { guardedFetch } from './outgoing/guarded-fetch.ts'
import { Replicator } from './replicator/replicator.ts'
import { ActiveTasks } from './replicator/tasks.ts'
import { restPlugin } from './rest/rest-plugin.ts'
import { Sandbox } from './sandbox/sandbox.ts'
import { isFiles } from './tls/https-options.ts'
import { openTls } from './tls/tls.ts'
import type { Tls } from './tls/tls.ts'
import { givenDatabase, keepPrivate, openOwnDatabases, type OwnDatabases } from './own-databases.ts'
import { checkServerOptions } from './server-options.ts'
import type { ChosenOptions, ServerOptions } from './server-options.ts'
import { LOG_LEVELS, openBackend } from '@pannier/backend'
import type { Backend, BackupHost, LogEntry, WriteGuard } from '@pannier/backend'
import { DatabaseUpdates, Databases, Gateway, GuardChain, Quota, ServerState } from '@pannier/backend/internal'
import type { JsonObject } from '@pannier/backend/internal'

/** Where the server listens. */
export interface ListenOptions {
  /** The port; 0 takes a free one. */
  readonly port?: number
  /** The host's address; '127.0.0.1' when left out. */
  readonly host?: string
}

/** A server that is made by `createServer`. */
export interface PannierServer {
  /** Where it listens; undefined before `listen`. */
  readonly url: string | undefined
  /** The database that it serves. */
  readonly database: Database
  /**
   * Collections with the guards of the server, for the program around it: `server.gateway.collection(SYSTEM,
   * 'people')`.
   */
  readonly gateway: Gateway
  /** The application backend: collections with fields and rules, accounts, settings. */
  readonly backend: Backend
  /** The HTTP server, for more routes and for tests without a socket. */
  readonly http: FastifyInstance
  /** Listens on loopback unless another host is named. Resolves with the URL. */
  listen(options?: ListenOptions): Promise<string>
  /** Ends feeds, finishes the requests that run, then closes the database. Idempotent. */
  close(): Promise<void>
}

const LOOPBACK = '127.0.0.1'
const LISTEN_OPTIONS: OptionNames<ListenOptions> = { port: true, host: true }
const ROUTES = [
  serverRoutes,
  databaseRoutes,
  changesRoutes,
  listRoutes,
  bulkRoutes,
  bulkGetRoutes,
  findRoutes,
  indexRoutes,
  viewRoutes,
  snapshotRoutes,
  waitRoutes,
  nodeRoutes,
  localRoutes,
  documentRoutes,
  attachmentRoutes,
]

/**
 * A server that speaks CouchDB's HTTP API on a Pannier database. docs/internals/http-api.md tells what it answers.
 *
 * @throws PANNIER_LOCKED if another process has the file open; PANNIER_FORMAT_NEWER if a newer version serves the storage.
 * @example
 * const server = await createServer({ dir: './data' })
 * console.log(await server.listen({ port: 5984 }))
 */
export async function createServer(options: ServerOptions): Promise<PannierServer> {
  checkServerOptions(options)
  const { database, environment = database ? environmentOf(database) : systemEnvironment() } = options
  const chosen = { ...options, environment }
  const own =
    database === undefined ? await openOwnDatabases(chosen) : givenDatabase(database, newSigningKey(environment))
  const closing = new AbortController()
  try {
    // One after another: each finds what those before it have made.
    return await own.fleet.exclusively('start', () => assemble(chosen, own, closing))
  } catch (error) {
    closing.abort()
    await own.close()
    throw error
  }
}

async function assemble(options: ChosenOptions, own: Opened, closing: AbortController): Promise<PannierServer> {
  const { database, fleet } = own
  const { environment } = options
  const limits = { ...DEFAULT_LIMITS, ...options.limits }
  const metrics = new Metrics()
  const routes = new RouteTable()
  const { app, tls } = await openApp(options, limits, metrics, routes)
  const running = new RunningRequests(app)
  const refuseRest = refuseOtherMethods(app)
  const domain = await openDomain({ own, limits, routes, log: app.log }, options)
  const { state, databases, auth, backend } = domain
  if (options.storage !== undefined) keepFresh(app, database, () => settled(backend))
  const sandbox = new Sandbox({ environment, onLog: (line) => app.log.info({ line }, 'a design function says') })
  const designs = new DesignDocuments(database, sandbox, app.log)
  const securityOf = (name: string): Promise<JsonObject | undefined> => databases.security(name)
  const ours = [...guardsOf(environment, auth, designs, securityOf), backend.documentWrites.guard]
  const following = new GuardChain(options.guards ?? [], backend.logs)
  // Nothing refuses a deletion after the last one but what is judged inside the transaction.
  const last = endBranches(await databases.get(USERS_DATABASE))
  const guards = new GuardChain([...ours, ...(options.guards ?? []), last], backend.logs)
  const context: ServerContext = {
    environment,
    gateway: new Gateway(database, databases, auth, { guards, following, ...backend.documentWrites }),
    auth,
    limits,
    metrics,
    bodies: new BodyStore(options.dir ?? tmpdir(), environment),
    uuid: await uuidOf(environment, state),
    indexes: new MangoIndexes(database, app.log),
    designs,
    tasks: new ActiveTasks(environment),
    updates: new DatabaseUpdates(database, await databases.names()),
    schedule: new FeedSchedule(environment),
    feeds: new OpenFeeds(metrics, limits.feedsMax, limits.feedsPerUserMax),
    closing: closing.signal,
    isReady: () => own.isReady(),
    countWrites: writeCounter(backend),
    filterSource: designFilters(designs, securityOf),
  }
  keepContext(app, context)
  await addRoutes(app, { context, databases, backend }, options)
  const hooks = await addRest(app, { context, backend, routes }, options)
  const replicator = openReplicator(app, { ...context, database, fleet, databases, state }, options.couch?.replicator)
  addFigures(context, { database, backend, replicator })
  refuseRest()
  await app.ready()
  own.onRestart((reason) => tellListener(() => options.onRestart?.(reason)))
  const close = async (): Promise<void> => {
    closing.abort()
    backend.backups.end()
    await endRequests(app, running, limits)
    for (const part of [context.indexes, designs, context.updates, databases, auth]) part.close()
    await Promise.all([sandbox.close(), hooks?.close(), domain.close()])
    metrics.registry.clear()
    await own.close()
  }
  let url: string | undefined
  let closed: Promise<void> | undefined
  return {
    get url() {
      return url
    },
    database,
    gateway: context.gateway,
    backend,
    http: app,
    listen: async (listening) => (url = await listenAt(app, tls, listening)),
    close: () => (closed ??= close()),
  }
}

async function endRequests(app: FastifyInstance, running: RunningRequests, limits: ServerLimits): Promise<void> {
  const ended = app.close()
  await running.idle(limits.closeMsMax)
  // Idle ones, those without a request yet, and requests that do not end in time.
  app.server.closeAllConnections()
  await ended
}

async function openApp(
  options: ChosenOptions,
  limits: ServerLimits,
  metrics: Metrics,
  routes: RouteTable,
): Promise<{ readonly app: FastifyInstance; readonly tls: Tls | undefined }> {
  const { environment, dir, logger, http = {} } = options
  const { https, allowedHosts = [] } = http
  const ownNames = https === undefined || isFiles(https) ? [] : https.names
  const named = {
    ...http,
    environment,
    allowedHosts: [...allowedHosts, ...ownNames],
    ...(logger !== undefined && { logger }),
  }
  const app = await createApp(named, limits, metrics, (method, url) => routes.claims(method, url))
  if (options.database === undefined) await keepPrivate(options, app.log)
  return { app, tls: await openTls(app, { https, dir }) }
}

/** PocketBase's API with the hooks of the operator, if there is a folder of them. @throws HookFileError */
async function addRest(
  app: FastifyInstance,
  parts: { readonly context: ServerContext; readonly backend: Backend; readonly routes: RouteTable },
  { environment, dir: dataFolder, app: { hooks, pocketbase } = {}, http: { corsOrigins = [] } = {} }: ChosenOptions,
): Promise<HookFolder | undefined> {
  const { context, backend, routes } = parts
  const { bodies, limits, isReady } = context
  await app.register(
    restPlugin({ backend, bodies, limits, corsOrigins, isReady, routes: new CustomRoutes(routes, backend, context) }),
  )
  if (hooks === undefined && pocketbase === undefined) return undefined
  const { dir: folder, watch: isWatched = true } = hooks ?? {}
  const runningFile = dataFolder === undefined ? undefined : join(dataFolder, 'hooks.running')
  const pbHooks = pocketbase && resolve(pocketbase.dir, 'pb_hooks')
  return HookFolder.open({ environment, backend, routes, log: app.log, folder, pbHooks, isWatched, runningFile })
}

/** A database that was given has no logs. */
type Opened = Omit<OwnDatabases, 'logs'> & Partial<Pick<OwnDatabases, 'logs'>>

/** Resolves when what is kept in memory is of the state that this server has seen. */
async function settled({ definitions, settings }: Backend): Promise<void> {
  await definitions.settled()
  await settings.settled()
}

/** A backup is restored into files only. */
function backupHostOf({ environment, dir, storage, encryption, onRestart }: ChosenOptions): BackupHost {
  const restart = onRestart && ((): void => void environment.yield().then(() => onRestart('backup')))
  return {
    ...(dir !== undefined && { dir }),
    ...(encryption && { encryption }),
    ...(restart && storage === undefined && { restart }),
  }
}

/** The parts of the server below HTTP. */
interface Domain {
  readonly state: ServerState
  readonly databases: Databases
  readonly auth: Auth
  readonly backend: Backend
  close(): Promise<void>
}

interface DomainParts {
  readonly own: Opened
  readonly limits: ServerLimits
  readonly routes: RouteTable
  readonly log: FastifyBaseLogger
}

async function openDomain({ own: opened, limits, routes, log }: DomainParts, options: ChosenOptions): Promise<Domain> {
  const { environment } = options
  const { database, logs, fleet } = opened
  const state = new ServerState(database)
  const quota = new Quota(limits.databaseBytesMax)
  const { hashLimits = {}, loginLimits = {} } = options.auth ?? {}
  const print = ({ level = LOG_LEVELS.info, message, data = {} }: LogEntry): void => {
    const method = level >= LOG_LEVELS.error ? 'error' : level >= LOG_LEVELS.warn ? 'warn' : 'info'
    log[method](data, message)
  }
  const pictures = guardedFetch(new AddressRules(), { followsRedirects: true })
  const fetchPublic = (from: string, signal: AbortSignal): Promise<Response> => pictures.fetch(from, { signal })
  const { settingsKey, migrations } = options.app ?? {}
  const key = settingsKey !== undefined && { settingsKey }
  const own = logs && { logs, backups: { ...backupHostOf(options), ...key } }
  const automigrate = migrations?.automigrate === true && { automigrate: resolve(migrations.dir) }
  const backend = await openBackend(database, {
    environment,
    fleet,
    hashLimits,
    loginLimits,
    print,
    // What is encrypted, or in memory alone, is nowhere as plain text.
    readModel: (options.encryption ?? options.database) === undefined ? 'file' : 'memory',
    fetchPublic,
    quota,
    ...(options.guards && { guards: options.guards }),
    ...own,
    ...automigrate,
    ...key,
  })
  const databases = new Databases(database, state, {
    quota,
    history: options.couch?.history,
    app: backend.collections,
  })
  for (const name of [USERS_DATABASE, REPLICATOR_DATABASE]) await databases.ensure(name)
  const isAround: IsAround = (event, tags) => routes.around(event, tags).length > 0
  const { passwords, limiter } = backend.accounts
  const shared = { environment, database, databases, state, passwords, limiter }
  const parts = { ...shared, accounts: appAccounts(backend, isAround), app: appCollections(backend, isAround) }
  const auth = await openAuth(parts, await opened.signingKey(), options)
  const close = async (): Promise<void> => {
    await backend.close()
    await pictures.close()
  }
  const host = { accounts: auth.accounts, backend }
  if (options.superuser !== undefined) await ensureSuperuser(options.superuser, host)
  if (options.couchAdmin !== undefined) await ensureCouchAdmin(options.couchAdmin, host)
  return { state, databases, auth, backend, close }
}

/** The backlog of connections that wait to be accepted. Of 1,000 that come at once, Node's 511 would make some wait a second for their next try. */
const BACKLOG = 4096

async function listenAt(app: FastifyInstance, tls: Tls | undefined, options: ListenOptions = {}): Promise<string> {
  checkOptions('listen()', options, LISTEN_OPTIONS)
  const { port = 5984, host = LOOPBACK } = options
  const url = await app.listen({ port, host, backlog: BACKLOG })
  return (await tls?.listen(host)) ?? url
}

async function uuidOf(environment: Environment, state: ServerState): Promise<string> {
  const { uuid } = await state.ensure('identity', () => ({ uuid: environment.randomId() }))
  return uuid as string
}

/** Guards of rights come before guards of content. */
function guardsOf(
  environment: Environment,
  auth: Auth,
  designs: DesignDocuments,
  securityOf: Parameters<typeof designGuard>[0],
): WriteGuard[] {
  return [
    auth.guard,
    designGuard(securityOf),
    replicatorGuard,
    compilationGuard(designs),
    validationGuard(environment, designs, securityOf),
  ]
}

/** Begins with what is in `_replicator` when the server is ready, and ends with the server. */
function openReplicator(
  app: FastifyInstance,
  context: ServerContext & ReplicatorContext,
  options?: ReplicatorOptions,
): Replicator {
  const replicator = new Replicator(context, app.log, options)
  app.addHook('onReady', () => replicator.documents.follow())
  app.addHook('onClose', () => replicator.close())
  replicatorRoutes(app, context, replicator)
  return replicator
}

interface Figured {
  readonly database: Database
  readonly backend: Backend
  readonly replicator: Replicator
}

function addFigures(
  { metrics, closing }: Pick<ServerContext, 'metrics' | 'closing'>,
  { database, backend, replicator }: Figured,
): void {
  metrics.addGauge('pannier_replications', 'Replications that run or wait.', () => replicator.jobs.length)
  metrics.addGauge('pannier_realtime_clients', 'Clients of realtime.', () => backend.realtime.size)
  const figures = backend.modelFigures
  metrics.addGauge('pannier_model_bytes', 'The copy of records for views and SQL.', () => figures().bytes)
  metrics.addGauge(
    'pannier_model_lag_seconds',
    'The oldest change that it does not have.',
    () => figures().lagMs / 1000,
  )
  metrics.addGauge('pannier_model_ended', 'Processes of SQL that were ended or lost.', () => figures().ended)
  const stopCounting = database.subscribe(() => metrics.commits.inc())
  closing.addEventListener('abort', stopCounting, { once: true })
}

interface Routed {
  readonly context: ServerContext
  readonly databases: Databases
  readonly backend: Backend
}

async function addRoutes(
  app: FastifyInstance,
  { context, databases, backend }: Routed,
  { http: { plugins = [] } = {}, couch: { fauxton } = {}, app: { public: pages } = {} }: ServerOptions,
): Promise<void> {
  if (pages !== undefined) await servePublicFiles(app, pages, (name) => databases.has(name))
  await app.register(authPlugin(context.auth))
  countRequests(app, backend)
  for (const plugin of plugins) await app.register(plugin)
  for (const routes of ROUTES) routes(app, context)
  adminPage(app)
  if (fauxton !== undefined) (await fauxtonRoutes(fauxton))(app, context)
}

async function openAuth(
  parts: Pick<AuthHost, 'environment' | 'database' | 'state' | 'passwords' | 'limiter' | 'accounts' | 'app'> & {
    readonly databases: Databases
  },
  signingKey: Buffer,
  { auth, http: { corsOrigins, secureCookies } = {} }: ServerOptions,
): Promise<Auth> {
  const { databases, ...shared } = parts
  const users = await databases.get(USERS_DATABASE)
  const host = { ...shared, users, security: (name: string) => databases.security(name) }
  return Auth.open(host, signingKey, {
    ...auth,
    ...(corsOrigins !== undefined && { corsOrigins }),
    ...(secureCookies !== undefined && { secureCookies }),
  })
}
