/** The options of `createServer()`, and their checks. */
import type { FastifyPluginAsync } from 'fastify'
import { badArgument, checkOptions } from 'pannier/internal'
import type { Database, OpenOptions } from 'pannier'
import type { Durability, Environment } from 'pannier/types'
import type { OptionNames } from 'pannier/internal'
import type { DatabaseStorage } from 'pannier/storage'
import type { AuthOptions } from './auth/auth.ts'
import { LOGIN_LIMITS } from './auth/login-limiter.ts'
import type { AppOptions } from './http/app.ts'
import type { PublicFilesOptions } from './http/public-files.ts'
import { DEFAULT_LIMITS } from './http/server-limits.ts'
import type { ServerLimits } from './http/server-limits.ts'
import { checkHttps } from './tls/https-options.ts'
import type { HttpsOptions } from './tls/https-options.ts'
import type { ReplicatorOptions } from './replicator/replicator-options.ts'
import type { WriteGuard } from '@pannier/backend'
import { HASH_QUEUE_LIMITS } from '@pannier/backend/internal'

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

/** Options of `createServer`. */
export interface ServerOptions extends AppOptions {
  /** Where `pannier.sqlite` and the key of its sessions are; made if need be, for this account alone. */
  readonly dir?: string
  /** With `dir`: encrypts a new database file, and opens one that is encrypted. As for `open` of the library. */
  readonly encryption?: OpenOptions['encryption']
  /** Encrypts the application's settings, which have secrets: 32 characters or more that nobody can guess. */
  readonly settingsKey?: string
  /**
   * Instead of files in `dir`: where any number of servers keep one database, `{ storage: postgres(url) }`. `dir` then has what is this
   * server's alone: hooks, pages, backups without a bucket.
   */
  readonly storage?: SharedStorage
  /** An open database instead, which stays open when the server is closed. Sessions end with the server then. */
  readonly database?: Database
  /**
   * Databases that are made keep the content of revisions that were replaced, until they are compacted; false when left out. For one
   * database: `PUT /{db}/_pannier/history`.
   */
  readonly history?: boolean
  /** 'strict': what was answered survives a loss of power as well; by default the end of the process. */
  readonly durability?: Durability
  /** Limits; those left out keep their defaults. */
  readonly limits?: Partial<ServerLimits>
  /**
   * `email:password` of a superuser, who then has this password: as `pannier superuser upsert` makes them. Without a superuser,
   * `server.backend.accounts.firstSuperuser` offers the link that makes the first one.
   */
  readonly superuser?: string
  /** `name:password` of a server admin, who then has this password. CouchDB's door alone knows server admins. */
  readonly couchAdmin?: string
  /** Settings of passwords, sessions and logins. */
  readonly auth?: Omit<AuthOptions, 'corsOrigins' | 'secureCookies'>
  /** Speaks HTTPS, with a certificate in files or with one that the server gets by ACME. HTTP when left out. */
  readonly https?: HttpsOptions
  /** Session cookies for TLS only: where a proxy ends TLS. */
  readonly secureCookies?: boolean
  /** With whom the server may replicate, and how persistently. */
  readonly replication?: ReplicatorOptions
  /** A folder that is served at `/_utils`: the built pages of Fauxton. Anybody may read what is in it. */
  readonly adminUi?: string
  /** A folder of hooks, TypeScript or JavaScript. `watch`: they are loaded again when a file changes; true when left out. */
  readonly hooks?: { readonly dir: string; readonly watch?: boolean }
  /**
   * A folder of migrations, which are applied before the server begins: whole, or with `storage` after a try in a copy. `automigrate`: each
   * change of a collection writes a file there; false when left out.
   */
  readonly migrations?: { readonly dir: string; readonly automigrate?: boolean }
  /**
   * A folder of pages that anybody may read, at the URLs that nothing else answers. `indexFallback`: an unknown page is answered with
   * `index.html` of the folder; true when left out.
   */
  readonly public?: PublicFilesOptions
  /**
   * Is called when the server is of no use any more: close it, and make it again with the same options. Without it only the command
   * line restores backups.
   */
  readonly onRestart?: (reason: RestartReason) => void
  /** Clock, timers and chance, for tests (`virtualEnvironment` of `pannier/testing`). Those of `database`, or the real ones, when left out. */
  readonly environment?: Environment
  /** Are asked about every write of documents, after the server's own. */
  readonly guards?: readonly WriteGuard[]
  /** Registered before the routes, after authentication. */
  readonly plugins?: readonly FastifyPluginAsync[]
}

/** With all that the server chooses itself. */
export type ChosenOptions = ServerOptions & Required<Pick<ServerOptions, 'environment'>>

const SERVER_OPTIONS: OptionNames<ServerOptions> = {
  dir: true,
  encryption: true,
  settingsKey: true,
  database: true,
  storage: true,
  durability: true,
  history: true,
  limits: true,
  superuser: true,
  couchAdmin: true,
  auth: true,
  https: true,
  secureCookies: true,
  trustProxy: true,
  corsOrigins: true,
  allowedHosts: true,
  replication: true,
  adminUi: true,
  public: true,
  migrations: true,
  onRestart: true,
  environment: true,
  logger: true,
  guards: true,
  hooks: true,
  plugins: true,
}

const AUTH_OPTIONS: OptionNames<NonNullable<ServerOptions['auth']>> = {
  sessionMsMax: true,
  sameSite: true,
  signUp: true,
  passwordCharsMin: true,
  loginLimits: true,
  hashLimits: true,
}

const REPLICATION_OPTIONS: OptionNames<ReplicatorOptions> = {
  hosts: true,
  runningMax: true,
  turnMs: true,
  retryMsMin: true,
  retryMsMax: true,
  backOff: true,
  resolve: true,
}

/** Throws a TypeError that names an unknown option. */
export function checkServerOptions(options: ServerOptions): void {
  checkOptions('createServer()', options, SERVER_OPTIONS)
  const { limits = {}, auth = {}, replication = {}, migrations, public: pages, https } = options
  checkOptions('createServer(): limits', limits, DEFAULT_LIMITS)
  if (options.storage !== undefined) checkShared(options)
  checkOptions('createServer(): auth', auth, AUTH_OPTIONS)
  checkOptions('createServer(): auth.loginLimits', auth.loginLimits ?? {}, LOGIN_LIMITS)
  checkOptions('createServer(): auth.hashLimits', auth.hashLimits ?? {}, HASH_QUEUE_LIMITS)
  if (https !== undefined) checkHttps(https)
  checkOptions('createServer(): replication', replication, REPLICATION_OPTIONS)
  if (migrations !== undefined) checkOptions('createServer(): migrations', migrations, { dir: true, automigrate: true })
  if (pages !== undefined) checkOptions('createServer(): public', pages, { dir: true, indexFallback: true })
}

const SHARED: OptionNames<SharedStorage> = { storage: true, name: true, isRestored: true }

/** Refuses options for a storage that several servers share: work in files of one server can't be shared. */
function checkShared({ storage, https, database }: ServerOptions): void {
  checkOptions('createServer(): storage', storage!, SHARED)
  if (database !== undefined) throw badArgument('createServer()', 'storage and database exclude each other', 'both')
  if (https !== undefined && 'names' in https)
    throw badArgument('createServer()', 'https with names is for one server: with storage end TLS before them', https)
}
