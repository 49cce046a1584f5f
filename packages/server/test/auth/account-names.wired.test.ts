/** Goal: at CouchDB's door the name `users:ID` is the account's alone: nobody else logs in by it, and no document gives it a password. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ITSELF, PASSWORD, startRest, type RestServer } from '../rest/rest-server.ts'
import { ADMIN, basic, send, STRANGER, type Answer } from '../test-server.ts'

const EMAIL = 'ann@example.com'
let server: RestServer
let id: string
/** The id of a deleted account. */
let gone: string

async function account(email: string, more: Readonly<Record<string, unknown>> = {}): Promise<string> {
  const secret = { password: PASSWORD, passwordConfirm: PASSWORD }
  const made = await server.server.backend.records.create(ITSELF, 'users', { email, ...secret, ...more })
  return String(made['id'])
}

beforeAll(async () => {
  server = await startRest({ auth: { signUp: true } })
  const { json } = await server.call('GET /collections/users')
  const username = { name: 'username', type: 'text' }
  const index = "CREATE UNIQUE INDEX `idx_username` ON `users` (username) WHERE username != ''"
  const changed = await server.call('PATCH /collections/users', {
    fields: [...(json['fields'] as object[]), username],
    indexes: [...(json['indexes'] as string[]), index],
    passwordAuth: { enabled: true, identityFields: ['email', 'username'] },
  })
  expect([changed.status, changed.text]).toEqual([200, expect.any(String)])
  id = await account(EMAIL)
  gone = await account('gone@example.com')
  await server.server.backend.records.delete(ITSELF, 'users', gone)
})
afterAll(() => server.close())

function as(headers: Readonly<Record<string, string>>, request: string, body?: unknown): Promise<Answer> {
  return send(server.url, request, body, { ...STRANGER, ...headers })
}

function withPassword(name = EMAIL, password = PASSWORD): Readonly<Record<string, string>> {
  return { authorization: basic(`${name}:${password}`) }
}

async function storedUsers(): Promise<readonly unknown[]> {
  const { json } = await as({ authorization: ADMIN }, 'GET /_users/_all_docs')
  return (json['rows'] as { readonly id: string }[]).map((row) => row.id)
}

test('no writer gives the name of an account a password by a document of _users', async () => {
  const before = await storedUsers()
  const superuser = { authorization: `Bearer ${server.token}` }
  const writers = [{ authorization: ADMIN }, superuser, {}, withPassword()]
  for (const record of [id, gone])
    for (const writer of writers) {
      const name = `users:${record}`
      const user = { _id: `org.couchdb.user:${name}`, name, type: 'user', roles: [], password: 'another password' }
      const put = await as(writer, `PUT /_users/${user._id}`, user)
      expect([put.status >= 400 && put.status < 500, put.text]).toEqual([true, expect.any(String)])
      await as(writer, 'POST /_users', user)
      await as(writer, 'POST /_users/_bulk_docs', { docs: [user] })
      await as(writer, 'POST /_users/_bulk_docs', { docs: [{ ...user, _rev: '1-abc' }], new_edits: false })
      // Its id, with another name.
      await as(writer, 'POST /_users/_bulk_docs', { docs: [{ ...user, name: 'other' }] })
    }
  expect(await storedUsers()).toEqual(before)
  expect((await as(withPassword(`users:${id}`, 'another password'), 'GET /_session')).status).toBe(401)
  expect((await as(withPassword(), 'GET /_session')).json).toMatchObject({
    userCtx: { name: `users:${id}`, roles: [] },
  })
})

test('the document of an account hides nobody who has its name as an identity', async () => {
  const name = `users:${id}`
  const user = { _id: `org.couchdb.user:${name}`, name, type: 'user', roles: ['staff'] }
  expect((await as({ authorization: ADMIN }, 'POST /_users', user)).status).toBe(201)
  const secret = { password: 'of the other one', passwordConfirm: 'of the other one' }
  const other = await account('flo@example.com', { username: name, ...secret })
  const login = (password: string): Promise<Answer> => as({}, 'POST /_session', { name, password })
  expect((await login(secret.password)).json).toEqual({ ok: true, name: `users:${other}`, roles: [] })
  expect((await login(PASSWORD)).status).toBe(401)
})

test('a name that people choose gives nothing of the user of _users with that name', async () => {
  const ben = { name: 'ben', type: 'user', roles: ['staff'], password: 'the password of ben' }
  await as({ authorization: ADMIN }, 'PUT /_users/org.couchdb.user:ben', ben)
  await as({ authorization: ADMIN }, 'PUT /team')
  await as({ authorization: ADMIN }, 'PUT /team/_security', {
    members: { names: ['ben', 'org.couchdb.user:ben'], roles: [] },
  })
  await account('ben@example.com', { username: 'ben' })
  const other = await account('eve@example.com', { username: 'org.couchdb.user:ben' })
  expect((await as(withPassword('ben'), 'GET /team')).status).toBe(401)
  expect((await as(withPassword('ben', ben.password), 'GET /team')).status).toBe(200)
  // A colon would end the name in Basic credentials.
  const login = await as({}, 'POST /_session', { name: 'org.couchdb.user:ben', password: PASSWORD })
  expect([login.status, login.json['name'], login.json['roles']]).toEqual([200, `users:${other}`, []])
  expect((await as(withPassword('ben@example.com'), 'GET /team')).status).toBe(403)
})

test('an account sees no document of another user in _users', async () => {
  const user = { name: 'cleo', type: 'user', roles: [], password: 'the password of cleo' }
  await as({ authorization: ADMIN }, 'PUT /_users/org.couchdb.user:cleo', user)
  const reads: readonly (readonly [string, unknown?])[] = [
    ['GET /_users/org.couchdb.user:cleo'],
    ['GET /_users/_all_docs?include_docs=true'],
    ['GET /_users/_changes?include_docs=true'],
    ['POST /_users/_find', { selector: {} }],
    ['POST /_users/_bulk_get', { docs: [{ id: 'org.couchdb.user:cleo' }] }],
  ]
  const shown = /"name":"cleo"|"rev":"1-/
  for (const [request, body] of reads) {
    const answers = await Promise.all([as(withPassword(), request, body), as({ authorization: ADMIN }, request, body)])
    expect([request, ...answers.map(({ text }) => shown.test(text))]).toEqual([request, false, true])
  }
})
