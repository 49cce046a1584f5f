/** Goal: an app collection is a CouchDB database for superusers, and its rules hold there too. Others: test/couch/callers.real.test.ts. */
import { SYSTEM } from '@pannier/backend'
import { WorkQueue } from '../../../backend/src/gateway/work-queue.ts'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { basic, send, STRANGER } from '../test-server.ts'
import { EMAIL, ITSELF, PASSWORD, startRest, tokenFor } from './rest-server.ts'
import type { RestServer } from './rest-server.ts'

let server: RestServer
let ann: string
const ROOT = { authorization: basic(`${EMAIL}:${PASSWORD}`) }

beforeAll(async () => {
  server = await startRest()
  const fields = [{ name: 'title', type: 'text', required: true }]
  await server.server.backend.definitions.create(SYSTEM, { name: 'posts', type: 'base', listRule: '', fields })
  const account = { email: 'ann@example.com', password: PASSWORD, passwordConfirm: PASSWORD }
  await server.server.backend.records.create(ITSELF, 'users', account)
  ann = await tokenFor(server.url, 'users', 'ann@example.com', PASSWORD)
})
afterAll(() => server.close())

function as(headers: Readonly<Record<string, string>>, request: string, body?: unknown): ReturnType<typeof send> {
  return send(server.url, request, body, headers)
}

test.each([
  ['an e-mail address and password', () => ROOT],
  ['a token', () => ({ authorization: `Bearer ${server.token}` })],
])('a superuser is an admin by %s', async (_name, headers) => {
  const { status, json } = await as(headers(), 'GET /_session')
  expect([status, json['userCtx']]).toEqual([200, { name: EMAIL, roles: ['_admin'] }])
  expect((await as(headers(), 'GET /_all_dbs')).json).toContain('posts')
})

test('a superuser has a session, which ends with the password', async () => {
  const email = 'other@example.com'
  const secret = { password: PASSWORD, passwordConfirm: PASSWORD }
  const { records } = server.server.backend
  const { id } = await records.create(ITSELF, '_superusers', { email, ...secret })
  const login = await as(STRANGER, 'POST /_session', { name: email, password: PASSWORD })
  expect(login.json).toMatchObject({ ok: true, roles: ['_admin'] })
  const cookie = { ...STRANGER, cookie: login.headers.get('set-cookie')!.split(';', 1)[0]! }
  const token = { authorization: `Bearer ${await tokenFor(server.url, '_superusers', email, PASSWORD)}` }
  for (const headers of [cookie, token]) expect((await as(headers, 'GET /_all_dbs')).status).toBe(200)
  await records.update(ITSELF, '_superusers', String(id), {
    password: 'another password',
    passwordConfirm: 'another password',
  })
  for (const headers of [cookie, token]) expect((await as(headers, 'GET /_all_dbs')).status).toBe(401)
  expect((await as({ authorization: basic(`${email}:${PASSWORD}`) }, 'GET /_all_dbs')).status).toBe(401)
})

test('where a superuser may not act from, nobody finds out a password', async () => {
  const hashes = vi.spyOn(WorkQueue.prototype, 'run')
  const ways = (password: string): (() => Promise<number>)[] => [
    async () => (await as(STRANGER, 'POST /_session', { name: EMAIL, password })).status,
    async () => (await as({ authorization: basic(`${EMAIL}:${password}`) }, 'GET /_all_dbs')).status,
  ]
  for (const way of ways(PASSWORD)) expect(await way()).toBe(200)
  // The first hash of an unknown name makes one to compare with.
  await as(STRANGER, 'POST /_session', { name: 'nobody', password: PASSWORD })
  const { settings } = server.server.backend
  await settings.update(SYSTEM, { superuserIPs: ['10.0.0.1'] })
  try {
    for (const way of [...ways(PASSWORD), ...ways('wrong password')]) {
      hashes.mockClear()
      expect([await way(), hashes.mock.calls.length]).toEqual([401, 1])
    }
  } finally {
    await settings.update(SYSTEM, { superuserIPs: [] })
    hashes.mockRestore()
  }
  for (const way of ways(PASSWORD)) expect(await way()).toBe(200)
})

test('accounts get 403 and guests 401, whatever the rules', async () => {
  const headers = { authorization: `Bearer ${ann}` }
  expect((await as(headers, 'GET /_session')).json['userCtx']).toMatchObject({
    name: expect.stringMatching(/^users:/),
    roles: [],
  })
  for (const request of ['GET /posts', 'GET /posts/_all_docs', 'GET /posts/x', 'GET /posts/_changes']) {
    expect((await as(headers, request)).status, request).toBe(403)
    expect((await as(STRANGER, request)).status, request).toBe(401)
  }
  expect((await as(headers, 'POST /posts', { title: 'x' })).status).toBe(403)
  expect((await as(headers, 'GET /_all_dbs')).status).toBe(401)
})

test('what is written there is a record, and what is no record is refused', async () => {
  const written = await as(ROOT, 'PUT /posts/aaaaaaaaaaaaaaa', { title: 'From CouchDB' })
  expect(written.status).toBe(201)
  expect((await server.call('GET /collections/posts/records/aaaaaaaaaaaaaaa')).json).toMatchObject({
    title: 'From CouchDB',
  })
  for (const [id, body] of [
    ['bbbbbbbbbbbbbbb', { title: '' }],
    ['bbbbbbbbbbbbbbb', { title: 'x', unknown: 1 }],
    ['_design/x', { views: {} }],
  ] as const)
    expect((await as(ROOT, `PUT /posts/${id}`, body)).status, id).toBeGreaterThanOrEqual(400)
  const { json } = await as(ROOT, 'GET /posts')
  expect(json).toMatchObject({ db_name: 'posts', doc_count: 1 })
  const posts = await server.server.gateway.collection(SYSTEM, 'posts')
  const outcomes = await posts.put([
    { _id: 'ccccccccccccccc', title: '' },
    { _id: 'ddddddddddddddd', title: 'Four' },
  ])
  expect(outcomes.map((outcome) => 'error' in outcome)).toEqual([true, false])
})

test('a rule that reads a view is asked at once, alone and in a batch', async () => {
  const { definitions, records } = server.server.backend
  const topics = { name: 'topics', type: 'base', fields: [{ name: 'name', type: 'text' }] }
  await definitions.create(SYSTEM, topics)
  await definitions.create(SYSTEM, { name: 'open', type: 'view', viewQuery: 'SELECT id, name FROM topics' })
  const rule = '@collection.open.name ?= topic'
  const fields = [{ name: 'topic', type: 'text' }]
  await definitions.create(SYSTEM, { name: 'notes', listRule: '', viewRule: '', createRule: rule, fields })
  await records.create(ITSELF, 'topics', { name: 'sun' })
  const bearer = { authorization: `Bearer ${ann}` }
  expect((await as(bearer, 'POST /notes', { topic: 'sun' })).status).toBe(201)
  expect((await as(bearer, 'POST /notes', { topic: 'rain' })).status).toBe(403)
  await records.create(ITSELF, 'topics', { name: 'rain' })
  const docs = ['rain', 'snow'].map((topic) => ({ topic }))
  const { json } = await as(bearer, 'POST /notes/_bulk_docs', { docs })
  expect(json).toEqual([expect.objectContaining({ ok: true }), expect.objectContaining({ error: 'forbidden' })])
})

test('a record that was made through REST is a document there, and replicates to another database', async () => {
  const { json } = await server.call('POST /collections/posts/records', { title: 'From REST' })
  const id = String(json['id'])
  expect((await as(ROOT, `GET /posts/${id}`)).json).toMatchObject({ _id: id, title: 'From REST' })
  const done = await as(ROOT, 'POST /_replicate', { source: 'posts', target: 'copy', create_target: true })
  expect(done.json).toMatchObject({ ok: true })
  expect((await as(ROOT, `GET /copy/${id}`)).json).toMatchObject({ title: 'From REST' })
})

test('an error names other documents to superusers alone', async () => {
  const { definitions, records } = server.server.backend
  const rules = { listRule: '', viewRule: '', createRule: '', deleteRule: '' }
  const fields = [{ name: 'name', type: 'text' }]
  const indexes = [
    'CREATE UNIQUE INDEX thing_name ON things (name)',
    'CREATE UNIQUE INDEX thing_up ON things (upper(name))',
  ]
  const { id: things } = await definitions.create(SYSTEM, { name: 'things', type: 'base', ...rules, fields, indexes })
  const thing = { name: 'thing', type: 'relation', collectionId: things, required: true }
  await definitions.create(SYSTEM, { name: 'secrets', type: 'base', fields: [thing] })
  const { id } = await records.create(ITSELF, 'things', { name: 'one' })
  const secret = await records.create(ITSELF, 'secrets', { thing: id })
  const { json: stored } = await as(ROOT, `GET /things/${String(id)}`)
  const same = { _id: 'two000000000000', name: 'one' }
  const requests: [string, unknown?][] = [
    [`DELETE /things/${String(id)}?rev=${String(stored['_rev'])}`],
    ['POST /things', same],
    ['POST /things', { ...same, name: 'ONE' }],
    ['POST /things/_bulk_docs', { docs: [same] }],
  ]
  const others = [id, secret['id'], 'secrets', '$records', 'thing_name']
  const named = (answer: unknown): unknown[] => others.filter((one) => JSON.stringify(answer).includes(String(one)))
  for (const [request, body] of requests)
    for (const [headers, isAdmin] of [
      [ROOT, true],
      [{ authorization: `Bearer ${ann}` }, false],
      [STRANGER, false],
    ] as const) {
      const { json } = await as(headers, request, body)
      expect(JSON.stringify(json)).toContain('"conflict"')
      expect(named(json).length > 0, `${request} ${JSON.stringify(json)}`).toBe(isAdmin)
    }
})

test('one name has one meaning', async () => {
  expect((await as(ROOT, 'PUT /posts')).status).toBe(412)
  expect((await as(ROOT, 'PUT /users')).status).toBe(412)
  await as(ROOT, 'PUT /plain')
  const made = await server.call('POST /collections', { name: 'Plain', type: 'base' })
  expect([made.status, made.json['data']]).toMatchObject([
    400,
    { name: { code: 'validation_collection_name_invalid' } },
  ])
  await server.call('POST /collections', { name: 'Cased', type: 'base' })
  expect((await as(ROOT, 'PUT /cased')).status).toBe(412)
  expect((await as(ROOT, 'GET /Cased')).json['db_name']).toBe('Cased')
  expect((await as(ROOT, 'GET /cased')).status).toBe(404)
  await server.call('PATCH /collections/Cased', { name: 'renamed' })
  expect((await as(ROOT, 'GET /renamed')).status).toBe(200)
  expect((await as(ROOT, 'GET /Cased')).status).toBe(404)
})

test('the definition decides what is set for the database; secrets of the system are no database', async () => {
  for (const [request, body] of [
    ['DELETE /posts', undefined],
    ['PUT /posts/_security', { members: { names: [], roles: [] } }],
    ['PUT /posts/_revs_limit', 5],
    ['POST /posts/_purge', { aaaaaaaaaaaaaaa: ['1-x'] }],
  ] as const)
    expect((await as(ROOT, request, body)).status, request).toBe(403)
  for (const name of ['_superusers', '_mfas', '%24definitions', '%24records_pbc_1125843985'])
    expect((await as(ROOT, `GET /${name}`)).status, name).not.toBe(200)
})

test('where superusers need two methods to log in, a password alone opens nothing', async () => {
  const methods = { otp: { enabled: true }, mfa: { enabled: true } }
  await server.call('PATCH /collections/_superusers', methods)
  expect((await as(ROOT, 'GET /_all_dbs')).status).toBe(401)
  expect((await as(STRANGER, 'POST /_session', { name: EMAIL, password: PASSWORD })).status).toBe(401)
  expect((await as({ authorization: `Bearer ${server.token}` }, 'GET /_all_dbs')).status).toBe(200)
  await server.call('PATCH /collections/_superusers', { otp: { enabled: false }, mfa: { enabled: false } })
  expect((await as(ROOT, 'GET /_all_dbs')).status).toBe(200)
})
