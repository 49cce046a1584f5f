/** The events of PocketBase with their members, handlers that note the kind of each, and requests that start them. */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { ask } from '../../../tools/test/pocketbase.ts'
import { absentOf } from '../src/protocol/refusals.ts'
import type { Asked, Case } from './project.ts'

const KINDS = ['Create', 'Update', 'Delete']
const REQUEST =
  'app auth request response requestInfo hasSuperuserAuth realIP remoteIP isTLS written setCookie get set setAll bindBody findUploadedFiles json string html blob noContent redirect error badRequestError notFoundError forbiddenError unauthorizedError tooManyRequestsError internalServerError xml stream fileFS flush'

/** The parts of answers that later requests use. */
interface Answer extends Record<string, unknown> {
  readonly id: string
  readonly token: string
}

function members(names: string): readonly string[] {
  return names.split(' ')
}

function request(names = ''): readonly string[] {
  return members(`${REQUEST} ${names}`.trim())
}

function steps(on: string, names: string): Record<string, readonly string[]> {
  return Object.fromEntries([
    [`${on}Validate`, members(names)],
    ...KINDS.flatMap((kind) => [
      [`${on}${kind}`, members(names)],
      [`${on}${kind}Execute`, members(names)],
      [`${on}After${kind}Success`, members(names)],
      [`${on}After${kind}Error`, members(`${names} error`)],
    ]),
  ]) as Record<string, readonly string[]>
}

/** Members by event, from PocketBase's own types. */
export const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  onBootstrap: members('app'),
  onTerminate: members('app isRestart'),
  onBackupCreate: members('app context name exclude'),
  onBackupRestore: members('app context name exclude'),
  onSettingsListRequest: request('settings'),
  onSettingsUpdateRequest: request('oldSettings newSettings'),
  onSettingsReload: members('app'),
  onMailerSend: members('app mailer message'),
  ...Object.fromEntries(
    ['AuthAlert', 'PasswordReset', 'Verification', 'EmailChange', 'OTP'].map((mail) => [
      `onMailerRecord${mail}Send`,
      members('app mailer message record meta'),
    ]),
  ),
  ...steps('onModel', 'app model context type'),
  ...steps('onRecord', 'app record context type'),
  ...steps('onCollection', 'app collection context type'),
  onFileTokenRequest: request('record token'),
  onFileDownloadRequest: request('collection record fileField servedPath servedName thumbError'),
  onCollectionsListRequest: request('collections result'),
  onCollectionViewRequest: request('collection'),
  onCollectionCreateRequest: request('collection'),
  onCollectionUpdateRequest: request('collection'),
  onCollectionDeleteRequest: request('collection'),
  onCollectionsImportRequest: request('collectionsData deleteMissing'),
  onRealtimeConnectRequest: request('client idleTimeout maxTimeout'),
  onRealtimeSubscribeRequest: request('client subscriptions'),
  onRealtimeMessageSend: members('app client message'),
  onRecordsListRequest: request('collection records result'),
  onRecordViewRequest: request('collection record'),
  onRecordCreateRequest: request('collection record'),
  onRecordUpdateRequest: request('collection record'),
  onRecordDeleteRequest: request('collection record'),
  onRecordEnrich: members('app record requestInfo'),
  onRecordRequestOTPRequest: request('collection record password'),
  onRecordAuthWithOTPRequest: request('collection record otp'),
  onRecordAuthRequest: request('collection record token meta authMethod'),
  onRecordAuthWithPasswordRequest: request('collection record identity identityField password'),
  onRecordAuthWithOAuth2Request: request(
    'collection providerName providerClient record oAuth2User createData isNewRecord',
  ),
  onRecordAuthRefreshRequest: request('collection record'),
  onRecordRequestPasswordResetRequest: request('collection record'),
  onRecordConfirmPasswordResetRequest: request('collection record'),
  onRecordRequestVerificationRequest: request('collection record'),
  onRecordConfirmVerificationRequest: request('collection record'),
  onRecordRequestEmailChangeRequest: request('collection record newEmail'),
  onRecordConfirmEmailChangeRequest: request('collection record newEmail'),
  onBatchRequest: request('batch'),
}

/** The events whose members are compared. */
export const STARTED: readonly string[] = Object.keys(MEMBERS)

/** Mails whose secrets later requests use. */
const WITH_SECRET = /^onMailerRecord(?:PasswordReset|Verification|EmailChange|OTP)Send$/

/** What a handler does at its end. */
function endOf(name: string): string {
  // The server is not to start again.
  if (name === 'onBackupRestore') return "throw new BadRequestError('no')"
  // Nobody asks it any more.
  if (name === 'onTerminate')
    return '$os.writeFile(`${__hooks}/../terminated.json`, JSON.stringify(seen), 0o644)\n  e.next()'
  // Without a mail server a mail fails, and with it what it is about.
  if (WITH_SECRET.test(name)) return `$app.store().set('secret_${name}', e.meta.token || e.meta.password)`
  return 'e.next()'
}

function handlerOf(name: string): string {
  const known = MEMBERS[name]!.filter((member) => !absentOf(name).has(member))
  const isLate = (member: string): boolean => name === 'onRecordAuthRequest' && member === 'token'
  const note = (member: string): string => `    ['${member}', () => e.${member}],`
  return `${name}((e) => {
  const kind = (value) => {
    if (value === null || value === undefined) return 'null'
    if (typeof value !== 'object') return typeof value
    return typeof value.length === 'number' ? 'list' : 'object'
  }
  const seen = $app.store().get('event_${name}') || {}
  const note = (all) => { for (const [member, read] of all) seen[member] = kind(read()) }
  note([
${known
  .filter((member) => !isLate(member))
  .map(note)
  .join('\n')}
  ])
  $app.store().set('event_${name}', seen)
  ${endOf(name)}
${known.some(isLate) ? "  note([['token', () => e.token]])\n  $app.store().set('event_" + name + "', seen)\n" : ''}})
`
}

const FILE: string = `${STARTED.map(handlerOf).join('\n')}
routerAdd('GET', '/api/events', (e) => {
  const all = $app.store().getAll()
  const seen = {}
  for (const name of Object.keys(all).sort()) if (name.startsWith('event_')) seen[name.slice(6)] = all[name]
  return e.json(200, seen)
})
routerAdd('GET', '/api/secrets/{name}', (e) => {
  const name = 'secret_' + e.request.pathValue('name')
  const secret = $app.store().get(name) || ''
  $app.store().remove(name)
  return e.json(200, { secret })
})
`

/** The project of the handlers, and its collection `posts_events`. */
export const EVENT_CASES: readonly Case[] = [
  { name: 'events', hooks: FILE, requests: [['GET', '/api/collections/posts_events/records']] },
]

async function realtime(url: string, token: string, write: () => Promise<void>): Promise<void> {
  const gone = new AbortController()
  const { body } = await fetch(`${url}/api/realtime`, { signal: gone.signal })
  const reader = body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  const read = async (wanted: RegExp): Promise<string> => {
    for (;;) {
      const found = wanted.exec(text)
      if (found !== null) return found[1]!
      const { value, done } = await reader.read()
      if (done) throw new Error(`realtime has ended: ${text}`)
      text += value
    }
  }
  const clientId = await read(/"clientId":"(\w+)"/)
  await ask(url, 'POST', '/api/realtime', { clientId, subscriptions: ['posts_events/*'] }, token)
  await write()
  await read(/"action":"(\w+)"/)
  gone.abort()
}

/** Mails are sent a little later, and a backup is restored after a second. */
const ASKED_MAX = 20_000

const USERS = '/api/collections/users'
const POSTS = '/api/collections/posts_events/records'
const PASSWORD = '1234567890'

/** The kinds of members, by event. */
export type Kinds = Record<string, Record<string, string>>

type As = (who: string, method: string, path: string, body?: unknown) => Promise<Answer>

/** Writes that fail: of records, and of collections. */
async function failing(root: (method: string, path: string, body?: unknown) => Promise<Answer>): Promise<void> {
  const { id } = await root('POST', POSTS, { title: 'needed' })
  await root('POST', POSTS, { id })
  await root('PATCH', `${POSTS}/${id}`, { tags: ['wrong'] })
  const { id: collectionId } = await root('GET', '/api/collections/posts_events')
  const needed = { name: 'post', type: 'relation', required: true, maxSelect: 1, collectionId }
  await root('POST', '/api/collections', { name: 'needing_events', type: 'base', fields: [needed] })
  await root('POST', '/api/collections/needing_events/records', { post: id })
  await root('DELETE', `${POSTS}/${id}`)
  await root('POST', '/api/collections', { name: 'needing_events', type: 'base' })
  await root('PATCH', '/api/collections/needing_events', { name: 'posts_events' })
  await root('DELETE', '/api/collections/posts_events')
}

/** What an account does by mails and at a provider. */
async function account(as: As, token: string): Promise<void> {
  const secretOf = async (mail: string): Promise<string> => {
    for (let asked = 0; asked < ASKED_MAX; asked++) {
      const { secret } = await as(token, 'GET', `/api/secrets/onMailerRecord${mail}Send`)
      if (secret !== '') return secret as string
    }
    throw new Error(`There is no mail of ${mail}.`)
  }
  const [email, newEmail] = ['events@example.org', 'other@example.org']
  const { token: user } = await as('', 'POST', `${USERS}/auth-with-password`, { identity: email, password: PASSWORD })
  await as(user, 'POST', `${USERS}/auth-refresh`)
  await as(user, 'POST', '/api/files/token')
  await as('', 'POST', `${USERS}/request-verification`, { email })
  await as('', 'POST', `${USERS}/confirm-verification`, { token: await secretOf('Verification') })
  await as(user, 'POST', `${USERS}/request-email-change`, { newEmail })
  const change = await secretOf('EmailChange')
  await as('', 'POST', `${USERS}/confirm-email-change`, { token: change, password: PASSWORD })
  const { otpId } = await as('', 'POST', `${USERS}/request-otp`, { email: newEmail })
  await as('', 'POST', `${USERS}/auth-with-otp`, { otpId, password: await secretOf('OTP') })
  await as('', 'POST', `${USERS}/request-password-reset`, { email: newEmail })
  const reset = await secretOf('PasswordReset')
  const passwords = { password: PASSWORD, passwordConfirm: PASSWORD }
  await as('', 'POST', `${USERS}/confirm-password-reset`, { token: reset, ...passwords })
}

/** Logins of one account from several devices. */
async function alerts(url: string): Promise<void> {
  for (const device of ['one', 'two', 'three']) {
    const body = JSON.stringify({ identity: 'other@example.org', password: PASSWORD })
    const headers = { 'content-type': 'application/json', 'user-agent': device }
    const reply = await fetch(`${url}${USERS}/auth-with-password`, { method: 'POST', body, headers })
    await reply.arrayBuffer()
  }
}

/** A login at a provider with one person. */
async function oauth2(as: As): Promise<void> {
  const provider = createServer((request, response) => {
    const isToken = request.url === '/token'
    const person = { sub: 'ann', name: 'Ann', email: 'ann@example.org', email_verified: true }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(isToken ? { access_token: 'a', token_type: 'bearer', expires_in: 60 } : person))
  })
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve))
  const at = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`
  const urls = { authURL: `${at}/auth`, tokenURL: `${at}/token`, userInfoURL: `${at}/user` }
  const known = { name: 'oidc', clientId: 'a', clientSecret: 'b', ...urls }
  try {
    await as('root', 'PATCH', USERS, { oauth2: { enabled: true, providers: [known] } })
    const asked = { provider: 'oidc', code: 'c', codeVerifier: 'd', redirectURL: 'http://localhost/back' }
    await as('', 'POST', `${USERS}/auth-with-oauth2`, asked)
  } finally {
    await new Promise((resolve) => provider.close(resolve))
  }
}

/** Starts the events, and gives what their handlers have noted. */
async function playEvents({ url, token }: Asked): Promise<Record<string, unknown>> {
  const as: As = async (who, method, path, body) => {
    const reply = await ask(url, method, path, body, who === 'root' ? token : who)
    return (reply.body ?? {}) as Answer
  }
  const root = (method: string, path: string, body?: unknown): Promise<Answer> => as(token, method, path, body)
  await root('PATCH', '/api/settings', { batch: { enabled: true, maxRequests: 50, timeout: 3 } })
  await root('GET', '/api/settings')
  const { id } = await root('POST', POSTS, { title: 'one' })
  await root('PATCH', `${POSTS}/${id}`, { title: 'two' })
  await root('GET', `${POSTS}/${id}`)
  await root('GET', POSTS)
  await realtime(url, token, async () => void (await root('POST', POSTS, { title: 'three' })))
  await root('DELETE', `${POSTS}/${id}`)
  await root('POST', '/api/batch', { requests: [{ method: 'POST', url: POSTS, body: { title: 'in a batch' } }] })
  await root('POST', '/api/collections', { name: 'made_events', type: 'base' })
  await root('PATCH', '/api/collections/made_events', { name: 'changed_events' })
  await root('GET', '/api/collections/changed_events')
  await root('GET', '/api/collections')
  await root('PUT', '/api/collections/import', { collections: [{ name: 'imported_events', type: 'base' }] })
  await root('DELETE', '/api/collections/changed_events')
  await failing(root)
  await root('PATCH', USERS, { otp: { enabled: true, duration: 180, length: 8 }, authAlert: { enabled: false } })
  await root('POST', `${USERS}/records`, { email: 'events@example.org', password: PASSWORD, passwordConfirm: PASSWORD })
  const form = new FormData()
  form.append('file', new Blob(['hello']), 'hello.txt')
  const uploaded = (await (
    await fetch(`${url}${POSTS}`, { method: 'POST', body: form, headers: { authorization: token } })
  ).json()) as { readonly id: string; readonly file: string }
  await fetch(`${url}/api/files/posts_events/${uploaded.id}/${uploaded.file}`).then((reply) => reply.arrayBuffer())
  await account(as, token)
  await root('PATCH', USERS, { authAlert: { enabled: true } })
  await alerts(url)
  await oauth2(as)
  await root('POST', '/api/backups', { name: 'events.zip' })
  await root('POST', '/api/backups/events.zip/restore')
  let seen: Record<string, unknown> = {}
  for (let asked = 0; asked < ASKED_MAX && Object.keys(seen).length < STARTED.length - 1; asked++)
    seen = await root('GET', '/api/events')
  return seen
}

/** As `playEvents`, to the end of the server: the handler of `onTerminate` notes in a file of the project. */
export async function playToEnd(server: Asked, close: () => Promise<void>, project: string): Promise<Kinds> {
  let seen: Record<string, unknown>
  try {
    seen = await playEvents(server)
  } finally {
    await close()
  }
  return {
    ...seen,
    onTerminate: JSON.parse(readFileSync(join(project, 'terminated.json'), 'utf8')) as unknown,
  } as Kinds
}
