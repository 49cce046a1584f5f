/** The events of PocketBase with their members, handlers that note the kind of each, and requests that start them. */
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

/** Events that the requests below do not start. */
const NOT_STARTED = new Set([
  'onBootstrap',
  'onTerminate',
  'onBackupRestore',
  'onRecordAuthWithOAuth2Request',
  'onRecordAuthWithOTPRequest',
  'onRecordConfirmPasswordResetRequest',
  'onRecordConfirmVerificationRequest',
  'onRecordConfirmEmailChangeRequest',
  'onMailerRecordAuthAlertSend',
])

/** The events whose members are compared. */
export const STARTED: readonly string[] = Object.keys(MEMBERS).filter(
  (name) => !NOT_STARTED.has(name) && !name.endsWith('Error'),
)

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
  e.next()
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

/** Mails are sent a little later. */
const ASKED_MAX = 2000

/** Starts the events, and gives what their handlers have noted. */
export async function playEvents({ url, token }: Asked): Promise<Record<string, unknown>> {
  const as = async (who: string, method: string, path: string, body?: unknown): Promise<Answer> => {
    const reply = await ask(url, method, path, body, who)
    return (reply.body ?? {}) as Answer
  }
  const root = (method: string, path: string, body?: unknown): Promise<Answer> => as(token, method, path, body)
  await root('PATCH', '/api/settings', { batch: { enabled: true, maxRequests: 50, timeout: 3 } })
  await root('GET', '/api/settings')
  const posts = '/api/collections/posts_events/records'
  const { id } = await root('POST', posts, { title: 'one' })
  await root('PATCH', `${posts}/${id}`, { title: 'two' })
  await root('GET', `${posts}/${id}`)
  await root('GET', posts)
  await realtime(url, token, async () => void (await root('POST', posts, { title: 'three' })))
  await root('DELETE', `${posts}/${id}`)
  await root('POST', '/api/batch', { requests: [{ method: 'POST', url: posts, body: { title: 'in a batch' } }] })
  await root('POST', '/api/collections', { name: 'made_events', type: 'base' })
  await root('PATCH', '/api/collections/made_events', { name: 'changed_events' })
  await root('GET', '/api/collections/changed_events')
  await root('GET', '/api/collections')
  await root('PUT', '/api/collections/import', { collections: [{ name: 'imported_events', type: 'base' }] })
  await root('DELETE', '/api/collections/changed_events')
  const users = '/api/collections/users'
  await root('PATCH', users, { otp: { enabled: true, duration: 180, length: 8 }, authAlert: { enabled: false } })
  const password = '1234567890'
  const email = 'events@example.org'
  await root('POST', `${users}/records`, { email, password, passwordConfirm: password })
  const form = new FormData()
  form.append('file', new Blob(['hello']), 'hello.txt')
  const uploaded = (await (
    await fetch(`${url}${posts}`, { method: 'POST', body: form, headers: { authorization: token } })
  ).json()) as { readonly id: string; readonly file: string }
  await fetch(`${url}/api/files/posts_events/${uploaded.id}/${uploaded.file}`).then((reply) => reply.arrayBuffer())
  const { token: user } = await as('', 'POST', `${users}/auth-with-password`, { identity: email, password })
  await as(user, 'POST', `${users}/auth-refresh`)
  await as(user, 'POST', '/api/files/token')
  await as('', 'POST', `${users}/request-otp`, { email })
  await as('', 'POST', `${users}/request-password-reset`, { email })
  await as('', 'POST', `${users}/request-verification`, { email })
  await as(user, 'POST', `${users}/request-email-change`, { newEmail: 'other@example.org' })
  await root('POST', '/api/backups', { name: 'events.zip' })
  let seen: Record<string, unknown> = {}
  for (let asked = 0; asked < ASKED_MAX && Object.keys(seen).length < STARTED.length; asked++)
    seen = await root('GET', '/api/events')
  return seen
}
