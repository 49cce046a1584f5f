/** Goal: events of requests have the record that they are about, and run for no other; a handler changes what a view shows. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { holderOf, newToken } from '../../../backend/src/accounts/tokens.ts'
import type { TokenType } from '../../../backend/src/accounts/tokens.ts'
import { REQUEST_EVENT_NAMES } from '../../src/hooks/request-events.ts'
import { PASSWORD, startRest, type RestServer } from '../rest/rest-server.ts'

const HOOKS = `
export default (hooks) => {
  for (const name of ${JSON.stringify(REQUEST_EVENT_NAMES)})
    hooks[name](async (e) => {
      e.response.headers.set('x-event', name + ' ' + (e.record?.id ?? 'nobody'))
      await e.next()
    })
  hooks.onRecordViewRequest(async (e) => {
    if (e.auth === undefined) e.record.hide('secret')
    e.record.set('title', e.record.getString('title') + '!')
    await e.next()
  }, 'posts')
}
`

let dir: string
let server: RestServer
let ann: string
let token: string

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'pannier-asked-'))
  await mkdir(join(dir, 'hooks'))
  await writeFile(join(dir, 'hooks/asked.js'), HOOKS)
  server = await startRest({ dir: join(dir, 'data'), app: { hooks: { dir: join(dir, 'hooks') } } })
  const fields = [
    { name: 'title', type: 'text' },
    { name: 'secret', type: 'text' },
    { name: 'paper', type: 'file', maxSelect: 1 },
  ]
  await server.call('POST /collections', { name: 'posts', type: 'base', viewRule: '', fields })
  await server.call('PATCH /collections/users', { otp: { enabled: true } })
  const account = { email: 'ann@example.com', password: PASSWORD, passwordConfirm: PASSWORD }
  ann = String((await server.call('POST /collections/users/records', account)).json['id'])
  const login = await server.call(
    'POST /collections/users/auth-with-password',
    { identity: account.email, password: PASSWORD },
    '',
  )
  token = String(login.json['token'])
})
afterAll(async () => {
  await server.close()
  await rm(dir, { recursive: true, force: true })
})

/** What the event has seen: null if no handler ran. */
async function seen(request: string, body: object | undefined, authorization = ''): Promise<string | null> {
  const [method, path] = request.split(' ') as [string, string]
  const answer = await fetch(`${server.url}/api${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...(authorization !== '' && { authorization }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  await answer.arrayBuffer()
  return answer.headers.get('x-event')
}

async function mailToken(type: TokenType, more: object = {}): Promise<string> {
  const { definitions } = server.server.backend
  const holder = await holderOf(definitions, 'auth', token, Date.now())
  return newToken(type, holder!, { nowMs: Date.now(), ...more })
}

test('a login by password has the account of its identity, known or not', async () => {
  const logIn = (identity: string, password: string): Promise<string | null> =>
    seen('POST /collections/users/auth-with-password', { identity, password })
  const name = 'onRecordAuthWithPasswordRequest'
  expect(await logIn('ann@example.com', PASSWORD)).toBe(`${name} ${ann}`)
  expect(await logIn('ann@example.com', 'wrong')).toBe(`${name} ${ann}`)
  expect(await logIn('bob@example.com', PASSWORD)).toBe(`${name} nobody`)
  expect(await seen('POST /collections/users/auth-with-password', [])).toBe(`${name} nobody`)
})

test('a request of a one-time password has its account, known or not; the login needs one', async () => {
  const path = 'POST /collections/users/request-otp'
  expect(await seen(path, { email: 'bob@example.com' })).toBe('onRecordRequestOTPRequest nobody')
  const answer = await server.call(path, { email: 'ann@example.com' }, '')
  const { otpId } = answer.json
  const logIn = (id: unknown): Promise<string | null> =>
    seen('POST /collections/users/auth-with-otp', { otpId: id, password: '00000000' })
  expect(await logIn(otpId)).toBe(`onRecordAuthWithOTPRequest ${ann}`)
  expect(await logIn('a'.repeat(15))).toBe(null)
})

test.each([
  ['request-password-reset', 'onRecordRequestPasswordResetRequest'],
  ['request-verification', 'onRecordRequestVerificationRequest'],
])('%s has the account of the address, and no handler runs for an unknown one', async (path, name) => {
  expect(await seen(`POST /collections/users/${path}`, { email: 'ann@example.com' })).toBe(`${name} ${ann}`)
  expect(await seen(`POST /collections/users/${path}`, { email: 'bob@example.com' })).toBe(null)
})

test.each<[string, string, TokenType, object]>([
  ['confirm-password-reset', 'onRecordConfirmPasswordResetRequest', 'passwordReset', {}],
  ['confirm-verification', 'onRecordConfirmVerificationRequest', 'verification', {}],
  ['confirm-email-change', 'onRecordConfirmEmailChangeRequest', 'emailChange', { newEmail: 'ann@example.org' }],
])('%s has the account of a valid token, and no handler runs without', async (path, name, type, more) => {
  const url = `POST /collections/users/${path}`
  expect(await seen(url, { token: await mailToken(type, more) })).toBe(`${name} ${ann}`)
  // Tokens of another kind or collection are none.
  expect(await seen(url, { token })).toBe(null)
  expect(await seen(`POST /collections/_superusers/${path}`, { token: await mailToken(type, more) })).toBe(null)
  expect(await seen(url, { token: 'nothing' })).toBe(null)
})

test('requests of an account have it, and those of guests run no handler', async () => {
  const newEmail = { newEmail: 'ann@example.org' }
  expect(await seen('POST /collections/users/request-email-change', newEmail, token)).toBe(
    `onRecordRequestEmailChangeRequest ${ann}`,
  )
  expect(await seen('POST /collections/users/request-email-change', newEmail)).toBe(null)
  expect(await seen('POST /files/token', {}, token)).toBe(`onFileTokenRequest ${ann}`)
  expect(await seen('POST /collections/users/auth-refresh', {}, token)).toBe(`onRecordAuthRefreshRequest ${ann}`)
})

test('a download has the record of the file, and a view the record, whose answer handlers change', async () => {
  const form = new FormData()
  form.set('title', 'one')
  form.set('secret', 'a secret')
  form.set('paper', new File(['text'], 'paper.txt'))
  const made = await fetch(`${server.url}/api/collections/posts/records`, {
    method: 'POST',
    body: form,
    headers: { authorization: server.token },
  })
  const { id, paper } = (await made.json()) as { readonly id: string; readonly paper: string }
  expect(await seen(`GET /files/posts/${id}/${paper}`, undefined)).toBe(`onFileDownloadRequest ${id}`)
  expect(await seen(`GET /files/posts/${'a'.repeat(15)}/${paper}`, undefined)).toBe(null)
  const guest = await server.call(`GET /collections/posts/records/${id}`, undefined, '')
  expect(guest.json).toMatchObject({ id, title: 'one!' })
  expect(guest.json).not.toHaveProperty('secret')
  expect((await server.call(`GET /collections/posts/records/${id}`)).json).toMatchObject({
    title: 'one!',
    secret: 'a secret',
  })
})
