/**
 * Goal: admins give roles to accounts of the application by documents `org.couchdb.user:users:ID` of `_users`. The roles count at CouchDB's
 * door, end at once, and go with the record. Nobody else gives one.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { systemEnvironment } from 'pannier/internal'
import { FileAdministration } from '../../src/cli/administration-of-file.ts'
import { HttpAdministration } from '../../src/cli/administration-by-http.ts'
import { ITSELF, PASSWORD, startRest, tokenFor, type RestServer } from '../rest/rest-server.ts'
import { basic, send, STRANGER, type Answer } from '../test-server.ts'

const EMAIL = 'ann@example.com'
const SECRET = { password: PASSWORD, passwordConfirm: PASSWORD }
let server: RestServer
let id: string

beforeAll(async () => {
  server = await startRest({ auth: { signUp: true } })
  for (const name of ['team', 'public']) await admin(`PUT /${name}`)
  await admin('PUT /team/_security', {
    members: { names: [], roles: ['staff'] },
    admins: { names: [], roles: ['lead'] },
  })
  await admin('PUT /public/_security', { members: { names: [], roles: [] }, admins: { names: [], roles: [] } })
})
afterAll(() => server.close())
beforeEach(async () => {
  const { records } = server.server.backend
  if (id !== undefined) await records.delete(ITSELF, 'users', id).catch(() => {})
  id = await account(EMAIL)
})

async function account(email: string, more: object = {}): Promise<string> {
  const made = await server.server.backend.records.create(ITSELF, 'users', { email, ...SECRET, ...more })
  return String(made['id'])
}

function as(headers: Readonly<Record<string, string>>, request: string, body?: unknown): Promise<Answer> {
  return send(server.url, request, body, { ...STRANGER, ...headers })
}

function admin(request: string, body?: unknown): Promise<Answer> {
  return send(server.url, request, body)
}

function path(of = id): string {
  return `/_users/${encodeURIComponent(`org.couchdb.user:users:${of}`)}`
}

function documentOf(of: string, roles: readonly string[], more: object = {}): Record<string, unknown> {
  return { _id: `org.couchdb.user:users:${of}`, name: `users:${of}`, type: 'user', roles, ...more }
}

/** An admin gives the account these roles, and no others. */
async function give(roles: readonly string[], of = id): Promise<void> {
  const { json, status } = await admin(`GET ${path(of)}`)
  const put = await admin(`PUT ${path(of)}`, documentOf(of, roles, status === 200 ? { _rev: json['_rev'] } : {}))
  expect([put.status, put.text]).toEqual([201, expect.any(String)])
}

async function rolesOf(headers: Readonly<Record<string, string>>): Promise<unknown> {
  const { json } = await as(headers, 'GET /_session')
  return (json['userCtx'] as { readonly roles: unknown }).roles
}

/** The ways in which an account shows who it is. */
async function ways(): Promise<Readonly<Record<'cookie' | 'basic' | 'token', Readonly<Record<string, string>>>>> {
  const login = await as({}, 'POST /_session', { name: EMAIL, password: PASSWORD })
  return {
    cookie: { cookie: (login.headers.get('set-cookie') ?? '').split(';', 1)[0]! },
    basic: { authorization: basic(`${EMAIL}:${PASSWORD}`) },
    token: { authorization: `Bearer ${await tokenFor(server.url, 'users', EMAIL, PASSWORD)}` },
  }
}

test('an account has the roles of its document, whichever way it shows who it is', async () => {
  await give(['staff', 'night shift'])
  const login = await as({}, 'POST /_session', { name: EMAIL, password: PASSWORD })
  expect(login.json).toEqual({ ok: true, name: `users:${id}`, roles: ['staff', 'night shift'] })
  for (const [way, headers] of Object.entries(await ways())) {
    expect([way, await rolesOf(headers)]).toEqual([way, ['staff', 'night shift']])
    expect([way, (await as(headers, 'GET /team')).status]).toEqual([way, 200])
    const own = await as(headers, `GET ${path()}`)
    expect(own.json).toEqual({
      ...documentOf(id, ['staff', 'night shift']),
      _rev: expect.stringMatching(/^1-/),
      collectionRef: '_pb_users_auth_',
      recordRef: id,
    })
    expect([way, (await as(headers, 'PUT /team/_security', {})).status]).toEqual([way, 403])
  }
  const { json } = await admin(`GET /_users/_all_docs?include_docs=true&key="org.couchdb.user:users:${id}"`)
  expect(json['rows']).toMatchObject([{ doc: { roles: ['staff', 'night shift'] } }])
})

test('_security counts the roles, and validate_doc_update gets them', async () => {
  const validate = 'function (doc, old, user) { if (user.roles.indexOf("writer") < 0) throw { forbidden: user.name } }'
  await admin('PUT /public/_design/check', { validate_doc_update: validate })
  const { cookie } = await ways()
  const write = (name: string): Promise<Answer> => as(cookie, `PUT /public/${id}-${name}`, {})
  expect((await write('a')).json).toEqual({ error: 'forbidden', reason: `users:${id}` })
  await give(['writer'])
  expect((await write('a')).status).toBe(201)
  expect((await as(cookie, 'GET /team')).status).toBe(403)
  await give(['lead'])
  expect((await as(cookie, 'PUT /team/_design/x', { language: 'javascript' })).status).toBe(201)
  expect((await write('b')).status).toBe(403)
})

test('a role that is taken away counts at once: cookies, cached passwords, tokens, open feeds and bodies under way', async () => {
  await give(['staff'])
  const by = await ways()
  for (const headers of Object.values(by)) expect((await as(headers, 'GET /team')).status).toBe(200)
  const feeds = Object.values(by).map(async (headers) => {
    const url = `${server.url}/team/_changes?feed=continuous&heartbeat=100&since=now`
    const feed = await fetch(url, { headers })
    expect(feed.status).toBe(200)
    return feed
  })
  const open = await Promise.all(feeds)
  let send: ReadableStreamDefaultController<Uint8Array>
  const body = new ReadableStream<Uint8Array>({ start: (controller) => void (send = controller) })
  const headers = { ...by.cookie, 'content-type': 'application/json' }
  const upload = fetch(`${server.url}/team/under-way`, { method: 'PUT', headers, body, duplex: 'half' } as RequestInit)
  send!.enqueue(Buffer.from('{"a":'))
  await give([])
  send!.enqueue(Buffer.from('1}'))
  send!.close()
  expect((await upload).status).toBe(403)
  for (const headers of Object.values(by)) {
    expect((await as(headers, 'GET /team')).status).toBe(403)
    expect(await rolesOf(headers)).toEqual([])
  }
  for (const feed of open) await feed.text()
  expect((await admin('GET /team/under-way')).status).toBe(404)
})

test('an account without a document has no roles, and gets 404 for its own', async () => {
  const { cookie } = await ways()
  expect(await rolesOf(cookie)).toEqual([])
  expect((await as(cookie, `GET ${path()}`)).json).toEqual({ error: 'not_found', reason: 'missing' })
  expect((await admin(`GET ${path()}`)).status).toBe(404)
})

test('POST and _bulk_docs write the same document as PUT', async () => {
  const other = await account('ben@example.com')
  const third = await account('cleo@example.com')
  expect((await admin('POST /_users', documentOf(id, ['a']))).status).toBe(201)
  const bulk = await admin('POST /_users/_bulk_docs', { docs: [documentOf(other, ['b']), documentOf(third, ['c'])] })
  expect(bulk.json).toMatchObject([{ ok: true }, { ok: true }])
  for (const [of, roles] of [
    [id, ['a']],
    [other, ['b']],
    [third, ['c']],
  ] as const)
    expect((await admin(`GET ${path(of)}`)).json).toMatchObject({ roles, recordRef: of })
  for (const id of [other, third]) await server.server.backend.records.delete(ITSELF, 'users', id)
})

test('the document goes with its record, by whatever way that goes', async () => {
  const deletions: readonly (readonly [string, () => Promise<Answer>])[] = [
    ['REST', () => server.call(`DELETE /collections/users/records/${id}`)],
    [
      'batch',
      () =>
        server.call('POST /batch', { requests: [{ method: 'DELETE', url: `/api/collections/users/records/${id}` }] }),
    ],
    ['SQL', () => server.call('POST /sql', { query: `DELETE FROM users WHERE id = '${id}'` })],
    ['truncate', () => server.call('DELETE /collections/users/truncate')],
    [
      "CouchDB's door",
      async () => {
        const { json } = await admin(`GET /users/${id}`)
        return admin(`DELETE /users/${id}?rev=${String(json['_rev'])}`)
      },
    ],
  ]
  await server.call('PATCH /settings', { batch: { enabled: true } })
  for (const [way, remove] of deletions) {
    await give(['staff'])
    const { cookie } = await ways()
    const gone = await remove()
    expect([way, gone.status < 300, gone.text]).toEqual([way, true, expect.any(String)])
    expect([way, (await admin(`GET ${path()}`)).json]).toEqual([way, { error: 'not_found', reason: 'deleted' }])
    expect([way, (await as(cookie, 'GET /team')).status]).toEqual([way, 401])
    const again = await admin(`PUT ${path()}`, documentOf(id, ['staff']))
    expect([way, again.status, again.json['error']]).toEqual([way, 403, 'forbidden'])
    // Somebody else takes the id.
    await account(EMAIL, { id })
    expect([way, await rolesOf((await ways()).cookie)]).toEqual([way, []])
  }
})

test('ids of any form have roles; one that is too long for a name has none', async () => {
  const { json } = await server.call('GET /collections/users')
  const fields = json['fields'] as readonly { readonly name: string }[]
  const free = { pattern: '^.+$', min: 1, max: 4096, autogeneratePattern: '[a-z0-9]{15}' }
  const changed = await server.call('PATCH /collections/users', {
    fields: fields.map((field) => (field.name === 'id' ? { ...field, ...free } : field)),
  })
  expect(changed.status).toBe(200)
  const ids = ['ünï-✓-👍', 'a+b&c=d#e', 'A', 'a', '[x],{y};@', '-', 'z'.repeat(194)]
  for (const odd of ids) {
    const email = `odd${ids.indexOf(odd)}@example.com`
    const made = await account(email, { id: odd })
    await give([`role of ${odd}`], made)
    const headers = { authorization: basic(`${email}:${PASSWORD}`) }
    expect([odd, await rolesOf(headers)]).toEqual([odd, [`role of ${odd}`]])
    expect([odd, (await as(headers, `GET ${path(odd)}`)).status]).toEqual([odd, 200])
    await server.server.backend.records.delete(ITSELF, 'users', odd)
    expect([odd, (await admin(`GET ${path(odd)}`)).json['reason']]).toEqual([odd, 'deleted'])
  }
  for (const long of ['z'.repeat(195), 'z'.repeat(4000)]) {
    const email = `long${long.length}@example.com`
    await account(email, { id: long })
    expect((await admin('POST /_users', documentOf(long, ['staff']))).status).toBe(400)
    const headers = { authorization: basic(`${email}:${PASSWORD}`) }
    expect(await rolesOf(headers)).toEqual([])
    expect((await as(headers, 'GET /team')).status).toBe(403)
    await server.server.backend.records.delete(ITSELF, 'users', long)
  }
  await server.call('PATCH /collections/users', { fields })
})

test('`pannier user` lists accounts that have roles, and leaves passwords and deletions to the record', async () => {
  await give(['staff'])
  const name = `users:${id}`
  const byFile = new FileAdministration(server.server.database, systemEnvironment())
  const byHttp = new HttpAdministration(new URL(server.adminUrl), new AbortController().signal)
  for (const users of [byFile, byHttp])
    expect(await users.users()).toContainEqual({ name, roles: ['staff'], isAdmin: false })
  await expect(byFile.removeUser(name)).rejects.toThrow('delete its record')
  await expect(byFile.setPassword(name, 'another password')).rejects.toThrow(`There is no user ${name}.`)
  await expect(byHttp.removeUser(name)).rejects.toThrow(`DELETE /api/collections/users/records/${id}`)
  await expect(byHttp.setPassword(name, 'another password')).rejects.toThrow('PATCH /api/collections/users/records/')
  byFile.close()
})

test('the roles of a collection that gets another name count again when it has its name again', async () => {
  await give(['staff'])
  await server.call('PATCH /collections/users', { name: 'people' })
  const token = { authorization: `Bearer ${await tokenFor(server.url, 'people', EMAIL, PASSWORD)}` }
  expect((await as(token, 'GET /_session')).json).toMatchObject({ userCtx: { name: `people:${id}`, roles: [] } })
  expect((await admin('POST /_users', documentOf(id, ['more']))).status).toBe(400)
  // Another collection has the name meanwhile.
  await server.call('POST /collections', { name: 'users', type: 'auth', createRule: '' })
  const taken = await server.call('POST /collections/users/records', { id, email: EMAIL, ...SECRET }, '')
  expect(taken.status).toBe(400)
  await server.call('DELETE /collections/users')
  await server.call('PATCH /collections/people', { name: 'users' })
  expect(await rolesOf(token)).toEqual(['staff'])
})

test('documents go with the collection, and give nothing to the accounts of the next one', async () => {
  const other = await startRest()
  const call = (request: string, body?: unknown): Promise<Answer> => send(other.url, request, body)
  const email = 'dan@example.com'
  const made = await other.server.backend.records.create(ITSELF, 'users', { email, ...SECRET })
  const ben = { name: 'ben', type: 'user', roles: [], password: PASSWORD }
  await call('PUT /_users/org.couchdb.user:ben', ben)
  const of = String(made['id'])
  await call('POST /_users', documentOf(of, ['staff']))
  const { json: definition } = await other.call('GET /collections/users')
  expect((await other.call('DELETE /collections/users')).status).toBe(204)
  const { json } = await call('GET /_users/_all_docs')
  expect(json['rows']).toMatchObject([{ id: 'org.couchdb.user:ben' }])
  // The same ids again, by a door that asks no rule.
  expect((await other.call('POST /collections', definition)).json).toMatchObject({ id: '_pb_users_auth_' })
  const rows = [{ id: of, email, password: 'x', tokenKey: 'k'.repeat(50) }]
  expect((await other.call('POST /imports/users/rows', { rows })).json).toMatchObject({ created: 1 })
  await other.server.backend.records.update(ITSELF, 'users', of, SECRET)
  const login = await send(other.url, 'POST /_session', { name: email, password: PASSWORD }, STRANGER)
  expect([login.status, login.json['roles']]).toEqual([200, []])
  await other.close()
})

test('_users has its limit of revisions from the first start, and its documents go with records also after it was made again', async () => {
  const other = await startRest()
  const call = (request: string, body?: unknown): Promise<Answer> => send(other.url, request, body)
  const made = await other.server.backend.records.create(ITSELF, 'users', { email: EMAIL, ...SECRET })
  const of = String(made['id'])
  expect((await call('GET /_users/_revs_limit')).text.trim()).toBe('1000')
  for (const request of ['DELETE /_users', 'PUT /_users']) expect((await call(request)).status).toBeLessThan(300)
  expect((await call('POST /_users', documentOf(of, ['staff']))).status).toBe(201)
  await other.server.backend.records.delete(ITSELF, 'users', of)
  expect((await call(`GET ${path(of)}`)).json['reason']).toBe('deleted')
  await other.close()
})
