/** Goal: an account of the collection `users` logs in at CouchDB's door as it does by REST: the same passwords, rules, limits and sessions. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { WorkQueue } from '../../../backend/src/gateway/work-queue.ts'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { ITSELF, PASSWORD, startRest, tokenFor, type RestServer } from '../rest/rest-server.ts'
import { basic, send, STRANGER, type Answer } from '../test-server.ts'

const EMAIL = 'ann@example.com'
let server: RestServer
let id: string

beforeAll(async () => {
  server = await startRest({ auth: { loginLimits: { sameMax: 4 } } })
  const fields = [{ name: 'title', type: 'text' }]
  const staff = '@request.auth.name = "Ann"'
  await server.call('POST /collections', { name: 'news', type: 'base', listRule: staff, viewRule: staff, fields })
})
afterAll(() => server.close())
beforeEach(async () => {
  const { records } = server.server.backend
  if (id !== undefined) await records.delete(ITSELF, 'users', id)
  const secret = { password: PASSWORD, passwordConfirm: PASSWORD }
  id = String((await records.create(ITSELF, 'users', { email: EMAIL, name: 'Ann', ...secret }))['id'])
})

function as(headers: Readonly<Record<string, string>>, request: string, body?: unknown): Promise<Answer> {
  return send(server.url, request, body, { ...STRANGER, ...headers })
}

function withPassword(password = PASSWORD, name = EMAIL): Readonly<Record<string, string>> {
  return { authorization: basic(`${name}:${password}`) }
}

async function logIn(name = EMAIL, password = PASSWORD): Promise<Answer & { readonly cookie: string }> {
  const answer = await as({}, 'POST /_session', { name, password })
  return { ...answer, cookie: (answer.headers.get('set-cookie') ?? '').split(';', 1)[0]! }
}

async function sessions(): Promise<readonly Record<string, unknown>[]> {
  const { json } = await server.call(`GET /collections/users/records/${id}/sessions`)
  return (Array.isArray(json) ? json : json['items']) as readonly Record<string, unknown>[]
}

test('a session cookie is a session of the account: it is listed, and ends at either door', async () => {
  const { status, json, cookie } = await logIn()
  expect([status, json]).toEqual([200, { ok: true, name: `users:${id}`, roles: [] }])
  const who = await as({ cookie }, 'GET /_session')
  expect(who.json).toMatchObject({ userCtx: { name: `users:${id}`, roles: [] }, info: { authenticated: 'cookie' } })
  expect((await as({ cookie }, 'GET /news/_all_docs')).status).toBe(200)
  const [listed, ...others] = await sessions()
  expect([listed!['method'], others]).toEqual(['password', []])
  await server.call(`DELETE /collections/users/records/${id}/sessions/${String(listed!['id'])}`)
  expect((await as({ cookie }, 'GET /_session')).json).toMatchObject({ userCtx: { name: null } })

  const second = await logIn()
  expect(await sessions()).toHaveLength(1)
  expect((await as({ cookie: second.cookie }, 'DELETE /_session')).status).toBe(200)
  expect(await sessions()).toHaveLength(0)
  expect((await as({ cookie: second.cookie }, 'GET /news')).status).toBe(401)
})

test('Basic credentials begin one session, and end with the password; so does a cookie', async () => {
  const { cookie } = await logIn()
  for (let n = 0; n < 3; n++) expect((await as(withPassword(), 'GET /news')).status).toBe(200)
  expect(await sessions()).toHaveLength(2)
  await server.server.backend.records.update(ITSELF, 'users', id, {
    password: 'another one',
    passwordConfirm: 'another one',
  })
  expect((await as(withPassword(), 'GET /news')).status).toBe(401)
  expect((await as({ cookie }, 'GET /news')).status).toBe(401)
  expect((await as(withPassword('another one'), 'GET /news')).status).toBe(200)
})

test('the rules are asked about the account that has logged in, as it is now', async () => {
  const { cookie } = await logIn()
  await server.server.backend.records.update(ITSELF, 'users', id, { name: 'Bob' })
  for (const headers of [{ cookie }, withPassword()]) expect((await as(headers, 'GET /news')).status).toBe(403)
})

test('an unknown name and a wrong password cost one hash, and say the same', async () => {
  await as({}, 'POST /_session', { name: 'nobody at all', password: PASSWORD })
  const hashes = vi.spyOn(WorkQueue.prototype, 'run')
  for (const name of [EMAIL, 'nobody', 'nobody@example.com', '', 'users:x']) {
    hashes.mockClear()
    const { status, json } = await logIn(name, 'wrong password')
    expect([name, status, json['reason']]).toEqual([name, 401, 'Name or password is incorrect.'])
    if (name !== '') expect([name, hashes.mock.calls.length]).toEqual([name, 1])
  }
  hashes.mockRestore()
})

test('failed logins of both doors are counted together', async () => {
  const email = 'bob@example.com'
  const secret = { password: PASSWORD, passwordConfirm: PASSWORD }
  await server.server.backend.records.create(ITSELF, 'users', { email, ...secret })
  for (let n = 0; n < 2; n++) expect((await logIn(email, 'wrong')).status).toBe(401)
  for (let n = 0; n < 2; n++) await expect(tokenFor(server.url, 'users', email, 'wrong')).rejects.toThrow('Failed to')
  expect((await logIn(email)).status).toBe(429)
  await expect(tokenFor(server.url, 'users', email, PASSWORD)).rejects.toThrow('429')
})

test('what REST refuses is refused here', async () => {
  const { hooks } = server.server.backend
  const patch = (change: object): Promise<Answer> => server.call('PATCH /collections/users', change)
  const refuse = {
    name: 'onRecordAuthRequest',
    tags: [],
    source: 'x.ts:1',
    handler: () => Promise.reject(new Error('no')),
  } as const
  const cases: readonly (readonly [on: () => unknown, off: () => unknown])[] = [
    [() => patch({ passwordAuth: { enabled: false } }), () => patch({ passwordAuth: { enabled: true } })],
    [() => patch({ authRule: 'verified = true' }), () => patch({ authRule: '' })],
    [
      () => patch({ otp: { enabled: true }, mfa: { enabled: true } }),
      () => patch({ otp: { enabled: false }, mfa: { enabled: false } }),
    ],
    [() => hooks.replace([refuse]), () => hooks.replace([])],
  ]
  for (const [place, [on, off]] of cases.entries()) {
    await on()
    expect([place, (await logIn()).status, (await as(withPassword(), 'GET /news')).status]).toEqual([place, 401, 401])
    await off()
    expect([place, (await logIn()).status]).toEqual([place, 200])
  }
})

test('a user of _users hides an account of the same name', async () => {
  const path = `/_users/org.couchdb.user:${encodeURIComponent(EMAIL)}`
  const user = { name: EMAIL, type: 'user', roles: ['editor'], password: 'of the document' }
  const made = await send(server.url, `PUT ${path}`, user)
  expect((await logIn(EMAIL, PASSWORD)).status).toBe(401)
  expect((await logIn(EMAIL, 'of the document')).json).toMatchObject({ name: EMAIL, roles: ['editor'] })
  await send(server.url, `DELETE ${path}?rev=${String(made.json['rev'])}`)
  expect((await logIn()).json).toMatchObject({ name: `users:${id}` })
})

test('a middleware, which runs around REST alone, closes this door to accounts and guests', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'pannier-hooks-'))
  await writeFile(join(dir, 'main.js'), 'export default ({ routerUse }) => routerUse((e) => e.next())')
  const other = await startRest({ app: { hooks: { dir, watch: false } } })
  const secret = { password: PASSWORD, passwordConfirm: PASSWORD }
  await other.server.backend.records.create(ITSELF, 'users', { email: EMAIL, ...secret })
  await other.call('POST /collections', { name: 'news', type: 'base', listRule: '', viewRule: '' })
  expect((await send(other.url, 'POST /_session', { name: EMAIL, password: PASSWORD }, STRANGER)).status).toBe(401)
  expect((await send(other.url, 'GET /news', undefined, STRANGER)).status).toBe(401)
  expect((await send(other.url, 'GET /news')).status).toBe(200)
  await other.close()
  await rm(dir, { recursive: true })
})
