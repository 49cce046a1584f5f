/** Goal: an account is the same at both doors: its limits, rules, sessions and revocation. Nobody gets the rights of another one by its name. */
import { WorkQueue } from '../../../backend/src/gateway/work-queue.ts'
import { SYSTEM } from '@pannier/backend'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { contextOf } from '../../src/couch/server-context.ts'
import { ITSELF, PASSWORD, startRest, tokenFor, type RestServer } from '../rest/rest-server.ts'
import { ADMIN, basic, send, STRANGER, type Answer } from '../test-server.ts'

const WRONG = 'a wrong password'
let server: RestServer
let email: string
let id: string
let made = 0

beforeAll(async () => {
  server = await startRest({ auth: { signUp: true, loginLimits: { sameMax: 4 } } })
})
afterAll(() => server.close())
beforeEach(async () => {
  email = `boss${++made}@example.com`
  id = await account('_superusers', email)
})

async function account(collection: string, address: string): Promise<string> {
  const secret = { password: PASSWORD, passwordConfirm: PASSWORD }
  return String((await server.server.backend.records.create(ITSELF, collection, { email: address, ...secret }))['id'])
}

function as(headers: Readonly<Record<string, string>>, request: string, body?: unknown): Promise<Answer> {
  return send(server.url, request, body, { ...STRANGER, ...headers })
}

async function logIn(name = email, password = PASSWORD): Promise<Answer & { readonly cookie: string }> {
  const answer = await as({}, 'POST /_session', { name, password })
  return { ...answer, cookie: (answer.headers.get('set-cookie') ?? '').split(';', 1)[0]! }
}

async function byRest(identity = email, password = PASSWORD): Promise<number> {
  return (await as({}, 'POST /api/collections/_superusers/auth-with-password', { identity, password })).status
}

async function byBasic(name = email, password = PASSWORD): Promise<number> {
  return (await as({ authorization: basic(`${name}:${password}`) }, 'GET /_all_dbs')).status
}

function user(name: string, headers: Readonly<Record<string, string>>): Promise<Answer> {
  const document = { name, type: 'user', roles: [], password: 'of the user' }
  return as(headers, `PUT /_users/org.couchdb.user:${encodeURIComponent(name)}`, document)
}

test('the cookie of a superuser is a session that REST lists and ends', async () => {
  const sessions = `/api/collections/_superusers/records/${id}/sessions`
  const [first, second] = [await logIn(), await logIn()]
  for (const { cookie } of [first, second]) expect((await as({ cookie }, 'GET /_all_dbs')).status).toBe(200)
  const token = await tokenFor(server.url, '_superusers', email, PASSWORD)
  const { json } = await as({ authorization: token }, `GET ${sessions}`)
  expect(json['items']).toHaveLength(3)
  expect((await as({ cookie: first.cookie }, 'DELETE /_session')).status).toBe(200)
  expect((await as({ cookie: first.cookie }, 'GET /_all_dbs')).status).toBe(401)
  expect((await as({ authorization: token }, `DELETE ${sessions}`)).status).toBe(204)
  expect((await as({ cookie: second.cookie }, 'GET /_all_dbs')).status).toBe(401)
  expect((await as({ authorization: `Bearer ${token}` }, 'GET /_all_dbs')).status).toBe(200)
})

test('wrong passwords of a superuser are counted together at both doors', async () => {
  expect([await byRest(email, WRONG), await byRest(email, WRONG)]).toEqual([400, 400])
  expect([(await logIn(email, WRONG)).status, await byBasic(email, WRONG)]).toEqual([401, 401])
  expect([await byRest(), (await logIn()).status, await byBasic()]).toEqual([429, 429, 429])
})

test('a hook that refuses a superuser at REST refuses them at the door of CouchDB', async () => {
  const { hooks } = server.server.backend
  const handler = (): Promise<void> => Promise.reject(new Error('no'))
  hooks.replace([{ name: 'onRecordAuthRequest', tags: ['_superusers'], source: 'x.ts:1', handler }])
  expect([(await logIn()).status, await byBasic()]).toEqual([401, 401])
  hooks.replace([])
  expect([(await logIn()).status, await byBasic()]).toEqual([200, 200])
})

test('where superusers need two methods, a password alone opens nothing, also one that was right a moment ago', async () => {
  expect(await byBasic()).toBe(200)
  const { auth } = contextOf(server.server.http)
  await server.call('PATCH /collections/_superusers', { otp: { enabled: true }, mfa: { enabled: true } })
  expect([(await logIn()).status, await byBasic()]).toEqual([401, 401])
  // Their replications run.
  expect(await auth.delegated(email)).toMatchObject({ isAdmin: true })
  await server.call('PATCH /collections/_superusers', { otp: { enabled: false }, mfa: { enabled: false } })
  expect([(await logIn()).status, await byBasic()]).toEqual([200, 200])
  await server.server.backend.records.delete(ITSELF, '_superusers', id)
  expect([(await logIn()).status, await byBasic()]).toEqual([401, 401])
  expect(await auth.delegated(email)).toBeUndefined()
})

test('a remembered password of an account opens nothing where passwords are not taken any more', async () => {
  await account('users', 'old@example.com')
  const asked = (): Promise<Answer> => as({ authorization: basic(`old@example.com:${PASSWORD}`) }, 'GET /_session')
  expect((await asked()).status).toBe(200)
  await server.call('PATCH /collections/users', { passwordAuth: { enabled: false } })
  expect((await asked()).status).toBe(401)
  await server.call('PATCH /collections/users', { passwordAuth: { enabled: true } })
  await server.call('PATCH /collections/users', { authRule: 'verified = true' })
  expect((await asked()).status).toBe(401)
  await server.call('PATCH /collections/users', { authRule: '' })
  expect((await asked()).status).toBe(200)
})

test('where a superuser may not act from, REST answers a right password as a wrong one', async () => {
  const { settings } = server.server.backend
  const hashes = vi.spyOn(WorkQueue.prototype, 'run')
  await settings.update(SYSTEM, { superuserIPs: ['10.0.0.1'] })
  try {
    for (const method of ['password', 'otp', 'passkey']) {
      const path = `POST /api/collections/_superusers/auth-with-${method}`
      const sent = (password: string): Promise<Answer> => as({}, path, { identity: email, otpId: id, password })
      const answers = [await sent(PASSWORD), await sent(WRONG)]
      expect(answers.map(({ status, text }) => [status, text])).toEqual([
        [403, answers[0]!.text],
        [403, answers[0]!.text],
      ])
    }
    expect(hashes).not.toHaveBeenCalled()
  } finally {
    hashes.mockRestore()
    await settings.update(SYSTEM, { superuserIPs: [] })
  }
})

test('a user whose name a superuser or an admin takes later gets none of their rights', async () => {
  const { auth } = contextOf(server.server.http)
  for (const [name, take] of [
    ['later@example.com', () => account('_superusers', 'later@example.com')],
    ['later', () => auth.accounts.setAdmin('later', PASSWORD)],
  ] as const) {
    expect((await user(name, { authorization: ADMIN })).status).toBe(201)
    const { cookie } = await logIn(name, 'of the user')
    await take()
    expect([name, (await logIn(name, 'of the user')).status]).toEqual([name, 401])
    expect([name, (await as({ cookie }, 'GET /_all_dbs')).status]).toEqual([name, 401])
    expect([name, (await logIn(name, PASSWORD)).json['roles']]).toEqual([name, ['_admin']])
    // A replication of theirs that runs, or is stored.
    expect([name, await auth.delegated(name)]).toMatchObject([name, { isAdmin: false, roles: [] }])
  }
  expect(await auth.delegated(email)).toMatchObject({ name: email, isAdmin: true, by: 'delegation' })
  expect(await auth.delegated('nobody@example.com')).toBeUndefined()
})

test('nobody signs up with the identity of an account, and hides it', async () => {
  await account('users', 'ann@example.com')
  for (const name of [email, 'ann@example.com', 'admin'])
    expect([name, (await user(name, {})).status]).toEqual([name, 409])
  expect((await logIn('ann@example.com')).status).toBe(200)
  expect((await user('free@example.com', {})).status).toBe(201)
})
