/** Goal: an API token does what its account may, within its scopes, and nothing else; at no door and by no detour. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { send, STRANGER, until } from '../test-server.ts'
import type { Answer } from '../test-server.ts'
import { EventClient } from './event-client.ts'
import { EMAIL, PASSWORD, sdkClient, startRest, tokenFor } from './rest-server.ts'
import type { RestServer } from './rest-server.ts'

const READER = { posts: ['list', 'view'] }
let server: RestServer
let ann: string
let bob: string
let post: string
let locked: string

beforeAll(async () => {
  server = await startRest()
  const account = (name: string): object => ({
    email: `${name}@example.com`,
    password: PASSWORD,
    passwordConfirm: PASSWORD,
  })
  ann = await created('users', { ...account('ann'), name: 'Ann' })
  bob = await created('users', account('bob'))
  const users = (await server.call('GET /collections/users')).json
  await server.call('PATCH /collections/users', { listRule: '', viewRule: '', updateRule: 'id = @request.auth.id' })
  const own = '@request.auth.id = author'
  const rules = { listRule: own, viewRule: own, createRule: own, updateRule: own, deleteRule: own }
  const author = { name: 'author', type: 'relation', collectionId: users['id'], maxSelect: 1 }
  const title = { name: 'title', type: 'text' }
  await server.call('POST /collections', { name: 'posts', type: 'base', fields: [title, author], ...rules })
  await server.call('POST /collections', { name: 'locked', type: 'base', fields: [title] })
  await server.call('PATCH /settings', { batch: { enabled: true, maxRequests: 10, timeout: 60 } })
  locked = await created('locked', { title: 'secret' })
})
beforeEach(async () => {
  post = await created('posts', { title: 'of Ann', author: ann })
  await created('posts', { title: 'of Bob', author: bob })
})
afterAll(() => server.close())

async function created(collection: string, body: object): Promise<string> {
  return String((await server.call(`POST /collections/${collection}/records`, body)).json['id'])
}

async function make(scopes: object = READER, more: object = {}): Promise<{ id: string; token: string }> {
  const body = { name: 'reports', collection: 'users', record: ann, scopes, ...more }
  const { json, status, text } = await server.call('POST /tokens', body)
  expect([status, text]).toEqual([200, text])
  return json as { id: string; token: string }
}

const statusOf = async (answer: Promise<Answer>): Promise<number> => (await answer).status

test('a superuser makes, sees and deletes API tokens; the token itself is shown once and stored nowhere', async () => {
  const expires = '2999-01-01 00:00:00.000Z'
  const { json } = await server.call('POST /tokens', {
    name: 'reports',
    collection: 'users',
    record: ann,
    scopes: READER,
    expires,
  })
  const { token, ...info } = json
  expect(token).toMatch(/^pannier_[a-z0-9]{15}_[\w-]{43}$/)
  expect(info).toEqual({
    id: expect.any(String) as string,
    name: 'reports',
    collection: 'users',
    record: ann,
    scopes: READER,
    created: expect.any(String) as string,
    used: '',
    expires,
  })
  const stored = await server.server.database.collection('$api_tokens').find({}).toArray()
  expect(JSON.stringify(stored)).not.toContain(String(token).slice(-43))
  const { items } = (await server.call('GET /tokens')).json as { items: object[] }
  expect(items[0]).toEqual(info)
  expect(await statusOf(server.call(`DELETE /tokens/${String(info['id'])}`))).toBe(204)
  expect(await statusOf(server.call(`DELETE /tokens/${String(info['id'])}`))).toBe(404)
  expect((await server.call('GET /collections/posts/records', undefined, String(token))).json['totalItems']).toBe(0)
})

test.each([
  ['nothing', {}, ['collection', 'name', 'record', 'scopes']],
  ['no auth collection', { collection: 'posts' }, ['collection']],
  ['a superuser', { collection: '_superusers' }, ['collection', 'record']],
  ['an unknown account', { record: 'unknown' }, ['record']],
  ['an id that no document can have', { record: '__proto__' }, ['record']],
  ['no scope', { scopes: {} }, ['scopes']],
  ['a list of scopes', { scopes: ['posts'] }, ['scopes']],
  ['an unknown collection', { scopes: { nope: ['list'] } }, ['scopes']],
  ['an unknown action', { scopes: { posts: ['list', 'manage'] } }, ['scopes']],
  ['a collection twice', { scopes: { posts: ['list'], Posts: ['view'] } }, ['scopes']],
  ['a date that is over', { expires: '2020-01-01 00:00:00.000Z' }, ['expires']],
  ['a date that is none', { expires: 'tomorrow' }, ['expires']],
])('%s is refused', async (name, wrong, fields) => {
  const right = { name: 'x', collection: 'users', record: ann, scopes: READER }
  const { status, json } = await server.call('POST /tokens', name === 'nothing' ? {} : { ...right, ...wrong })
  expect([status, Object.keys(json['data'] as object)]).toEqual([400, fields])
})

test('within its scopes it passes the rules as its account', async () => {
  const { token } = await make({ posts: ['list', 'view', 'create', 'update', 'delete'] })
  const client = sdkClient(server.url)
  client.authStore.save(token)
  const posts = client.collection('posts')
  expect((await posts.getFullList()).every(({ author }) => author === ann)).toBe(true)
  const made = await posts.create({ title: 'new', author: ann })
  expect((await posts.update(made.id, { title: 'changed' }))['title']).toBe('changed')
  await posts.delete(made.id)
  await expect(posts.create({ title: 'new', author: bob })).rejects.toMatchObject({ status: 400 })
})

test('beyond its scopes everything is locked, also where the rules admit its account, or everybody', async () => {
  const { token } = await make()
  const calls = [
    ['POST /collections/posts/records', { title: 'x', author: ann }],
    [`PATCH /collections/posts/records/${post}`, { title: 'x' }],
    [`DELETE /collections/posts/records/${post}`],
    ['GET /collections/users/records'],
    [`GET /collections/users/records/${ann}`],
    [`PATCH /collections/users/records/${ann}`, { name: 'x' }],
    ['GET /collections/locked/records'],
    [`GET /collections/locked/records/${locked}`],
  ] as const
  for (const [request, body] of calls)
    expect([request, await statusOf(server.call(request, body, token))]).toEqual([request, 403])
  const viewer = await make({ posts: ['view'] })
  expect(await statusOf(server.call('GET /collections/posts/records', undefined, viewer.token))).toBe(403)
  expect(await statusOf(server.call(`GET /collections/posts/records/${post}`, undefined, viewer.token))).toBe(200)
  const every = await make({ locked: ['list', 'view', 'create', 'update', 'delete'] })
  expect(await statusOf(server.call('GET /collections/locked/records', undefined, every.token))).toBe(403)
})

test('it reads no collection beyond its scopes by a filter, a sort, an aggregate or an expanded record', async () => {
  const [narrow, wide] = [await make(), await make({ ...READER, users: ['list', 'view'] })]
  const get = (query: string, token: string): Promise<Answer> =>
    server.call(`GET /collections/posts/records?${query}`, undefined, token)
  const detours = ['filter=(author.name="Ann")', 'sort=author.name', 'group=author&aggregate=max(author.name)']
  for (const query of detours) expect([query, await statusOf(get(query, narrow.token))]).toEqual([query, 400])
  for (const query of detours.slice(0, 2)) expect([query, await statusOf(get(query, wide.token))]).toEqual([query, 200])
  expect((await get('expand=author', narrow.token)).text).not.toContain('expand')
  expect((await get('expand=author', wide.token)).text).toContain('"name":"Ann"')
})

test('a batch passes the scopes too, and a batch beyond them writes nothing', async () => {
  const { token } = await make({ posts: ['create'] })
  const request = (collection: string, body: object): object => ({
    method: 'POST',
    url: `/api/collections/${collection}/records`,
    body,
  })
  const right = request('posts', { title: 'batch', author: ann })
  expect(await statusOf(server.call('POST /batch', { requests: [right] }, token))).toBe(200)
  const upsert = { ...right, method: 'PUT', body: { id: post, title: 'batch', author: ann } }
  for (const wrong of [request('locked', { title: 'x' }), upsert])
    expect(await statusOf(server.call('POST /batch', { requests: [right, wrong] }, token))).toBe(400)
  const { json } = await server.call('GET /collections/posts/records?filter=(title="batch")')
  expect(json['totalItems']).toBe(1)
})

test('it can not turn into a login, a file token or anything else that is of the account itself', async () => {
  const { token } = await make({ users: ['list', 'view', 'create', 'update', 'delete'], ...READER })
  const calls = [
    ['POST /collections/users/auth-refresh'],
    ['POST /files/token'],
    ['POST /collections/users/request-email-change', { newEmail: 'x@example.com' }],
    [`GET /collections/users/records/${ann}/sessions`],
    [`DELETE /collections/users/records/${ann}/sessions`],
    [`POST /collections/users/impersonate/${ann}`],
    ['GET /tokens'],
    ['POST /tokens', { name: 'x', collection: 'users', record: bob, scopes: READER }],
    ['GET /settings'],
  ] as const
  for (const [request, body = {}] of calls) {
    const sent = request.startsWith('GET') ? undefined : body
    expect([request, await statusOf(server.call(request, sent, token))]).toEqual([request, 403])
  }
  const password = { password: 'another password', passwordConfirm: 'another password' }
  expect(await statusOf(server.call(`PATCH /collections/users/records/${ann}`, password, token))).toBe(400)
})

test("CouchDB's door does not know it, and routes of the operator refuse it", async () => {
  const { token } = await make()
  const bearer = { authorization: `Bearer ${token}` }
  const { json } = await send(server.url, 'GET /_session', undefined, bearer)
  expect(json['userCtx']).toEqual({ name: null, roles: [] })
  expect((await send(server.url, 'GET /posts', undefined, bearer)).status).toBe(401)
  expect((await send(server.url, 'GET /api/custom', undefined, bearer)).status).toBe(403)
  expect((await send(server.url, 'GET /api/collections/posts/records', undefined, bearer)).json['totalItems']).not.toBe(
    0,
  )
})

test('a stream gets what the scopes allow, and nothing when the token is deleted', async () => {
  const [narrow, other] = [await make({ posts: ['list'] }), await make({ locked: ['list', 'view'] })]
  const login = await tokenFor(server.url, 'users', 'ann@example.com', PASSWORD)
  const clients = await Promise.all([1, 2, 3].map(() => EventClient.open(server.url)))
  for (const [at, token] of [narrow.token, other.token, login].entries())
    expect((await clients[at]!.subscribe(['posts/*'], token)).status).toBe(204)
  await created('posts', { title: 'first', author: ann })
  await until(() => [clients[0]!, clients[2]!].every(({ text }) => text.includes('first')))
  await server.call(`DELETE /tokens/${narrow.id}`)
  await created('posts', { title: 'second', author: ann })
  await until(() => clients[2]!.text.includes('second'))
  expect(clients[0]!.text).not.toContain('second')
  expect(clients[1]!.messages).toEqual([])
  for (const client of clients) client.close()
})

test('it lives as long as its account, and longer than the password of it', async () => {
  const id = await created('users', { email: 'eve@example.com', password: PASSWORD, passwordConfirm: PASSWORD })
  const { token } = await make({ users: ['list'] }, { record: id })
  const total = async (): Promise<number> => statusOf(server.call('GET /collections/users/records', undefined, token))
  expect(await total()).toBe(200)
  const password = { password: 'another password', passwordConfirm: 'another password' }
  await server.call(`PATCH /collections/users/records/${id}`, password)
  expect(await total()).toBe(200)
  await server.call('PATCH /collections/users', { listRule: '@request.auth.id != ""' })
  await server.call(`DELETE /collections/users/records/${id}`)
  const account = { id, email: 'eve@example.com', password: PASSWORD, passwordConfirm: PASSWORD }
  await server.call('POST /collections/users/records', account)
  const { json } = await server.call('GET /collections/users/records', undefined, token)
  expect(json['totalItems']).toBe(0)
  expect(JSON.stringify((await server.call('GET /tokens')).json)).not.toContain(id)
  await server.call('PATCH /collections/users', { listRule: '' })
})

test('the log names it, and limits count it apart from its address', async () => {
  const { token } = await make(READER, { name: 'nightly job' })
  const rules = [{ label: 'posts:list', maxRequests: 2, duration: 60, audience: '' }]
  await server.call('PATCH /settings', { rateLimits: { enabled: true, rules } })
  const list = (by: string): Promise<number> => statusOf(server.call('GET /collections/posts/records', undefined, by))
  expect([await list(token), await list(token), await list(token)]).toEqual([200, 200, 429])
  expect([await list((await make()).token), await list('')]).toEqual([200, 200])
  await server.call('PATCH /settings', { rateLimits: { enabled: false } })
  await until(async () => {
    const { json } = await server.call(`GET /logs?filter=${encodeURIComponent('data.apiToken = "nightly job"')}`)
    return json['totalItems'] === 3
  })
})

test('a login by password works beside it, and makes a session', async () => {
  const { token } = await make()
  const login = { identity: EMAIL, password: PASSWORD }
  const answer = await server.call('POST /collections/_superusers/auth-with-password', login, token)
  expect([answer.status, typeof answer.json['token']]).toEqual([200, 'string'])
  expect((await send(server.url, 'GET /api/tokens', undefined, STRANGER)).status).toBe(401)
})
