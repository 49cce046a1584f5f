/** The names of PocketBase that are not here, with another way. The server does not start with a file that uses one of them. */

type Names = Readonly<Record<string, string>>

const HOOKS = 'Write it as a hook of Pannier, in TypeScript: docs/guide/hooks.md.'
const LOGS = 'The logs are in a database of their own. Read them by GET /api/logs.'
const FILE = 'Collections are documents, and no tables of a file.'
const BY_SQL = 'Read the collections by $app.findAllCollections(), or the rows by $app.db().'
const SESSIONS = 'The server keeps sessions and codes itself. A superuser sees them by the REST API.'
const TOKENS = 'Use record.newAuthToken(). Tokens of mails are made with their mails.'
const CONTEXT = 'A call that takes too long is ended by the server.'
const MIGRATIONS = 'Use `pannier migrate up`.'

/** Functions of `$app` and of transactions. */
const OF_APP: Names = {
  newFilesystem: 'Files are in the database. Set them by $filesystem.fileFromBytes(), and read them by their URL.',
  newBackupsFilesystem: 'Backups are made by `pannier backup create`.',
  createBackup: 'Use `pannier backup create`.',
  restoreBackup: 'Use `pannier backup restore`.',
  restart: 'Restart the server by its supervisor.',
  dataDir: 'Records are in one database file. Name a folder of your own.',
  encryptionEnv: 'The key of the settings is an option of the server.',
  rootCmd: 'The command line is `pannier`. Write a script that uses the JS SDK.',
  bootstrap: 'The server is there before a file is loaded.',
  resetBootstrapState: 'Restart the server by its supervisor.',
  isBootstrapped: 'The server is there before a file is loaded.',
  reloadCachedCollections: 'Collections are always as they are stored. Leave the call out.',
  reloadSettings: 'Settings are always as they are stored. Leave the call out.',
  unsafeWithoutHooks: 'Writes of SQL by $app.db() run no hooks.',
  txInfo: 'Do the work after $app.runInTransaction() has returned.',
  runSystemMigrations: MIGRATIONS,
  runAppMigrations: MIGRATIONS,
  runAllMigrations: MIGRATIONS,
  onServe: 'It changes the router of Go. Use routerAdd and routerUse.',
  auxDB: LOGS,
  auxConcurrentDB: LOGS,
  auxNonconcurrentDB: LOGS,
  auxHasTable: LOGS,
  auxVacuum: LOGS,
  auxModelQuery: LOGS,
  auxDelete: LOGS,
  auxDeleteWithContext: LOGS,
  auxSave: LOGS,
  auxSaveWithContext: LOGS,
  auxSaveNoValidate: LOGS,
  auxSaveNoValidateWithContext: LOGS,
  auxRunInTransaction: LOGS,
  runInAuxTransaction: LOGS,
  logQuery: LOGS,
  findLogById: LOGS,
  logsStats: LOGS,
  deleteOldLogs: LOGS,
  tableInfo: BY_SQL,
  tableIndexes: BY_SQL,
  modelQuery: BY_SQL,
  collectionQuery: BY_SQL,
  deleteTable: FILE,
  deleteView: FILE,
  saveView: FILE,
  createViewFields: FILE,
  dryRunView: FILE,
  vacuum: 'Use `pannier compact`.',
  syncRecordTableSchema: FILE,
  findRecordByViewFile: FILE,
  deleteWithContext: CONTEXT,
  saveWithContext: CONTEXT,
  saveNoValidateWithContext: CONTEXT,
  validateWithContext: CONTEXT,
  validate: 'Use $app.save(), which validates.',
  findCollectionReferences: BY_SQL,
  findCachedCollectionReferences: BY_SQL,
  findAllExternalAuthsByRecord: SESSIONS,
  findAllExternalAuthsByCollection: SESSIONS,
  findFirstExternalAuthByExpr: SESSIONS,
  deleteAllExternalAuthsByRecord: SESSIONS,
  findAllMFAsByRecord: SESSIONS,
  findAllMFAsByCollection: SESSIONS,
  findMFAById: SESSIONS,
  deleteAllMFAsByRecord: SESSIONS,
  deleteExpiredMFAs: SESSIONS,
  findAllOTPsByRecord: SESSIONS,
  findAllOTPsByCollection: SESSIONS,
  findOTPById: SESSIONS,
  deleteAllOTPsByRecord: SESSIONS,
  deleteExpiredOTPs: SESSIONS,
  findAllAuthOriginsByRecord: SESSIONS,
  findAllAuthOriginsByCollection: SESSIONS,
  findAuthOriginById: SESSIONS,
  findAuthOriginByRecordAndFingerprint: SESSIONS,
  deleteAllAuthOriginsByRecord: SESSIONS,
}

/** Methods of records and collections. */
const OF_MODELS: Names = {
  newStaticAuthToken: TOKENS,
  newVerificationToken: TOKENS,
  newPasswordResetToken: TOKENS,
  newEmailChangeToken: TOKENS,
  newFileToken: TOKENS,
  dbExport: 'Use record.fieldsData().',
  replaceModifiers: 'Use record.set() with the modifier, and read the value.',
  ignoreUnchangedFields: 'The server writes the fields that have changed. Leave the call out.',
  markAsNew: 'Make a new record by new Record(collection).',
  markAsNotNew: 'Find the record, and change it.',
  lastSavedPK: 'Use record.original().id.',
  integrityChecks: 'The server checks each change.',
  hookTags: 'Use record.collection().',
  postScan: 'A record that was found has its values.',
  marshalJSON: 'Use JSON.stringify(record).',
  unmarshalJSON: 'Use record.load().',
  getUnsavedFiles: 'Read uploads by e.findUploadedFiles().',
  getUploadedFiles: 'Read uploads by e.findUploadedFiles().',
}

/** Other names, as they are written. */
const NAMES: Names = {
  onServe: 'It changes the router of Go. Use onBootstrap, routerAdd and routerUse.',
  AppleClientSecretCreateForm: 'Make the secret by `pannier`, or by POST /api/settings/apple/generate-client-secret.',
  TestEmailSendForm: 'Use POST /api/settings/test/email.',
  TestS3FilesystemForm: 'Use POST /api/settings/test/s3.',
  '$mails.sendRecordChangeEmail': 'The account asks for it by POST /api/collections/NAME/request-email-change.',
  '$mails.sendRecordOTP': 'The account asks for it by POST /api/collections/NAME/request-otp.',
  '$mails.sendRecordAuthAlert': 'The server sends it. Write a mail of your own by $app.newMailClient().',
  '$security.randomStringByRegex':
    'Give a text field an autogeneratePattern, or use $security.randomStringWithAlphabet.',
  '$filesystem.s3': 'Use a client of S3 by $http.send, or an npm package in a hook of Pannier.',
  '$filesystem.local': 'Use $os.readFile and $os.writeFile.',
  '$filepath.walk': 'Use $os.readDir().',
  '$filepath.walkDir': 'Use $os.readDir().',
  '$os.dirFS': 'Give $apis.static() the path of the folder.',
  '$os.openRoot': 'Use $os.readFile and $os.writeFile.',
  '$os.openInRoot': 'Use $os.readFile and $os.writeFile.',
}

const READER = 'Answer with e.blob().'

/** Members of events: of those whose name fits. */
const OF_EVENTS: readonly (readonly [events: RegExp, members: Names])[] = [
  [
    /Request$|^route$/,
    { xml: READER, stream: READER, fileFS: READER, flush: 'An answer is sent when the handler ends.' },
  ],
  [/^onTerminate$/, { isRestart: 'A server that starts again runs onBootstrap.' }],
  [/^onBackup/, { exclude: 'Records and files are in one database.' }],
  [/^onBackup|^on(?:Model|Record|Collection)[A-Z]\w*(?<!Request|Enrich)$/, { context: CONTEXT }],
  [/^onMailer/, { mailer: 'Change e.message. Without e.next() the mail is not sent: send it by $http.send().' }],
  [/^onCollectionsListRequest$/, { result: 'Read e.collections. A handler refuses, and changes nothing.' }],
  [
    /^onRealtimeConnectRequest$/,
    {
      client: 'The client gets its id with its first message. Use onRealtimeSubscribeRequest.',
      idleTimeout: 'The server decides how long a connection lasts.',
      maxTimeout: 'The server decides how long a connection lasts.',
    },
  ],
  [/^onFileTokenRequest$/, { token: 'The token is made after the handlers.' }],
  [/^onFileDownloadRequest$/, { thumbError: 'A thumb that can not be made is answered with the file.' }],
  [/^onRecordAuthRequest$/, { meta: 'Read e.oAuth2User in onRecordAuthWithOAuth2Request.' }],
  [/^onRecordAuthWithOAuth2Request$/, { providerClient: 'Use $http.send() with e.oAuth2User.accessToken.' }],
  [
    /^onRecordRequestOTPRequest$/,
    { password: 'The password is made after the handlers. e.meta of onMailerRecordOTPSend has it.' },
  ],
  [/^onRecordAuthWithOTPRequest$/, { otp: 'Read the id by e.requestInfo().body.otpId.' }],
]

/** The message about an unknown name. */
export function refused(name: string, instead: string = HOOKS): string {
  return `${name} is not there on Pannier. ${instead}`
}

export function refusedOfApp(name: string): string {
  return refused(`$app.${name}()`, OF_APP[name])
}

/** Methods of records and collections that are not here, by name. */
export const ABSENT_OF_MODELS: ReadonlyMap<string, string> = new Map(Object.entries(OF_MODELS))

/** Members that an event has in PocketBase and not here, by name. */
export function absentOf(event: string): ReadonlyMap<string, string> {
  const names = OF_EVENTS.flatMap(([events, members]) => (events.test(event) ? Object.entries(members) : []))
  return new Map(names)
}

interface Refusal {
  readonly pattern: RegExp
  readonly message: string
}

function escaped(name: string): string {
  return name.replaceAll('$', '\\$').replace('.', '\\s*\\.\\s*')
}

const REFUSALS: readonly Refusal[] = [
  ...Object.entries(NAMES).map(([name, instead]) => ({
    message: refused(`${name}()`, instead),
    pattern: new RegExp(`${name.startsWith('$') ? '' : '(?<![.\\w$])'}${escaped(name)}\\s*\\(`),
  })),
  // `$app`, `e.app`, `txApp`: names of applications end alike.
  ...Object.keys(OF_APP).map((name) => ({
    message: refusedOfApp(name),
    pattern: new RegExp(`(?:\\$|\\b\\w*)[aA]pp\\s*\\.\\s*${name}\\s*\\(`),
  })),
  ...[...ABSENT_OF_MODELS].map(([name, instead]) => ({
    message: refused(`${name}()`, instead),
    pattern: new RegExp(`\\.\\s*${name}\\s*\\(`),
  })),
]

interface Found {
  readonly line: number
  readonly message: string
}

/** The first use of a name that is refused, with its line. Comments do not count. */
export function refusedIn(text: string): Found | undefined {
  return firstOf(text, REFUSALS)
}

/** The first member of its event that a handler uses and that is not here. */
export function absentIn(handler: string, event: string): Found | undefined {
  const [, name] = /^(?:async\s+)?(?:function\b[^(]*)?\(?\s*([\w$]+)/.exec(handler) ?? []
  if (name === undefined) return undefined
  const members = [...absentOf(event)].map(([member, instead]) => ({
    message: refused(`e.${member} of ${event}`, instead),
    pattern: new RegExp(`(?<![.\\w$])${escaped(name)}\\s*\\.\\s*${member}\\b`),
  }))
  return firstOf(handler, members)
}

function firstOf(text: string, refusals: readonly Refusal[]): Found | undefined {
  for (const [at, line] of withoutComments(text).split('\n').entries())
    for (const { pattern, message } of refusals) if (pattern.test(line)) return { line: at + 1, message }
  return undefined
}

/** The text without comments. Lines stay where they are. */
function withoutComments(text: string): string {
  return text.replace(/\/\*[^]*?\*\//g, (comment) => comment.replace(/[^\n]/g, ' ')).replace(/(^|\s)\/\/.*$/gm, '$1')
}
