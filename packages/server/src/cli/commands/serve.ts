import { once } from 'node:events'
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createServer as createProbe, type AddressInfo } from 'node:net'
import { InvalidArgumentError, Option, type Command } from 'commander'
import type { DatabaseStorage } from 'pannier/storage'
import type { Durability } from 'pannier/types'
import { HookFileError } from '../../hooks/load-hooks.ts'
import { isLoopback } from '../../http/host-names.ts'
import { createLogger } from '../../http/logging.ts'
import { SETUP_PATH } from '../../http/admin-page.ts'
import { createServer, type PannierServer } from '../../server.ts'
import type { ApplicationOptions, CouchOptions, HttpOptions, RestartReason } from '../../server-options.ts'
import { ServiceError } from '@pannier/backend'
import { givenSettingsKey, SETTINGS_KEY } from '../database-path.ts'
import { calmThreads } from '../calm-threads.ts'
import { readBy } from '../option-uses.ts'
import { catchUncaught } from '../last-net.ts'
import { FailedError, UsageError } from '../outcome.ts'
import { explained } from '../superuser-api.ts'
import { sharedStorage, whenUpdated, type StorageArguments } from '../shared-storage.ts'
import { printLine, type Terminal } from '../terminal.ts'
import { migrationsFolder, pocketBaseProject } from './migrate.ts'

interface ServeArguments extends StorageArguments {
  readonly dir?: string
  readonly port?: number
  readonly host?: string
  readonly superuser?: string
  readonly couchAdmin?: string
  readonly https?: readonly string[]
  readonly acmeEmail?: string
  readonly acmeDirectory?: string
  readonly httpPort: number
  readonly tlsCert?: string
  readonly tlsKey?: string
  readonly allowHost: readonly string[]
  readonly cors: readonly string[]
  readonly durability: Durability
  readonly history: boolean
  readonly logLevel: string
  readonly trustProxy: readonly string[]
  readonly secureCookies: boolean
  readonly signUp: boolean
  readonly replicateWith: readonly string[]
  readonly quota?: number
  readonly fauxton?: string
  readonly hooks?: string
  readonly hooksWatch: boolean
  readonly encryptionKeyEnv?: string
  readonly public?: string
  readonly indexFallback: boolean
  readonly migrations?: string
  readonly automigrate: boolean
}

/** The most mebibytes of a quota: 1 PiB. */
const QUOTA_MEBIBYTES_MAX: number = 1024 ** 3

const PORT = 5984
const LOOPBACK = '127.0.0.1'
/** The port of HTTPS, for a server with public names. */
const HTTPS_PORT = 443
const EVERYWHERE = '0.0.0.0'

const LEVELS = ['silent', 'error', 'warn', 'info', 'debug']

export function addServe(program: Command, terminal: Terminal): void {
  const command = program
    .command('serve')
    .summary('run the server')
    .description(
      "Serves CouchDB's HTTP API and an application's on one database file. A start without a superuser shows a link to make one. Ctrl-C " +
        'finishes the requests that run; a second one ends the server at once, and loses nothing that was answered. With a password in ' +
        'PANNIER_PASSWORD a new database file is encrypted, and an encrypted one opened.',
    )
    .option('--dir <dir>', 'the folder that has the database file; made if need be')
    .addOption(storageOption())
    .option('--pooled', 'with --storage: the URL leads to a pooler in transaction mode, such as pgbouncer', false)
    .option(
      '--listen-url <urls...>',
      'with --pooled: a URL without the pooler, by which servers hear of one another at once; one for each --storage',
    )
    .option('--port <port>', `0: any that is free; ${PORT} when left out, and ${HTTPS_PORT} with --https`, readPort)
    .option('--host <host>', `the address to listen at; ${LOOPBACK} when left out, and ${EVERYWHERE} with --https`)
    .option('--https <names...>', "speaks HTTPS by these names, with a certificate of Let's Encrypt: example.org")
    .option('--acme-email <address>', "where Let's Encrypt may write to")
    .option('--acme-directory <url>', "the directory of an ACME service; that of Let's Encrypt when left out")
    .option('--http-port <port>', 'with --https: where the service asks, and http is redirected', readPort, 80)
    .option('--tls-cert <file>', 'speaks HTTPS with this certificate and its chain (PEM), loaded again when it changes')
    .option('--tls-key <file>', 'the private key of --tls-cert (PEM)')
    .addOption(new Option('--superuser <email:password>', 'a superuser, with this password').env('PANNIER_SUPERUSER'))
    .addOption(
      new Option('--couch-admin <name:password>', "an admin of CouchDB's API alone").env('PANNIER_COUCH_ADMIN'),
    )
    .option('--allow-host <names...>', 'names of the server beside localhost and its address: couch.lan', [])
    .option('--cors <origins...>', 'pages that may call the server: https://app.example.org', [])
    .addOption(
      new Option('--durability <what>', 'what was answered survives the end of the process, or a loss of power too')
        .choices(['relaxed', 'strict'])
        .default('relaxed'),
    )
    .option('--history', 'new databases keep replaced contents until they are compacted', false)
    .addOption(
      new Option('--log-level <level>', 'what is logged, as JSON to the standard error')
        .choices(LEVELS)
        .default('warn'),
    )
    .option('--trust-proxy <addresses...>', 'proxies whose X-Forwarded headers are believed', [])
    .option('--secure-cookies', 'session cookies for TLS only, which a proxy ends', false)
    .option('--sign-up', 'anybody may make a user without roles', false)
    .option(
      '--replicate-with <hosts...>',
      'hosts of private networks that it may replicate with: couch.lan, 10.0.0.0/8',
      [],
    )
    .option('--quota <MiB>', 'that one database may take; a full one takes no more', readQuota)
    .option('--hooks <dir>', 'hooks in TypeScript or JavaScript; the folder "hooks" in --dir when left out')
    .option('--no-hooks-watch', 'does not load hooks again when a file changes')
    .option(
      '--encryption-key-env <name>',
      `the environment variable that has the key of the application's settings; ${SETTINGS_KEY} when left out`,
    )
    .option('--public <dir>', 'pages that anybody may read, at URLs that nothing else answers')
    .option('--no-index-fallback', 'does not answer unknown pages with index.html of --public')
    .option('--migrations <dir>', 'migrations, applied at the start; the folder "migrations" in --dir when left out')
    .option('--automigrate', 'a change of a collection writes a migration: for development', false)
    .option('--fauxton <dir>', 'the built pages of Fauxton, which are served at /_utils')
    .action((options: ServeArguments) => serve(options, terminal))
  refuseUnread(command)
}

/** Arguments stand in the list of processes, with their passwords. The environment does not. */
function storageOption(): Option {
  return new Option(
    '--storage <urls...>',
    'a PostgreSQL instead, which several servers share: postgres://user:password@host/database; with several each database is at one of them',
  )
    .env('PANNIER_STORAGE')
    .argParser((text, before: readonly string[] | undefined) => [...(before ?? []), ...text.trim().split(/\s+/)])
}

/** Refuses options that are read with others only. */
function refuseUnread(command: Command): void {
  readBy<ServeArguments>(command, {
    pooled: { is: ({ storage }) => storage !== undefined, words: 'with --storage' },
    listenUrl: { is: ({ pooled }) => pooled, words: 'with --pooled' },
    httpPort: { is: ({ https }) => https !== undefined, words: 'with --https' },
    indexFallback: { is: (given) => given.public !== undefined, words: 'with --public' },
    hooksWatch: { is: ({ dir, hooks }) => (dir ?? hooks) !== undefined, words: 'with --hooks or --dir' },
  })
}

async function serve(options: ServeArguments, terminal: Terminal): Promise<void> {
  const { dir, https } = options
  if (dir === undefined && options.storage === undefined)
    throw new UsageError(
      '--dir or --storage is missing: --dir ./data, or --storage postgres://user:password@host/database.',
    )
  const { port = https ? HTTPS_PORT : PORT, host = https ? EVERYWHERE : LOOPBACK } = options
  if (dir !== undefined && existsSync(dir) && !statSync(dir).isDirectory())
    throw new UsageError(`--dir must be a folder, got ${dir}, which is a file.`)
  // Before anything is made.
  await checkPort(port, host, '--port')
  if (https) await checkPort(options.httpPort, host, '--http-port')
  const storage = await sharedStorage(options)
  await calmThreads()
  let next: Restart | undefined = { port, reason: undefined }
  while (next !== undefined) next = await serveOnce(options, { ...next, host, storage }, terminal)
}

interface Restart {
  readonly port: number
  /** Why the server starts again; undefined: it has not run yet. */
  readonly reason: RestartReason | undefined
}

interface ServedDatabase extends Restart {
  readonly host: string
  readonly storage: DatabaseStorage | undefined
}

const SAID: Readonly<Record<RestartReason, string>> = {
  backup: 'A backup was restored: the server starts again.',
  restored: 'PostgreSQL was put back to an earlier state: the server starts again.',
  newer: 'A newer version serves this database: this server waits until it is updated.',
}

/** Serves once, and says where to start again. Undefined: the operator has ended the server. */
async function serveOnce(
  options: ServeArguments,
  { port, host, storage, reason }: ServedDatabase,
  terminal: Terminal,
): Promise<Restart | undefined> {
  const { stdout, stderr, signal } = terminal
  const { dir, superuser, couchAdmin, durability, logLevel, trustProxy, quota } = options
  const password = process.env['PANNIER_PASSWORD']
  const restart = new AbortController()
  const make = (): Promise<PannierServer> =>
    createServer({
      ...(dir !== undefined && { dir }),
      ...(storage !== undefined && { storage: { storage, isRestored: reason === 'restored' } }),
      onRestart: (why) => restart.abort(why),
      durability,
      http: httpOf(options),
      app: {
        ...hooksOf(options),
        ...migrationsOf(options),
        ...pocketBaseOf(options),
        ...publicOf(options),
        ...givenSettingsKey(options.encryptionKeyEnv),
      },
      couch: couchOf(options),
      auth: { signUp: options.signUp },
      logger: logLevel === 'silent' ? false : createLogger({ level: logLevel }, stderr)!,
      ...(password !== undefined && { encryption: { password } }),
      ...(superuser !== undefined && { superuser }),
      ...(couchAdmin !== undefined && { couchAdmin }),
      ...(quota !== undefined && { limits: { databaseBytesMax: quota } }),
    })
  const server = await whenUpdated(make, terminal).catch(explain)
  if (server === undefined) return undefined
  const letGo = catchUncaught(server, process)
  try {
    const url = await server.listen({ port, host }).catch((error: unknown) => cannotListen(host, port, '--port', error))
    if (httpsOf(options) === undefined && !isLoopback(host) && trustProxy.length === 0)
      printLine(
        stderr,
        'Passwords and data are not encrypted on their way: use --https, or put a proxy that speaks TLS before this server.',
      )
    printLine(stdout, `Pannier listens at ${url}`)
    const secret = await server.backend.accounts.firstSuperuser.offer()
    if (secret !== undefined) {
      const other = couchAdmin === undefined ? '' : `${couchAdmin.split(':')[0]} serves CouchDB's API alone. `
      printLine(
        stderr,
        `${other}Make the first superuser, the admin of the application, within 30 minutes: ${url}${SETUP_PATH}${secret}`,
      )
      if (storage === undefined)
        printLine(stderr, `(or stop the server, and run: pannier superuser upsert EMAIL PASSWORD --dir ${dir})`)
    }
    const end = AbortSignal.any([signal, restart.signal])
    if (!end.aborted) await once(end, 'abort')
    if (!signal.aborted) {
      const why = restart.signal.reason as RestartReason
      printLine(stderr, SAID[why])
      return { port: (server.http.server.address() as AddressInfo).port, reason: why }
    }
    printLine(stderr, 'Finishing what runs. Once more to stop at once.')
    return undefined
  } finally {
    await server.close()
    letGo()
  }
}

/** @throws UsageError */
function httpOf(options: ServeArguments): HttpOptions {
  const { allowHost, cors, secureCookies, trustProxy } = options
  const proxies = trustProxy.length > 0 && { trustProxy }
  return { ...httpsOf(options), ...proxies, allowedHosts: allowHost, corsOrigins: cors, secureCookies }
}

function couchOf({ history, replicateWith, fauxton }: ServeArguments): CouchOptions {
  return { history, replicator: { hosts: replicateWith }, ...(fauxton !== undefined && { fauxton }) }
}

function publicOf({ public: dir, indexFallback }: ServeArguments): Pick<ApplicationOptions, 'public'> {
  return dir === undefined ? {} : { public: { dir, indexFallback } }
}

function hooksOf({ dir, hooks, hooksWatch }: ServeArguments): Pick<ApplicationOptions, 'hooks'> {
  const folder = hooks ?? (dir === undefined ? undefined : join(dir, 'hooks'))
  return folder === undefined ? {} : { hooks: { dir: folder, watch: hooksWatch } }
}

/** The folder of a PocketBase project around the data folder, if there is one. */
function pocketBaseOf({ dir }: ServeArguments): Pick<ApplicationOptions, 'pocketbase'> {
  const project = dir === undefined ? undefined : pocketBaseProject(dir)
  return project === undefined ? {} : { pocketbase: { dir: project } }
}

/** @throws UsageError */
function migrationsOf({ dir, migrations, automigrate }: ServeArguments): Pick<ApplicationOptions, 'migrations'> {
  const folder = migrations ?? (dir === undefined ? undefined : migrationsFolder({ dir }))
  if (folder !== undefined) return { migrations: { dir: folder, automigrate } }
  if (automigrate) throw new UsageError('--automigrate writes files: say where by --migrations or --dir.')
  return {}
}

/** @throws UsageError */
function httpsOf({
  https,
  acmeEmail,
  acmeDirectory,
  httpPort,
  tlsCert,
  tlsKey,
}: ServeArguments): Pick<HttpOptions, 'https'> | undefined {
  const acme = { ...(acmeEmail && { email: acmeEmail }), ...(acmeDirectory && { directoryUrl: acmeDirectory }) }
  if (https !== undefined) {
    if (tlsCert !== undefined || tlsKey !== undefined)
      throw new UsageError('--https gets a certificate by itself. Leave --tls-cert and --tls-key out, or --https.')
    return { https: { names: https, httpPort, ...acme } }
  }
  if (Object.keys(acme).length > 0) throw new UsageError('--acme-email and --acme-directory need --https.')
  if (tlsCert === undefined && tlsKey === undefined) return undefined
  if (tlsCert === undefined || tlsKey === undefined) throw new UsageError('--tls-cert and --tls-key need each other.')
  return { https: { cert: tlsCert, key: tlsKey } }
}

async function checkPort(port: number, host: string, option: string): Promise<void> {
  const probe = createProbe()
  try {
    probe.listen(port, host)
    await once(probe, 'listening')
  } catch (error) {
    cannotListen(host, port, option, error)
  } finally {
    probe.close()
  }
}

function cannotListen(host: string, port: number, option: string, error: unknown): never {
  const { code, message } = error as NodeJS.ErrnoException
  const why = code === 'EADDRINUSE' ? `another program listens there. ${option} chooses another port.` : message
  throw new FailedError(`Can't listen at ${host}:${port}: ${why}`, { cause: error })
}

function explain(error: unknown): never {
  if (error instanceof TypeError || error instanceof HookFileError)
    throw new UsageError(error.message, { cause: error })
  throw error instanceof ServiceError ? new UsageError(explained(error.message, error.data), { cause: error }) : error
}

function readPort(text: string): number {
  const port = Number(text)
  if (!/^\d+$/.test(text) || port > 65_535) throw new InvalidArgumentError('A port is a number from 0 to 65535.')
  return port
}

/** Returns bytes. */
function readQuota(text: string): number {
  const mebibytes = Number(text)
  if (!/^\d+$/.test(text) || mebibytes < 1 || mebibytes > QUOTA_MEBIBYTES_MAX)
    throw new InvalidArgumentError(`A quota is a whole number of MiB from 1 to ${QUOTA_MEBIBYTES_MAX}.`)
  return mebibytes * 1024 * 1024
}
