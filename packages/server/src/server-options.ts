/** The options of `createServer()`, and their checks. */
import type { FastifyPluginAsync } from 'fastify'
import type { Logger, LoggerOptions } from 'pino'
import { badArgument, checkOptions } from 'pannier/internal'
import type { Database, OpenOptions } from 'pannier'
import type { Durability, Environment } from 'pannier/types'
import type { OptionNames } from 'pannier/internal'
import type { DatabaseStorage } from 'pannier/storage'
import type { AuthOptions } from './auth/auth.ts'
import type { RequestOptions } from './http/app.ts'
import type { PublicFilesOptions } from './http/public-files.ts'
import { DEFAULT_LIMITS } from './http/server-limits.ts'
import type { ServerLimits } from './http/server-limits.ts'
import { checkHttps } from './tls/https-options.ts'
import type { HttpsOptions } from './tls/https-options.ts'
import type { ReplicatorOptions } from './replicator/replicator-options.ts'
import type { WriteGuard } from '@pannier/backend'

/**
 * `backup`: a backup was restored. `restored`: the storage was put back to an earlier state than this server has seen. `newer`: a server
 * of a newer version has come, whose data this one does not know.
 */
export type RestartReason = 'backup' | 'restored' | 'newer'

/** Where several servers keep one database. */
export interface SharedStorage {
  /** As of `postgres(url)`. */
  readonly storage: DatabaseStorage
  /** The name of the database there; 'app' when left out. */
  readonly name?: string
  /** `onRestart` was called with 'restored' before: devices begin again where they have seen what is gone. */
  readonly isRestored?: boolean
}

/** The HTTP server: its names, its certificate, and whose requests it takes. */
export interface HttpOptions extends RequestOptions {
  /** Speaks HTTPS, with a certificate in files or with one that the server gets by ACME. HTTP when left out. */
  readonly https?: HttpsOptions
  /** Session cookies for TLS only: where a proxy ends TLS. */
  readonly secureCookies?: boolean
  /** Plugins of fastify. They are registered before the routes, after authentication. */
  readonly plugins?: readonly FastifyPluginAsync[]
}

/** The application on the server: its code, its pages, and the key of its settings. */
export interface ApplicationOptions {
  /** A folder of hooks, TypeScript or JavaScript. `watch`: they are loaded again when a file changes; true when left out. */
  readonly hooks?: { readonly dir: string; readonly watch?: boolean }
  /**
   * A folder of migrations, which are applied before the server begins: whole, or with `storage` after a try in a copy. `automigrate`: each
   * change of a collection writes a file there; false when left out.
   */
  readonly migrations?: { readonly dir: string; readonly automigrate?: boolean }
  /** The folder of a PocketBase project: its `pb_hooks` and `pb_migrations` run as they are, beside the hooks and migrations. */
  readonly pocketbase?: { readonly dir: string }
  /**
   * A folder of pages that anybody may read, at the URLs that nothing else answers. `indexFallback`: an unknown page is answered with
   * `index.html` of the folder; true when left out.
   */
  readonly public?: PublicFilesOptions
  /** Encrypts the application's settings, which have secrets: 32 characters or more that nobody can guess. */
  readonly settingsKey?: string
}

/** CouchDB's API: what it keeps, replicates and shows. */
export interface CouchOptions {
  /**
   * Databases that are made keep the content of revisions that were replaced, until they are compacted; false when left out. For one
   * database: `PUT /{db}/_pannier/history`.
   */
  readonly history?: boolean
  /** With whom the server may replicate, and how persistently. */
  readonly replicator?: ReplicatorOptions
  /** A folder that is served at `/_utils`: the built pages of Fauxton. Anybody may read what is in it. */
  readonly fauxton?: string
}

/** Options of `createServer`. */
export interface ServerOptions {
  /** Where `pannier.sqlite` and the key of its sessions are; made if need be, for this account alone. */
  readonly dir?: string
  /**
   * Instead of files in `dir`: where any number of servers keep one database, `{ storage: postgres(url) }`. `dir` then has what is this
   * server's alone: hooks, pages, backups without a bucket.
   */
  readonly storage?: SharedStorage
  /** An open database instead, which stays open when the server is closed. Sessions end with the server then. */
  readonly database?: Database
  /** With `dir`: encrypts a new database file, and opens one that is encrypted. As for `open` of the library. */
  readonly encryption?: OpenOptions['encryption']
  /** 'strict': what was answered survives a loss of power as well; by default the end of the process. */
  readonly durability?: Durability
  /**
   * `email:password` of a superuser, who then has this password: as `pannier superuser upsert` makes them. Without a superuser,
   * `server.backend.accounts.firstSuperuser` offers the link that makes the first one.
   */
  readonly superuser?: string
  /** `name:password` of a server admin, who then has this password. CouchDB's door alone knows server admins. */
  readonly couchAdmin?: string
  /** Settings of passwords, sessions and logins. */
  readonly auth?: Omit<AuthOptions, 'corsOrigins' | 'secureCookies'>
  /** Names, certificate and plugins of the HTTP server. */
  readonly http?: HttpOptions
  /** Limits; those left out keep their defaults. */
  readonly limits?: Partial<ServerLimits>
  /** Hooks, migrations, pages and the key of the settings. */
  readonly app?: ApplicationOptions
  /** Settings of CouchDB's API. */
  readonly couch?: CouchOptions
  /** Guards are asked about every write of documents, after the server's own. */
  readonly guards?: readonly WriteGuard[]
  /** A pino logger, its options, or false for none. */
  readonly logger?: Logger | LoggerOptions | false
  /**
   * Is called when the server is of no use any more: close it, and make it again with the same options. Without it only the command
   * line restores backups.
   */
  readonly onRestart?: (reason: RestartReason) => void
  /** Clock, timers and chance, for tests (`virtualEnvironment` of `pannier/testing`). Those of `database`, or the real ones, when left out. */
  readonly environment?: Environment
}

/** With all that the server chooses itself. */
export type ChosenOptions = ServerOptions & Required<Pick<ServerOptions, 'environment'>>

const SERVER_OPTIONS: OptionNames<ServerOptions> = {
  dir: true,
  storage: true,
  database: true,
  encryption: true,
  durability: true,
  superuser: true,
  couchAdmin: true,
  auth: true,
  http: true,
  limits: true,
  app: true,
  couch: true,
  guards: true,
  logger: true,
  onRestart: true,
  environment: true,
}

const HTTP_OPTIONS: OptionNames<HttpOptions> = {
  https: true,
  trustProxy: true,
  allowedHosts: true,
  corsOrigins: true,
  secureCookies: true,
  plugins: true,
}

const APP_OPTIONS: OptionNames<ApplicationOptions> = {
  hooks: true,
  migrations: true,
  pocketbase: true,
  public: true,
  settingsKey: true,
}
const COUCH_OPTIONS: OptionNames<CouchOptions> = { history: true, replicator: true, fauxton: true }

const AUTH_OPTIONS: OptionNames<NonNullable<ServerOptions['auth']>> = {
  sessionMsMax: true,
  sameSite: true,
  signUp: true,
  passwordCharsMin: true,
  loginLimits: true,
  hashLimits: true,
}

const LOGIN_LIMITS: OptionNames<NonNullable<AuthOptions['loginLimits']>> = {
  windowMs: true,
  sameMax: true,
  addressMax: true,
  nameMax: true,
}
const HASH_LIMITS: OptionNames<NonNullable<AuthOptions['hashLimits']>> = { concurrencyMax: true, waitingMax: true }

const REPLICATOR_OPTIONS: OptionNames<ReplicatorOptions> = {
  hosts: true,
  runningMax: true,
  runMsMax: true,
  retryMsMin: true,
  retryMsMax: true,
  backOff: true,
  resolve: true,
}

/** Throws a TypeError that names an unknown option. */
export function checkServerOptions(options: ServerOptions): void {
  checkOptions('createServer()', options, SERVER_OPTIONS)
  const { limits = {}, auth = {}, http = {}, app = {}, couch = {}, storage } = options
  const groups: readonly (readonly [
    name: string,
    given: object | undefined,
    known: Readonly<Record<string, unknown>>,
  ])[] = [
    ['limits', limits, DEFAULT_LIMITS as never],
    ['auth', auth, AUTH_OPTIONS],
    ['auth.loginLimits', auth.loginLimits, LOGIN_LIMITS],
    ['auth.hashLimits', auth.hashLimits, HASH_LIMITS],
    ['http', http, HTTP_OPTIONS],
    ['app', app, APP_OPTIONS],
    ['app.hooks', app.hooks, { dir: true, watch: true }],
    ['app.migrations', app.migrations, { dir: true, automigrate: true }],
    ['app.pocketbase', app.pocketbase, { dir: true }],
    ['app.public', app.public, { dir: true, indexFallback: true }],
    ['couch', couch, COUCH_OPTIONS],
    ['couch.replicator', couch.replicator, REPLICATOR_OPTIONS],
  ]
  for (const [name, given = {}, known] of groups) checkOptions(`createServer(): ${name}`, given, known)
  if (storage !== undefined) checkShared(options)
  if (http.https !== undefined) checkHttps(http.https)
}

const SHARED: OptionNames<SharedStorage> = { storage: true, name: true, isRestored: true }

/** Refuses options for a storage that several servers share: work in files of one server can't be shared. */
function checkShared({ storage, http, database }: ServerOptions): void {
  checkOptions('createServer(): storage', storage!, SHARED)
  if (database !== undefined) throw badArgument('createServer()', 'storage and database exclude each other', 'both')
  const https = http?.https
  if (https !== undefined && 'names' in https)
    throw badArgument(
      'createServer()',
      'http.https with names is for one server: with storage end TLS before them',
      https,
    )
}
