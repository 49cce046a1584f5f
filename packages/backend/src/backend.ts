/** Puts the parts of an application backend together. */
import { open } from 'pannier'
import type { Database } from 'pannier'
import { checkOptions, environmentOf, tellListener, type OptionNames } from 'pannier/internal'
import { memory } from 'pannier/memory'
import type { Environment } from 'pannier/types'
import { Access } from './access/access.ts'
import { DataKey } from './access/data-key.ts'
import { ShownRevisions } from './access/shown-revisions.ts'
import type { AccountsHost } from './accounts/accounts-host.ts'
import type { PublicFetch } from './accounts/oauth2/oauth2-host.ts'
import { OAuth2Logins } from './accounts/oauth2/oauth2-logins.ts'
import { FileTokens } from './accounts/file-tokens.ts'
import { LoginLimiter, type LoginLimits } from './accounts/login-limiter.ts'
import { Passwords, type HashQueueLimits } from './accounts/passwords.ts'
import { RecordAccounts } from './accounts/record-accounts.ts'
import { ApiTokens } from './accounts/api-tokens.ts'
import { Sessions } from './accounts/sessions.ts'
import { TokenPrincipals } from './accounts/token-principals.ts'
import { Backups, type BackupHost } from './backups/backups.ts'
import { Definitions } from './definitions/definitions.ts'
import { ViewReader } from './definitions/views/view-reader.ts'
import { aloneIn, type Fleet } from './fleet/fleet.ts'
import type { AppCollections } from './gateway/databases.ts'
import { GuardChain } from './gateway/guard-chain.ts'
import type { WriteGuard } from './gateway/guards.ts'
import { MigrationFolder } from './migrations/migration-folder.ts'
import { Realtime } from './events/realtime.ts'
import type { HookApp } from './hooks/hook-app.ts'
import type { HookLog } from './hooks/hook-log.ts'
import { Hooks } from './hooks/hooks.ts'
import { appCollections } from './records/app-collections.ts'
import { documentWrites, type DocumentWrites } from './records/document-writes.ts'
import { ExternalAccounts } from './records/external-accounts.ts'
import { recordApp } from './records/record-app.ts'
import { errorFacts, LOG_LEVELS, type LogEntry, type LogWriter } from './gateway/log-entry.ts'
import { Quota } from './gateway/quota.ts'
import { LogReads } from './logs/log-reads.ts'
import { Logs } from './logs/logs.ts'
import { Imports } from './imports/imports.ts'
import { Files } from './files/files.ts'
import { RecordFiles } from './files/record-files.ts'
import { mailHooks } from './mails/mail-hooks.ts'
import { Mails } from './mails/mails.ts'
import { alertSuperusers, type AlertParts } from './mails/superuser-alert.ts'
import { recordEnricher } from './records/read/enrich-records.ts'
import { HookedReads } from './records/hooked-reads.ts'
import { RecordReads } from './records/record-reads.ts'
import { RecordWrites } from './records/record-writes.ts'
import { RulePreviews } from './records/rule-preview.ts'
import { Judge } from './records/write/judge.ts'
import { WriteViews } from './records/write/write-views.ts'
import { Schedules } from './schedules/schedules.ts'
import { hookServices } from './service-hooks.ts'
import { RateLimiter } from './settings/rate-limiter.ts'
import { Settings } from './settings/settings.ts'
import { inProcesses } from './model/members.ts'
import { ReadModel, type ModelFigures, type ModelHome, type ReadyView } from './model/read-model.ts'
import { Reports } from './sql/reports.ts'
import { SqlConsole } from './sql/sql-console.ts'
import { DatabaseCheck } from './upkeep/database-check.ts'
import { noteRules } from './sync/rules/note-rules.ts'
import { clockBehindMs } from './gateway/seen-clock.ts'
import { AccountHoldings } from './sync/feed/account-holdings.ts'
import { liveSync } from './sync/signals/live-sync.ts'
import { Sync } from './sync/sync.ts'

/** The options of `openBackend`. */
export interface BackendOptions {
  /** The fleet of servers that serve the same database. It is alone when left out. The backend does not close it. */
  readonly fleet?: Fleet
  /** How much memory and time hashing passwords may take. */
  readonly hashLimits?: Partial<HashQueueLimits>
  /** How many failed logins are allowed, and for how long. They are not counted when left out. */
  readonly loginLimits?: Partial<LoginLimits>
  /** Gets what is at a public address, and refuses all others. No pictures of users are fetched when left out. */
  readonly fetchPublic?: PublicFetch
  /** The environment for tests: clock, timers and chance. Those of the database when left out. */
  readonly environment?: Environment
  /** A replica that was away for longer than this begins again, in milliseconds; 30 days by default. */
  readonly syncHorizonMs?: number
  /** False: mails stay in the database, for a later run. */
  readonly sendsMails?: boolean
  /** Where logs are kept; in memory when left out. It stays open when the backend is closed. */
  readonly logs?: Database
  /** Where backups are made and restored. Nowhere when left out. */
  readonly backups?: BackupHost
  /** Encrypts the settings: 32 characters or more that nobody can guess. They are stored as they are when it is left out. */
  readonly settingsKey?: string
  /** A folder that gets a migration file for each change of a definition. None when left out. */
  readonly automigrate?: string
  /** Are asked about every write of a record, by whatever door it comes. */
  readonly guards?: readonly WriteGuard[]
  /** The limits of each collection. */
  readonly quota?: Quota
  /** The read model for views and SQL: a file of plain text in the temporary folder, or the memory of one process, by default. */
  readonly readModel?: 'file' | 'memory'
  /** @internal The home of the read model, for tests without processes. */
  readonly modelHome?: ModelHome
  /** Shows an operator what is logged, except for requests. */
  readonly print?: (entry: LogEntry) => void
}

const OPTIONS: OptionNames<BackendOptions> = {
  fleet: true,
  hashLimits: true,
  loginLimits: true,
  fetchPublic: true,
  environment: true,
  syncHorizonMs: true,
  sendsMails: true,
  logs: true,
  backups: true,
  settingsKey: true,
  automigrate: true,
  guards: true,
  quota: true,
  readModel: true,
  modelHome: true,
  print: true,
}

/** Records, for actors. */
export type Records = Pick<RecordReads, 'list' | 'listText' | 'view' | 'show' | 'explain'> &
  Pick<RecordWrites, 'assertOpen' | 'create' | 'update' | 'delete' | 'batch' | 'import'>

/** An application backend on a database. Get it by `openBackend`. */
export interface Backend {
  /** The collections of the application. */
  readonly definitions: Definitions
  /** The records in them. */
  readonly records: Records
  /** Writes of records by doors whose requests bring whole documents. A gateway takes these parts. */
  readonly documentWrites: DocumentWrites
  /** Collections that CouchDB's door serves as databases. */
  readonly collections: AppCollections
  /** Logins and tokens. */
  readonly accounts: RecordAccounts
  /** Logins by other services. */
  readonly oauth2: OAuth2Logins
  /** The settings of superusers. */
  readonly settings: Settings
  /** The files that file fields name. */
  readonly files: Files
  /** Messages about changes, for clients that subscribe. */
  readonly realtime: Realtime
  /** Functions of the operator that run around all this. */
  readonly hooks: Hooks
  /** Writes a mail to each superuser. Resolves when the mails are stored. */
  alert(subject: string, details: string): Promise<void>
  /** The application as hooks see it. */
  readonly app: HookApp
  /** The limiter of rates: counts requests, as the settings want it. */
  readonly rateLimits: RateLimiter
  /** The writer of logs. */
  readonly logs: Logs
  /** The reader of logs, for superusers. */
  readonly logReads: LogReads
  /** Jobs that run at times of the day. */
  readonly schedules: Schedules
  /** All databases in one file each. */
  readonly backups: Backups
  /** Takes over the records of a PocketBase. */
  readonly imports: Imports
  /** Statements of superusers. */
  readonly sql: SqlConsole
  /** Reports: SELECTs that superusers keep, and others may run. */
  readonly reports: Reports
  /** How large the copy of the records is that views and SQL read, and how far behind. */
  modelFigures(): ModelFigures
  /** Whether the database is sound. */
  readonly check: DatabaseCheck
  /** Replicas that have what the rules let their accounts see. */
  readonly sync: Sync
  /** Previews of rules before they are stored. */
  readonly rulePreviews: RulePreviews
  /** The environment: clock, timers and chance. */
  readonly environment: Environment
  /** Closes it: stops what runs. The database stays open. */
  close(): Promise<void>
}

/** The log of a failed listener; the change itself is stored. */
const LISTENER_FAILED = {
  level: LOG_LEVELS.error,
  message: 'What follows a change of definitions or settings has failed.',
}
/** For a program that nobody logs in to from elsewhere. */
const UNLIMITED = { sameMax: Infinity, addressMax: Infinity, nameMax: Infinity }
const BACKUP_FAILED = 'A scheduled backup could not be made'

/** Makes the system collections of a new database. The database stays open when the backend is closed. */
export async function openBackend(database: Database, options: BackendOptions = {}): Promise<Backend> {
  checkOptions('openBackend()', options, OPTIONS)
  const { logging, ...parts } = await openParts(database, options)
  const { environment, definitions, settings, logs, fleet } = parts
  const { fileTokens, ...tokens } = loginParts(parts, options)
  const operations = await openOperations({ ...parts, fileTokens }, logging.database, options)
  const access = new Access(definitions, new ShownRevisions(parts.key), environment)
  const accountHoldings = new AccountHoldings(definitions)
  const [recordFiles, hooks] = [await RecordFiles.open(parts), new Hooks({ environment, log: hookLog(logs) })]
  const app: HookApp = recordApp(() => ({ ...parts, hooks, reads, writes, services }))
  const enrich = recordEnricher({ environment, hooks, app, definitions })
  const reads: RecordReads = new RecordReads({ ...parts, access, enrich })
  const makeSignals = liveSync({ ...parts, accountHoldings })
  const realtime = new Realtime({ ...parts, ...tokens, access, reads, makeSignals })
  const gate = { guards: new GuardChain(options.guards ?? [], logs), quota: options.quota ?? new Quota() }
  const writerParts = { ...parts, ...tokens, gate, access, files: recordFiles, hooks, app }
  const writes: RecordWrites = new RecordWrites({ ...writerParts, reads })
  const statements = statementParts({ ...parts, access, reads, writes })
  const mails = new Mails({ ...parts, around: mailHooks({ hooks, app, definitions }) })
  const accountsHost: AccountsHost = {
    ...parts,
    ...tokens,
    mails,
    hooks,
    app,
    admits: (actor, definition, rule, record) => reads.admits(actor, { ...definition, authRule: rule }, 'auth', record),
    write: (definition, record, input) => writes.change(definition, record, input),
    sessionEnded: (account) => realtime.sessionEnded(account),
  }
  const accounts = new RecordAccounts(accountsHost)
  const services = { ...accountsHost, mails, realtime, accounts }
  const oauth2 = new OAuth2Logins({
    ...accountsHost,
    ...externalLogins(writerParts),
    deliver: (clientId, message, ip) => realtime.deliverAnywhere(clientId, '@oauth2', message, { ip, once: true }),
    fetchPublic: options.fetchPublic,
  })
  if (options.sendsMails !== false)
    await mails.start((otpId, outcome, to) => accounts.oneTimePasswords.mailed(otpId, outcome, to))
  const sync = new Sync({ ...parts, access, reads, writes, accountHoldings, horizonMs: options.syncHorizonMs })
  const { schedules, backups, check } = operations
  const alert = addJobs({ schedules, accounts, backups, sync }, { ...parts, mails })
  const terminating = hookServices({ ...parts, hooks, app, realtime, backups })
  const stopping = [terminating, check, parts.model, statements.sql, schedules, backups, realtime, oauth2, mails, sync]
  return {
    definitions,
    records: recordsOf(reads, writes, new HookedReads({ ...parts, reads, hooks, app })),
    documentWrites: documentWrites(writerParts),
    collections: appCollections({ definitions, access, hooks }),
    accounts,
    oauth2,
    settings,
    files: new Files({ ...parts, files: recordFiles, tokens: fileTokens, reads }),
    realtime,
    hooks,
    alert,
    app,
    rateLimits: new RateLimiter(settings, environment, fleet),
    logs,
    logReads: new LogReads(logging.database, environment),
    ...operations,
    imports: new Imports({ ...writerParts, judge: new Judge(writerParts) }),
    ...statements,
    sync,
    rulePreviews: new RulePreviews({ ...parts, access, reads }),
    environment,
    close: () => closeInOrder([...stopping, tokens.principals, recordFiles, logging, settings, definitions]),
  }
}

/** Opens the parts that other parts need. */
async function openParts(database: Database, options: BackendOptions) {
  const { environment = environmentOf(database) } = options
  const { fleet = aloneIn(environment) } = options
  const journal = journalOf(options, () => environment.wallClock())
  // Logs read the settings, so they come last.
  const late: { log?: LogWriter } = {}
  const report = (error: unknown): void => late.log?.write({ ...LISTENER_FAILED, data: errorFacts(error) })
  const { readModel = 'memory', modelHome = { start: inProcesses(environment), isFile: readModel === 'file' } } =
    options
  const model = new ReadModel({ database, environment, home: modelHome })
  const definitions = await Definitions.open(database, { journal, fleet, environment, report, queries: model })
  model.follow(definitions)
  const reading = { viewReader: new ViewReader<ReadyView>(model, environment), views: new WriteViews(model) }
  const settings = await Settings.open(database, { key: options.settingsKey, fleet, chance: environment, report })
  const { logs, ...logging } = await openLogs({ settings, environment }, options)
  late.log = logs
  const key = await DataKey.open(database, environment)
  return { database, environment, fleet, definitions, journal, model, ...reading, settings, logs, logging, key }
}

async function closeInOrder(parts: readonly { close(): unknown }[]): Promise<void> {
  for (const part of parts) await part.close()
}

function hookLog(logs: Logs): HookLog {
  return (message, { error, ...place }) =>
    logs.write({ level: LOG_LEVELS.error, message, data: { ...place, ...errorFacts(error) } })
}

/** Accounts by what other services say of them. */
function externalLogins(
  parts: ConstructorParameters<typeof ExternalAccounts>[0],
): Pick<ConstructorParameters<typeof OAuth2Logins>[0], 'find' | 'enter'> {
  return {
    find: (login) => new ExternalAccounts(parts).find(login),
    enter: (login) => new ExternalAccounts(parts).enter(login),
  }
}

/** The parts that compare passwords, and find the principal of a token. */
function loginParts(
  parts: TokenParts,
  { hashLimits, loginLimits = UNLIMITED }: BackendOptions,
): Pick<AccountsHost, 'passwords' | 'limiter' | 'sessions' | 'apiTokens' | 'principals'> & {
  readonly fileTokens: FileTokens
} {
  const passwords = new Passwords(parts.environment, hashLimits)
  const limiter = new LoginLimiter(loginLimits, parts.environment, parts.fleet)
  const sessions = new Sessions(parts)
  const apiTokens = new ApiTokens(parts)
  const principals = new TokenPrincipals({ ...parts, sessions, apiTokens })
  return { passwords, limiter, sessions, apiTokens, principals, fileTokens: new FileTokens({ ...parts, principals }) }
}

type TokenParts = Pick<AccountsHost, 'database' | 'fleet' | 'definitions' | 'settings' | 'logs' | 'environment'>

/** The parts that run on the read model. */
function statementParts(
  parts: ConstructorParameters<typeof SqlConsole>[0] &
    ConstructorParameters<typeof Reports>[0] & { readonly model: ReadModel },
): Pick<Backend, 'sql' | 'reports' | 'modelFigures'> {
  return { sql: new SqlConsole(parts), reports: new Reports(parts), modelFigures: () => parts.model.figures() }
}

/** Writes changes of definitions down, if the operator wants it. */
function journalOf({ automigrate }: BackendOptions, now: () => number): MigrationFolder | undefined {
  return automigrate === undefined ? undefined : new MigrationFolder(automigrate, now)
}

/** Where is logged what happens. */
interface Logging {
  readonly logs: Logs
  readonly database: Database
  /** Stores the logs that wait. Close what writes some before. */
  close(): Promise<void>
}

async function openLogs(
  parts: { readonly settings: Settings; readonly environment: Environment },
  { logs: given, print = () => {} }: BackendOptions,
): Promise<Logging> {
  const database = given ?? (await open('logs', { storage: memory(), environment: parts.environment }))
  const logs = new Logs({ ...parts, database, print: (entry) => tellListener(() => print(entry)) })
  const close = async (): Promise<void> => {
    await logs.close()
    if (given === undefined) await database.close()
  }
  return { logs, database, close }
}

/** The parts that keep an application running. */
async function openOperations(
  {
    database,
    logs,
    model,
    ...parts
  }: TokenParts & { readonly logs: Logs; readonly fileTokens: FileTokens; readonly model: ReadModel },
  logDatabase: Database,
  { backups: host }: BackendOptions,
): Promise<Pick<Backend, 'schedules' | 'backups' | 'check'>> {
  noteRules({ definitions: parts.definitions, logs })
  const behindMs = await clockBehindMs(database, parts.environment)
  if (behindMs > 0) {
    const message = `The clock of this machine is ${Math.round(behindMs / 60_000)} minutes behind what it has shown before. Set it right: tokens, dates and jobs go by it.`
    logs.write({ level: LOG_LEVELS.error, message, data: { behindMs } })
  }
  const schedules = new Schedules({ ...parts, logs })
  const databases = { 'data.db': database, 'auxiliary.db': logDatabase }
  const backups = await Backups.open({ ...parts, databases, schedules, logs, host })
  schedules.add('__pbDBOptimize__', '0 0 * * *', () => Promise.all([database.flush(), logDatabase.flush()]))
  schedules.add('__pbLogsCleanup__', '0 */6 * * *', () => logs.removeOld())
  return { schedules, backups, check: new DatabaseCheck({ database, model, now: () => parts.environment.wallClock() }) }
}

/** Adds jobs by the clock. Gives the function that reports their failures to superusers. */
function addJobs({ schedules, accounts, backups, sync }: Jobs, alertParts: AlertParts): Backend['alert'] {
  schedules.add('__pbOTPCleanup__', '0 * * * *', () => accounts.oneTimePasswords.deleteExpired())
  schedules.add('__pbMFACleanup__', '0 * * * *', () => Promise.all([accounts.deleteExpired(), sync.removeOld()]))
  const alert: Backend['alert'] = (subject, details) => alertSuperusers(alertParts, subject, details)
  backups.onFailure = (error) => alert(BACKUP_FAILED, `${BACKUP_FAILED}.\n${error}`)
  return alert
}

type Jobs = Pick<Backend, 'schedules' | 'accounts' | 'backups' | 'sync'>

function recordsOf(reads: RecordReads, writes: RecordWrites, hooked: HookedReads): Records {
  return {
    list: (actor, name, options) => hooked.list(actor, name, options),
    listText: (actor, name, options) => hooked.listText(actor, name, options),
    view: (actor, name, id, options) => hooked.view(actor, name, id, options),
    show: (actor, definition, documents, options) => reads.show(actor, definition, documents, options),
    explain: (actor, name, options) => reads.explain(actor, name, options),
    assertOpen: (actor, name, action) => writes.assertOpen(actor, name, action),
    create: (actor, name, input, options) => writes.create(actor, name, input, options),
    update: (actor, name, id, input, options) => writes.update(actor, name, id, input, options),
    delete: (actor, name, id, options) => writes.delete(actor, name, id, options),
    batch: (principal, operations, options) => writes.batch(principal, operations, options),
    import: (actor, name, records, options) => writes.import(actor, name, records, options),
  }
}
