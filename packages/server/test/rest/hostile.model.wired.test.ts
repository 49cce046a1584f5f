/**
 * Goal: whatever comes, the answer is an error in PocketBase's form, never a 500, and the next request is served. Method: tables of
 * bad bodies and headers, and random requests that a seed replays.
 */
import { SYSTEM } from '@pannier/backend'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { seedsOf, times } from '../../../../tools/test/seeds.ts'
import { seededRandom } from '../../../db/testing/random.ts'
import { sendRaw } from '../test-server.ts'
import { startRest } from './rest-server.ts'
import type { RestServer } from './rest-server.ts'

let server: RestServer

beforeAll(async () => {
  server = await startRest({ logger: { level: 'error' } })
  const { backend } = server.server
  const fields = [
    { name: 'title', type: 'text' },
    { name: 'data', type: 'json' },
    { name: 'documents', type: 'file', maxSelect: 3 },
  ]
  const rules = { listRule: '', viewRule: '', createRule: '', updateRule: '', deleteRule: '' }
  await backend.definitions.create(SYSTEM, { name: 'posts', type: 'base', ...rules, fields })
  await backend.settings.update(SYSTEM, { batch: { enabled: true } })
})
afterAll(() => server.close())

const RECORDS = '/api/collections/posts/records'

async function post(
  path: string,
  body: string | Uint8Array,
  headers: Readonly<Record<string, string>>,
): Promise<{ readonly status: number; readonly text: string }> {
  const response = await fetch(server.url + path, { method: 'POST', body: body as string, headers })
  return { status: response.status, text: await response.text() }
}

function manyNames(): [string, number][] {
  return Array.from({ length: 200_000 }, (_, at) => [`k${at}`, 1])
}

function expectError({ status, text }: { readonly status: number; readonly text: string }, about: string): void {
  expect(status, about).toBeGreaterThanOrEqual(400)
  expect(status, `${about}: ${text}`).toBeLessThan(500)
  expect(JSON.parse(text), about).toMatchObject({ data: {}, message: expect.any(String), status })
}

const JSON_TYPE = { 'content-type': 'application/json' }
const URL_TYPE = { 'content-type': 'application/x-www-form-urlencoded' }
const FORM_TYPE = { 'content-type': 'multipart/form-data; boundary=x' }

test.each([
  ['no JSON', '{', JSON_TYPE],
  ['a list', '[]', JSON_TYPE],
  ['a text', '"x"', JSON_TYPE],
  ['bytes after it', '{"title":"a"}b', JSON_TYPE],
  ['a name twice', '{"title":"a","title":"b"}', JSON_TYPE],
  ['bad UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), JSON_TYPE],
  ['half of a pair', '{"title":"\\ud800"}', JSON_TYPE],
  ['too deep', `{"data":${'['.repeat(5000)}${']'.repeat(5000)}}`, JSON_TYPE],
  ['another type', 'title=x', { 'content-type': 'text/plain' }],
  ['a form without a boundary', 'x', { 'content-type': 'multipart/form-data' }],
  ['a form that is cut off', '--x\r\ncontent-disposition: form-data; name="title"\r\n\r\nabc', FORM_TYPE],
  ['a form that is none', 'abc', FORM_TYPE],
  [
    'a payload that is no JSON',
    '--x\r\ncontent-disposition: form-data; name="@jsonPayload"\r\n\r\n{\r\n--x--\r\n',
    FORM_TYPE,
  ],
  ['a form of many names', Array.from({ length: 50_000 }, (_, at) => `k${at}=1`).join('&'), URL_TYPE],
  ['a form of one name, many times', 'title=1&'.repeat(50_000), URL_TYPE],
  ['JSON of many names', JSON.stringify(Object.fromEntries(manyNames())), JSON_TYPE],
  ['gzip that is none', 'abc', { ...JSON_TYPE, 'content-encoding': 'gzip' }],
  ['an unknown encoding', 'abc', { ...JSON_TYPE, 'content-encoding': 'br' }],
])('a body that is %s is refused in the form of PocketBase', async (name, body, headers) => {
  expectError(await post(RECORDS, body, headers), name)
})

test('a body over the limit is 413, whether it says so or not', async () => {
  const head = `POST ${RECORDS} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n`
  const said = await sendRaw(server.url, `${head}content-length: 999999999\r\n\r\n{`, '"status":413}')
  expect(said).toContain('{"data":{},"message":"Request entity too large.","status":413}')
  await server.server.backend.settings.update(SYSTEM, { batch: { maxBodySize: 1000 } })
  const body = JSON.stringify({ requests: [{ method: 'POST', url: RECORDS, body: { title: 'x'.repeat(2000) } }] })
  const stream = new ReadableStream({
    start(controller) {
      controller.enqueue(Buffer.from(body))
      controller.close()
    },
  })
  const response = await fetch(`${server.url}/api/batch`, {
    method: 'POST',
    headers: JSON_TYPE,
    body: stream,
    duplex: 'half',
  } as RequestInit)
  expect(response.status).toBe(413)
  await server.server.backend.settings.update(SYSTEM, { batch: { maxBodySize: 0 } })
})

test('no body is parsed for a collection that is locked, for a view, or for none', async () => {
  const { backend } = server.server
  await backend.definitions.create(SYSTEM, { name: 'locked', type: 'base' })
  await backend.definitions.create(SYSTEM, { name: 'seen', type: 'view', viewQuery: 'SELECT id FROM posts' })
  const many = JSON.stringify(Object.fromEntries(manyNames()))
  const parse = vi.spyOn(JSON, 'parse')
  expect((await post('/api/collections/locked/records', many, JSON_TYPE)).status).toBe(403)
  expect((await post('/api/collections/locked/records', `[${many}]`, JSON_TYPE)).status).toBe(400)
  expect((await post('/api/collections/users/auth-with-password', many, JSON_TYPE)).status).toBe(400)
  expect(parse.mock.calls.filter(([text]) => text.length > 1000)).toEqual([])
  parse.mockRestore()
  expect((await post('/api/collections/locked/records', '{', JSON_TYPE)).status).toBe(400)
  const cases = [
    ['POST', 'seen', 400],
    ['PATCH', 'seen', 400],
    ['POST', 'none', 404],
  ] as const
  for (const [method, name, status] of cases) {
    const path = `/api/collections/${name}/records${method === 'PATCH' ? '/aaaaaaaaaaaaaaa' : ''}`
    const head = `${method} ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n`
    const said = await sendRaw(server.url, `${head}content-length: 100000\r\n\r\n{"title":`, `"status":${status}`)
    expect(said, `${method} ${name}`).toContain(`"status":${status}`)
  }
})

test('superusers can not delete themselves all at once', async () => {
  expect((await server.call('DELETE /collections/_superusers/truncate')).status).toBe(400)
  expect((await server.call('GET /settings')).status).toBe(200)
})

test('a filter or a sort that multiplies rows is refused, and holds up nobody', async () => {
  const { backend } = server.server
  const posts = backend.definitions.get('posts').id
  await backend.definitions.create(SYSTEM, {
    name: 'links',
    type: 'base',
    listRule: '',
    fields: [
      { name: 'name', type: 'text' },
      { name: 'posts', type: 'relation', collectionId: posts, maxSelect: 20 },
    ],
  })
  const ids: unknown[] = []
  for (let at = 0; at < 15; at++)
    ids.push((await server.call('POST /collections/posts/records', { title: 'a' })).json['id'])
  for (let at = 0; at < 15; at++) await server.call('POST /collections/links/records', { name: 'b', posts: ids })
  const filter = 'posts.links_via_posts.posts.links_via_posts.posts.title ?= name'
  const path = `GET /collections/links/records?filter=${encodeURIComponent(filter)}`
  expect((await server.call(path, undefined, '')).status).toBe(400)
  const sort = 'posts.links_via_posts.posts.links_via_posts.posts.title'
  expect((await server.call(`GET /collections/links/records?sort=${sort}`, undefined, '')).status).toBe(400)
})

test('names of prototypes are data', async () => {
  const { status } = await post(
    RECORDS,
    '{"__proto__":{"isAdmin":true},"constructor":{"prototype":{}},"title":"x"}',
    JSON_TYPE,
  )
  expect(status).toBe(200)
  expect(({} as Record<string, unknown>)['isAdmin']).toBe(undefined)
  const form = '--x\r\ncontent-disposition: form-data; name="__proto__"\r\n\r\n1\r\n--x--\r\n'
  expect((await post(RECORDS, form, FORM_TYPE)).status).toBe(200)
})

test('a guest cannot act as somebody else by what is in a body, a parameter or a header', async () => {
  const tricks = [
    [
      'POST',
      '/api/collections/_superusers/records?isAdmin=true',
      '{"email":"x@y.zz","password":"12345678","passwordConfirm":"12345678"}',
    ],
    ['GET', `/api/settings?token=${server.token}`, undefined],
    ['GET', `/api/collections?Authorization=${server.token}`, undefined],
    ['PATCH', '/api/settings', '{"superuserIPs":[]}'],
  ] as const
  for (const [method, path, body] of tricks) {
    const headers = {
      ...JSON_TYPE,
      'x-auth': server.token,
      cookie: `pb_auth=${server.token}; AuthSession=${server.token}`,
    }
    const response = await fetch(server.url + path, { method, headers, ...(body !== undefined && { body }) })
    expect([401, 403], path).toContain(response.status)
  }
  const requests = [
    {
      method: 'POST',
      url: '/api/collections/_superusers/records',
      headers: { Authorization: server.token },
      body: { email: 'x@y.zz' },
    },
  ]
  expect((await post('/api/batch', JSON.stringify({ requests }), JSON_TYPE)).status).toBe(400)
})

test.each(seedsOf('model'))('random requests are answered (seed %i)', async (seed) => {
  const { below, pick, chance } = seededRandom(seed)
  const words = [
    '',
    'posts',
    'users',
    '_superusers',
    'x',
    '%00',
    '..',
    'records',
    'a'.repeat(300),
    '%ff',
    "'",
    'import',
    'meta',
    '\u2028',
  ]
  const queries = ['filter', 'sort', 'expand', 'fields', 'page', 'perPage', 'skipTotal']
  const values = [
    '',
    "'",
    '(',
    'a=b',
    'title ~ "%"',
    '-1',
    '1e9',
    '@request.auth.id',
    '@collection.x.y',
    '*:excerpt(1)',
    'title'.repeat(500),
    '%F0%28',
  ]
  const bodies = [
    '',
    '{}',
    '{"title":1}',
    '{"requests":[{"method":"POST","url":"/api/collections/posts/records"}]}',
    '[',
    '{"data":{"a":[1,{}]}}',
    '{"documents":["x"]}',
  ]
  for (let asked = 0; asked < times(100); asked++) {
    const method = pick(['GET', 'POST', 'PATCH', 'PUT', 'DELETE', 'HEAD'])
    const path = Array.from({ length: below(5) }, () => pick(words)).join('/')
    const query = Array.from({ length: below(3) }, () => `${pick(queries)}=${encodeURIComponent(pick(values))}`).join(
      '&',
    )
    const hasBody = method !== 'GET' && method !== 'HEAD' && chance(0.7)
    const url = `/api/${chance(0.7) ? 'collections/' : ''}${path}?${query}`
    const response = await fetch(server.url + encodeURI(url).replaceAll('%25', '%'), {
      method,
      headers: { ...(chance(0.5) && { authorization: server.token }), ...(hasBody && JSON_TYPE) },
      ...(hasBody && { body: pick(bodies) }),
      redirect: 'manual',
    })
    const text = await response.text()
    expect(response.status, `${method} ${url} ${text}`).not.toBe(500)
    // A path with `..` may lead to the other door.
    const isRest = new URL(response.url).pathname.startsWith('/api/')
    if (isRest && response.status >= 400 && method !== 'HEAD' && !text.includes('The URL is malformed'))
      expect(JSON.parse(text), `${method} ${url} ${text}`).toMatchObject({
        message: expect.any(String),
        status: response.status,
      })
  }
  expect((await fetch(`${server.url}/api/health`)).status).toBe(200)
})
