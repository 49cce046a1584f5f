/** Goal: only admins give roles to accounts, by `_users` and by no other door, and no account sees the document of another. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ITSELF, PASSWORD, startRest, tokenFor, type RestServer } from '../rest/rest-server.ts'
import { ADMIN, basic, send, STRANGER, type Answer } from '../test-server.ts'

type Headers = Readonly<Record<string, string>>

let server: RestServer
/** `ann` has a document, and `eve` has none. */
let ann: string
let eve: string
let callers: readonly (readonly [name: string, headers: Headers])[]

const pathOf = (id: string): string => `/_users/${encodeURIComponent(`org.couchdb.user:users:${id}`)}`
const documentOf = (id: string, more: object = {}): Record<string, unknown> => ({
  _id: `org.couchdb.user:users:${id}`,
  name: `users:${id}`,
  type: 'user',
  roles: ['staff'],
  ...more,
})
const as = (headers: Headers, request: string, body?: unknown): Promise<Answer> =>
  send(server.url, request, body, { ...STRANGER, ...headers })
const admin = (request: string, body?: unknown): Promise<Answer> => send(server.url, request, body)
const boundary = 'b0'

async function account(name: string): Promise<string> {
  const secret = { password: PASSWORD, passwordConfirm: PASSWORD }
  const made = await server.server.backend.records.create(ITSELF, 'users', { email: `${name}@example.com`, ...secret })
  return String(made['id'])
}

function withPassword(name: string): Headers {
  return { authorization: basic(`${name}@example.com:${PASSWORD}`) }
}

beforeAll(async () => {
  const loginLimits = { addressMax: 10_000, sameMax: 10_000, nameMax: 10_000 }
  server = await startRest({ auth: { signUp: true, loginLimits }, couch: { replicator: { hosts: ['127.0.0.1'] } } })
  const { json } = await server.call('GET /collections/users')
  const added = ['roles', 'collectionRef'].map((name) => ({ name, type: 'json' }))
  await server.call('PATCH /collections/users', { fields: [...(json['fields'] as object[]), ...added] })
  ;[ann, eve] = [await account('ann'), await account('eve')]
  expect((await admin(`PUT ${pathOf(ann)}`, documentOf(ann, { roles: ['reader'] }))).status).toBe(201)
  await admin(`PUT ${pathOf(ann)}/note?rev=${await revOf(ann)}`, 'a secret of ann')
  await admin('PUT /open')
  await admin('PUT /open/_security', { members: {}, admins: {} })
  await admin('PUT /_users/_security', { admins: { names: [], roles: ['lead'] } })
  const made = { type: 'user', password: PASSWORD }
  await admin('PUT /_users/org.couchdb.user:ben', { ...made, name: 'ben', roles: [] })
  await admin('PUT /_users/org.couchdb.user:lea', { ...made, name: 'lea', roles: ['lead'] })
  const scopes = { users: ['list', 'view', 'create', 'update', 'delete'] }
  const token = await server.call('POST /tokens', { name: 'api', collection: 'users', record: eve, scopes })
  const session = await as({}, 'POST /_session', { name: 'eve@example.com', password: PASSWORD })
  callers = [
    ['a guest', {}],
    ['the account by password', withPassword('eve')],
    ['the account by cookie', { cookie: session.headers.get('set-cookie')!.split(';', 1)[0]! }],
    [
      'the account by token',
      { authorization: `Bearer ${await tokenFor(server.url, 'users', 'eve@example.com', PASSWORD)}` },
    ],
    ['an API token of the account', { authorization: `Bearer ${String(token.json['token'])}` }],
    ['the account that has a document', withPassword('ann')],
    ['a user of _users', { authorization: basic(`ben:${PASSWORD}`) }],
    ['an admin of the database _users', { authorization: basic(`lea:${PASSWORD}`) }],
  ]
})
afterAll(() => server.close())

async function revOf(id: string): Promise<string> {
  return String((await admin(`GET ${pathOf(id)}`)).json['_rev'])
}

/** What admins see of the documents of both, with their branches. */
async function state(): Promise<unknown> {
  const read = [ann, eve].map(async (id) => (await admin(`GET ${pathOf(id)}?open_revs=all&revs=true`)).text)
  const { json } = await admin('GET /_users')
  return [...(await Promise.all(read)), json['update_seq'], json['doc_count']]
}

async function rolesOf(headers: Headers): Promise<unknown> {
  const { json } = await as(headers, 'GET /_session')
  return (json['userCtx'] as { readonly roles: unknown }).roles
}

/** All requests that could write the document of the account. */
async function writes(id: string): Promise<readonly (readonly [request: string, body?: unknown, headers?: Headers])[]> {
  const rev = id === ann ? await revOf(id) : undefined
  const now = rev === undefined ? {} : { _rev: rev }
  const query = rev === undefined ? '' : `?rev=${rev}`
  const user = documentOf(id, now)
  const elsewhere = documentOf(id, { _rev: '9-abc', _revisions: { start: 9, ids: ['abc'] } })
  const related = `--${boundary}\r\ncontent-type: application/json\r\n\r\n${JSON.stringify(user)}\r\n--${boundary}--`
  return [
    [`PUT ${pathOf(id)}`, user],
    [`PUT ${pathOf(id)}`, { ...user, password: 'another password' }],
    [`PUT ${pathOf(id)}`, { ...user, password: 'another password', current_password: PASSWORD }],
    [`PUT ${pathOf(id)}`, { ...user, roles: [] }],
    [`PUT ${pathOf(id)}`, related, { 'content-type': `multipart/related; boundary=${boundary}` }],
    [`PUT ${pathOf(id)}?new_edits=false`, elsewhere],
    [`PUT ${pathOf(id)}?batch=ok`, user],
    [`DELETE ${pathOf(id)}${query}`],
    ['POST /_users', user],
    ['POST /_users/_bulk_docs', { docs: [user] }],
    ['POST /_users/_bulk_docs', { docs: [user, { ...user, roles: ['other'] }] }],
    ['POST /_users/_bulk_docs', { docs: [elsewhere], new_edits: false }],
    ['POST /_users/_bulk_docs', { docs: [{ ...user, _deleted: true }] }],
    [`PUT ${pathOf(id)}/file${query}`, 'text', { 'content-type': 'text/plain' }],
    [`DELETE ${pathOf(id)}/note${query}`],
    ['COPY /_users/org.couchdb.user:ben', undefined, { destination: `org.couchdb.user:users:${id}${query}` }],
    ['COPY /_users/org.couchdb.user:lea', undefined, { destination: `org.couchdb.user:users:${id}${query}` }],
    [`COPY ${pathOf(ann)}`, undefined, { destination: `org.couchdb.user:users:${id}${query}` }],
    ['POST /_users/_purge', { [user['_id'] as string]: [rev ?? '1-abc'] }],
  ]
}

test('nobody but a server admin writes the document of an account, by any request of _users', async () => {
  const before = await state()
  for (const id of [ann, eve])
    for (const [name, headers] of callers)
      for (const [request, body, more = {}] of await writes(id)) {
        const { status, json, text } = await as({ ...headers, ...more }, request, body)
        const answers = Array.isArray(json) ? json : [json]
        const isRefused = status >= 400 ? status < 500 : answers.every((one: object) => 'error' in one)
        expect([name, request, isRefused, text]).toEqual([name, request, true, expect.any(String)])
      }
  expect(await state()).toEqual(before)
  expect(await rolesOf(withPassword('eve'))).toEqual([])
  expect(await rolesOf(withPassword('ann'))).toEqual(['reader'])
})

test('no replication writes the document of an account, by whatever caller', async () => {
  const before = await state()
  for (const id of [ann, eve]) {
    const user = documentOf(id, { _rev: '7-abc', _revisions: { start: 7, ids: ['abc'] } })
    const put = await admin('POST /open/_bulk_docs', { docs: [user], new_edits: false })
    expect(put.status).toBe(201)
  }
  for (const [name, headers] of [...callers, ['an admin', { authorization: ADMIN }] as const]) {
    const auth = headers['authorization'] ?? ''
    const end = (database: string): object => ({
      url: `${server.url}/${database}`,
      headers: auth === '' ? {} : { authorization: auth },
    })
    for (const [source, target] of [
      ['open', '_users'],
      [end('open'), end('_users')],
    ]) {
      const { status, json } = await as(headers, 'POST /_replicate', { source, target })
      const written = ((json['history'] ?? []) as { readonly docs_written: number }[])[0]?.docs_written ?? 0
      expect([name, status < 500, written]).toEqual([name, true, 0])
    }
  }
  expect(await state()).toEqual(before)
})

test('fields of a record, imports and SQL give no role', async () => {
  const before = await state()
  const token = await tokenFor(server.url, 'users', 'eve@example.com', PASSWORD)
  const fields = { roles: ['staff', '_admin'], collectionRef: '_pb_users_auth_' }
  expect((await server.call(`PATCH /collections/users/records/${eve}`, fields, token)).status).toBe(200)
  const signUp = { email: 'new@example.com', password: PASSWORD, passwordConfirm: PASSWORD, ...fields }
  expect((await server.call('POST /collections/users/records', signUp, '')).status).toBe(200)
  const rows = [{ id: 'imported0000001', email: 'old@example.com', ...fields, roles: '["staff"]' }]
  expect((await server.call('POST /imports/users/rows', { rows })).json).toMatchObject({ created: 1 })
  expect((await server.call('POST /imports/users/rows', { rows }, token)).status).toBe(403)
  for (const by of [token, server.token]) {
    const query = `UPDATE users SET roles = '["staff"]' WHERE id = '${eve}'`
    expect((await server.call('POST /sql', { query }, by)).status).toBe(by === token ? 403 : 200)
    for (const table of ['_users', '$_users']) {
      const sql = `INSERT INTO "${table}" (id, name, type, roles) VALUES ('org.couchdb.user:users:${eve}', 'users:${eve}', 'user', '["staff"]')`
      expect((await server.call('POST /sql', { query: sql }, by)).status).toBeGreaterThanOrEqual(400)
    }
  }
  for (const name of ['eve', 'new']) expect([name, await rolesOf(withPassword(name))]).toEqual([name, []])
  expect(await state()).toEqual(before)
})

test('an API token of an account is nobody at this door', async () => {
  const scopes = { users: ['list'] }
  const token = await server.call('POST /tokens', { name: 'of ann', collection: 'users', record: ann, scopes })
  const { json } = await as({ authorization: `Bearer ${String(token.json['token'])}` }, 'GET /_session')
  expect([token.status, json]).toMatchObject([200, { userCtx: { name: null, roles: [] } }])
})

test('no account sees the document of another one, or that there is one', async () => {
  const id = `org.couchdb.user:users:${ann}`
  const reads: readonly (readonly [string, unknown?])[] = [
    [`GET ${pathOf(ann)}`],
    [`GET ${pathOf(ann)}/note`],
    [`GET ${pathOf(ann)}?open_revs=all`],
    [`GET /_users/_all_docs?include_docs=true&key="${id}"`],
    ['POST /_users/_all_docs', { keys: [id] }],
    ['GET /_users/_changes?include_docs=true'],
    ['POST /_users/_changes?filter=_doc_ids', { doc_ids: [id] }],
    ['POST /_users/_find', { selector: {} }],
    ['POST /_users/_bulk_get', { docs: [{ id }] }],
    ['POST /_users/_revs_diff', { [id]: ['1-abc'] }],
    ['GET /_users/_pannier/snapshot'],
  ]
  const others = callers.filter(([name]) => !/has a document|an admin of/.test(name))
  for (const [request, body] of reads) {
    expect([request, (await admin(request, body)).status]).toEqual([request, 200])
    for (const [name, headers] of others) {
      const answer = await as(headers, request, body)
      const shown = /"(?:roles|rev|_rev|missing)":|secret/.test(answer.text)
      expect([name, request, shown, answer.text]).toEqual([name, request, false, expect.any(String)])
    }
    // As for an account without a document, and for an unknown one.
    if (!request.includes(pathOf(ann))) continue
    for (const other of [eve, 'nobody000000000']) {
      const [asked, same] = [request, request.replace(pathOf(ann), pathOf(other))]
      const answers = await Promise.all(
        [asked, same].map((one) => as({ authorization: basic(`ben:${PASSWORD}`) }, one, body)),
      )
      expect(answers[0]!.text).toBe(answers[1]!.text)
    }
  }
})

test('what an admin may not write of an account is refused, with the request that does it', async () => {
  const before = await state()
  const rev = await revOf(ann)
  const record = `/api/collections/users/records/${ann}`
  const user = documentOf(ann, { _rev: rev })
  const missing = documentOf('nobody000000000')
  const cases: readonly (readonly [string, unknown, RegExp])[] = [
    [`DELETE ${pathOf(ann)}?rev=${rev}`, undefined, new RegExp(`DELETE ${record}`)],
    [`PUT ${pathOf(ann)}`, { ...user, password: 'another password' }, new RegExp(`PATCH ${record} with password`)],
    [`PUT ${pathOf(ann)}`, { ...user, roles: ['_admin'] }, /No system roles/],
    [`PUT ${pathOf(ann)}`, { ...user, roles: 'staff' }, /must be an array/],
    [`PUT ${pathOf(ann)}`, { ...user, name: `users:${eve}` }, /must be of the form/],
    [`PUT ${pathOf(ann)}`, { ...user, type: 'account' }, /must be user/],
    [`PUT ${pathOf(ann)}?new_edits=false`, { ...user, _rev: '9-abc' }, /new_edits=false/],
    [`PUT ${pathOf('nobody000000000')}`, missing, /no record 'nobody000000000' of users/],
    ['PUT /_users/org.couchdb.user:cleo', { name: 'cleo', type: 'user', roles: [], recordRef: ann }, /recordRef/],
  ]
  for (const [request, body, reason] of cases) {
    const { status, json } = await admin(request, body)
    expect([request, status, json]).toEqual([
      request,
      403,
      { error: 'forbidden', reason: expect.stringMatching(reason) },
    ])
  }
  const foreign = documentOf(ann).name
  const other = await admin('PUT /_users/org.couchdb.user:clients:x', {
    ...user,
    name: 'clients:x',
    _id: 'org.couchdb.user:clients:x',
    _rev: undefined,
  })
  expect([foreign, other.status]).toEqual([`users:${ann}`, 400])
  expect(await state()).toEqual(before)
})

test('what a client sends as the account that a document names does not count', async () => {
  const rev = await revOf(ann)
  const user = documentOf(ann, { _rev: rev, roles: ['reader'], collectionRef: 'pbc_other', recordRef: eve })
  const written = await admin(`PUT ${pathOf(ann)}`, { ...user, derived_key: 'x', salt: 'y', note: 'kept' })
  expect(written.status).toBe(201)
  const { json } = await admin(`GET ${pathOf(ann)}`)
  expect(json).toMatchObject({ collectionRef: '_pb_users_auth_', recordRef: ann, note: 'kept' })
  expect(json).not.toHaveProperty('salt')
  expect(await rolesOf(withPassword('ann'))).toEqual(['reader'])
})
