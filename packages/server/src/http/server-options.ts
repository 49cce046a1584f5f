/** What a server can be told, with its defaults: the limits are docs/internals/http-api.md's. */
import type { FastifyPluginAsync } from 'fastify'
import { checkOptions } from 'pannier'
import type { Database, Durability, OpenOptions, OptionNames } from 'pannier'
import type { Logger, LoggerOptions } from 'pino'
import type { AuthOptions } from '../auth/auth.ts'
import { HASH_QUEUE_LIMITS } from '../auth/hash-queue.ts'
import { LOGIN_LIMITS } from '../auth/login-limiter.ts'
import type { ReplicatorOptions } from '../replicator/replicator-options.ts'

const KIBIBYTE = 1024
const MEBIBYTE: number = 1024 * KIBIBYTE

export interface ServerLimits {
  /** Bytes of a body in JSON that has no documents, and of what is around documents; unpacked. */
  readonly requestBytesMax: number
  /** Bytes of a document in JSON without the content of its attachments. */
  readonly documentBytesMax: number
  /** Bytes of an attachment, unpacked. */
  readonly attachmentBytesMax: number
  /** Bytes of a body that has documents or attachments. */
  readonly uploadBytesMax: number
  /** Bytes that one database may take: documents, attachments and indexes, about. A full one takes no more (507); Infinity: no bound. */
  readonly databaseBytesMax: number
  /** Bytes of all headers, the URL among them. */
  readonly headerBytesMax: number
  /** Until the headers of a request have come. */
  readonly headersMsMax: number
  /** Until a whole request has come. */
  readonly requestMsMax: number
  /** A connection on which nothing is read or written for that long is closed. */
  readonly idleMsMax: number
  /** A client that stops in the midst of a body is given up. */
  readonly stallMsMax: number
  readonly connectionsMax: number
  /** A change feed without a heartbeat ends when nothing has happened for that long. */
  readonly feedMsMax: number
  readonly heartbeatMsMin: number
  /** Change feeds that wait at the same time. */
  readonly feedsMax: number
  /** Of them those of one user, or of one address from where nobody has logged in. */
  readonly feedsPerUserMax: number
  /** How long `close` waits for requests that run. */
  readonly closeMsMax: number
}

export const DEFAULT_LIMITS: ServerLimits = {
  requestBytesMax: 8 * MEBIBYTE,
  documentBytesMax: 8 * MEBIBYTE,
  attachmentBytesMax: 1024 * MEBIBYTE,
  uploadBytesMax: 4096 * MEBIBYTE,
  databaseBytesMax: Infinity,
  headerBytesMax: 32 * KIBIBYTE,
  headersMsMax: 15_000,
  requestMsMax: 300_000,
  idleMsMax: 120_000,
  stallMsMax: 30_000,
  connectionsMax: 20_000,
  feedMsMax: 60_000,
  heartbeatMsMin: 5000,
  feedsMax: 10_000,
  feedsPerUserMax: 1000,
  closeMsMax: 10_000,
}

export interface ServerOptions {
  /** Where `pannier.sqlite` and the key of its sessions are; made if need be, for this account alone. */
  readonly dir?: string
  /** With `dir`: encrypts a new database file, and opens one that is encrypted. As for `open` of the library. */
  readonly encryption?: OpenOptions['encryption']
  /** An open database instead, which stays open when the server is closed. Sessions end with the server then. */
  readonly database?: Database
  /**
   * Databases that are made keep the content of revisions that were replaced, until they are compacted; false when left out. For one
   * database: `PUT /{db}/_pannier/history`.
   */
  readonly history?: boolean
  /** 'strict': what was answered survives a loss of power as well; by default the end of the process. */
  readonly durability?: Durability
  readonly limits?: Partial<ServerLimits>
  /**
   * `name:password` of a server admin, who then has this password. When left out, the first start makes `admin` with a random
   * password: `server.newAdmin`.
   */
  readonly admin?: string
  /** Of passwords, sessions and logins. */
  readonly auth?: Omit<AuthOptions, 'corsOrigins' | 'secureCookies' | 'now'>
  /** Session cookies for TLS only: where a proxy ends TLS. */
  readonly secureCookies?: boolean
  /** Addresses of proxies whose `X-Forwarded-…` headers are believed; `true`: whoever connects. None when left out. */
  readonly trustProxy?: boolean | string | readonly string[]
  /**
   * Names of this server beside `localhost`, loopback addresses and the one it listens at: `couch.lan`, without a port. A request with
   * another `Host` is refused with 403. When left out, a server that listens beyond loopback answers to any name.
   */
  readonly allowedHosts?: readonly string[]
  /** Origins that pages may call from: `https://app.example.org`. None when left out. */
  readonly corsOrigins?: readonly string[]
  /** With whom the server may replicate, and how persistently. */
  readonly replication?: ReplicatorOptions
  /** A folder that is served at `/_utils`: the built pages of Fauxton. Anybody may read what is in it. */
  readonly adminUi?: string
  /** A pino logger, its options, or false for none. */
  readonly logger?: Logger | LoggerOptions | false
  /** Registered before the routes, after authentication. */
  readonly plugins?: readonly FastifyPluginAsync[]
}

const SERVER_OPTIONS: OptionNames<ServerOptions> = {
  dir: true,
  encryption: true,
  database: true,
  durability: true,
  history: true,
  limits: true,
  admin: true,
  auth: true,
  secureCookies: true,
  trustProxy: true,
  corsOrigins: true,
  allowedHosts: true,
  replication: true,
  adminUi: true,
  logger: true,
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

/** Throws a TypeError that names an option that there is not. */
export function checkServerOptions(options: ServerOptions): void {
  checkOptions('createServer()', options, SERVER_OPTIONS)
  const { limits = {}, auth = {}, replication = {} } = options
  checkOptions('createServer(): limits', limits, DEFAULT_LIMITS)
  checkOptions('createServer(): auth', auth, AUTH_OPTIONS)
  checkOptions('createServer(): auth.loginLimits', auth.loginLimits ?? {}, LOGIN_LIMITS)
  checkOptions('createServer(): auth.hashLimits', auth.hashLimits ?? {}, HASH_QUEUE_LIMITS)
  checkOptions('createServer(): replication', replication, REPLICATION_OPTIONS)
}
