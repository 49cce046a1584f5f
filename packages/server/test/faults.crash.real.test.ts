/**
 * Hostile and broken requests, by the rows of the fault matrix (docs/internals/http-api.md, "Limits and refusals"): each is refused, or harmless,
 * and the server continues to answer.
 */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { virtualEnvironment } from 'pannier/testing'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { contextOf } from '../src/couch/server-context.ts'
import { DEFAULT_LIMITS } from '../src/index.ts'
import { ADMIN, send, sendRaw, startServer } from './test-server.ts'
import type { Scenario, TestServer } from './test-server.ts'

const MEBIBYTE = 1024 * 1024

const clock = virtualEnvironment()
let running: TestServer
let url: string

beforeAll(async () => {
  running = await startServer({
    environment: clock,
    limits: {
      requestBytesMax: 2 * MEBIBYTE,
      documentBytesMax: 2 * MEBIBYTE,
      attachmentBytesMax: 4 * MEBIBYTE,
    },
    http: { corsOrigins: ['https://app.example.org'] },
  })
  url = running.url
  await send(url, 'PUT /db')
})
afterAll(() => running.close())
afterEach(async () => {
  expect((await send(url, 'GET /_up')).status).toBe(200)
  expect(Object.keys(Object.prototype)).toEqual([])
})

function rows(title: string, scenarios: readonly Scenario[]): void {
  test.each(scenarios)(
    `${title}: $name`,
    async ({ request, body, headers, status, contains = [], lacks = [], json, answers = {} }) => {
      const answer = await send(url, request, body, headers)
      expect([answer.status, answer.text]).toEqual([status, answer.text])
      for (const part of contains) expect(answer.text).toContain(part)
      for (const part of lacks) expect(answer.text).not.toContain(part)
      if (json !== undefined) expect(answer.json).toMatchObject(json as object)
      for (const [name, value] of Object.entries(answers)) expect(answer.headers.get(name)).toBe(value)
    },
  )
}

/** Of requests that are sent as bytes. */
const HEADERS = `Host: localhost\r\nAuthorization: ${ADMIN}\r\n`
const JSON_TYPE = { 'content-type': 'application/json' }

test('row 25: what is not HTTP is a 4xx, and a request cannot be smuggled', async () => {
  const host = 'Host: localhost\r\n'
  const bad = [
    'NONSENSE\r\n\r\n',
    'GET / HTTP/9.9\r\n\r\n',
    `GET / HTTP/1.1\r\n\r\n`,
    `GET / HTTP/1.1\r\n${host}Bad Header: x\r\n\r\n`,
    `GET / HTTP/1.1\r\n${host}a: b\u0000c\r\n\r\n`,
    `GET /\u0001 HTTP/1.1\r\n${host}\r\n`,
    `POST /db HTTP/1.1\r\n${host}Content-Length: 5\r\nContent-Length: 6\r\n\r\n{}`,
    `POST /db HTTP/1.1\r\n${host}Content-Length: -1\r\n\r\n{}`,
    `POST /db HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\nGET /_all_dbs HTTP/1.1\r\n${host}\r\n`,
    `POST /db HTTP/1.1\r\n${host}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`,
    `POST /db HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\nzz\r\n`,
  ]
  for (const bytes of bad) {
    const answer = await sendRaw(url, bytes)
    expect([bytes, answer.slice(0, 12)]).toEqual([bytes, expect.stringMatching(/^HTTP\/1\.1 4\d\d$/)])
    expect(answer.match(/HTTP\/1\.1/g)).toHaveLength(1)
    expect(answer).not.toContain('"db"')
  }
})

test('row 25: what is not HTTP does not put a second answer into one that is under way', async () => {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.write(`GET /db/_changes?feed=continuous&heartbeat=100 HTTP/1.1\r\n${HEADERS}\r\n`)
  let answer = ''
  socket.once('data', () => socket.write('NONSENSE\r\n\r\n'))
  for await (const piece of socket) answer += String(piece)
  expect(answer.match(/HTTP\/1\.1/g)).toHaveLength(1)
})

test('row 25: random bytes do no harm', async () => {
  let state = 42
  const random = (): number => (state = (state * 1103515245 + 12345) % 2 ** 31) / 2 ** 31
  const parts = [
    'GET',
    ' ',
    '/',
    'db',
    '%',
    '\r\n',
    ':',
    'HTTP/1.1',
    '\u0000',
    'Host: localhost',
    '?',
    '{',
    '"',
    '\u00ff',
    'Content-Length: 9',
  ]
  for (let run = 0; run < 60; run++) {
    const text = Array.from({ length: 12 }, () => parts[Math.floor(random() * parts.length)]).join('')
    const answer = await sendRaw(url, `${text}\r\n\r\n`, '\r\n\r\n')
    expect([text, answer === '' || /^HTTP\/1\.1 [24]\d\d/.test(answer)]).toEqual([text, true])
  }
})

rows('row 25', [
  { name: 'a malformed escape in the path', request: 'GET /db/%zz', status: 400 },
  { name: 'bytes that are no UTF-8 in the path', request: 'GET /%ff%fe/x', status: 400 },
  { name: 'a parameter twice', request: 'GET /db/_all_docs?limit=1&limit=2', status: 400 },
  { name: 'headers beyond the limit', request: 'GET /db', headers: { 'x-long': 'x'.repeat(40_000) }, status: 431 },
])

test('row 26: a body beyond the limit, with or without a length, is a 413', async () => {
  const big = JSON.stringify({ a: 'x'.repeat(3 * MEBIBYTE) })
  expect((await send(url, 'PUT /db/big', big, JSON_TYPE)).status).toBe(413)
  const chunked = await fetch(`${url}/db/big`, {
    method: 'PUT',
    headers: { authorization: ADMIN },
    body: new Blob([big]).stream(),
    duplex: 'half',
  } as RequestInit)
  expect([chunked.status, (await chunked.json()) as unknown]).toMatchObject([413, { error: 'document_too_large' }])
  expect((await send(url, 'GET /db/big')).status).toBe(404)
  expect((await send(url, 'PUT /db/big/a', Buffer.alloc(5 * MEBIBYTE))).status).toBe(413)
  expect((await send(url, 'GET /db/big')).status).toBe(404)
})

test('row 26: a gzip bomb is a 413, and takes no memory', async () => {
  const bomb = gzipSync(Buffer.alloc(100 * MEBIBYTE))
  const before = process.memoryUsage.rss()
  const headers = { ...JSON_TYPE, 'content-encoding': 'gzip' }
  expect((await send(url, 'PUT /db/bomb', bomb, headers)).status).toBe(413)
  expect((await send(url, 'PUT /db/bomb/a', bomb, headers)).status).toBe(413)
  expect(process.memoryUsage.rss() - before).toBeLessThan(80 * MEBIBYTE)
  const inline = { _attachments: { a: { data: bomb.toString('base64'), encoding: 'gzip' } } }
  expect((await send(url, 'PUT /db/bomb', inline)).status).toBe(413)
  expect((await send(url, 'GET /db/bomb')).status).toBe(404)
})

rows('row 26', [
  {
    name: 'gzip that is none',
    request: 'PUT /db/x',
    body: '{}',
    headers: { ...JSON_TYPE, 'content-encoding': 'gzip' },
    status: 400,
  },
  {
    name: 'an encoding that is not known',
    request: 'PUT /db/x',
    body: '{}',
    headers: { ...JSON_TYPE, 'content-encoding': 'br' },
    status: 415,
  },
])

rows('row 27', [
  { name: 'JSON of 100,000 levels', request: 'PUT /db/x', body: '['.repeat(1e5), status: 413 },
  { name: 'objects of 100,000 levels', request: 'PUT /db/x', body: '{"a":'.repeat(1e5), status: 400 },
  {
    name: 'a million keys',
    request: 'PUT /db/x',
    body: `{${Array.from({ length: 2e5 + 1 }, (_, at) => `"${at}":1`).join(',')}}`,
    status: 413,
  },
  { name: 'a number beyond doubles', request: 'PUT /db/x', body: '{"n":1e400}', status: 400 },
  { name: 'a huge number in the URL', request: 'GET /db/_all_docs?limit=1e30', status: 400 },
  { name: 'deep JSON in the URL', request: `GET /db/_all_docs?startkey=${'['.repeat(5000)}`, status: 400 },
])

test('row 28: __proto__, constructor, toString are data', async () => {
  const text = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"toString":"x"}'
  for (const id of ['__proto__x', 'constructor', 'toString', 'hasOwnProperty']) {
    const { status } = await send(url, `PUT /db/${id.replace('__proto__x', 'proto')}`, text, JSON_TYPE)
    expect(status).toBe(400)
  }
  const own = '{"constructor":{"prototype":{"polluted":1}},"toString":"x","a":{"__proto__":{"polluted":1}}}'
  for (const id of ['constructor', 'toString', 'hasOwnProperty']) {
    expect((await send(url, `PUT /db/${id}`, own, JSON_TYPE)).status).toBe(201)
    const { text: back } = await send(url, `GET /db/${id}`)
    expect(back).toContain('"a":{"__proto__":{"polluted":1}}')
  }
  const diff = await send(url, 'POST /db/_revs_diff', '{"constructor":["9-x"]}', JSON_TYPE)
  expect(diff.text).toContain('"constructor":{"missing":["9-x"]')
  const proto = await send(url, 'POST /db/_revs_diff', '{"__proto__":["9-x"]}', JSON_TYPE)
  expect(proto.text.trim()).toBe('{"__proto__":{"missing":["9-x"]}}')
  const find = await send(url, 'POST /db/_find', '{"selector":{"a.__proto__.polluted":1,"toString":"x"}}', JSON_TYPE)
  expect(find.json['docs']).toHaveLength(3)
  expect(
    (await send(url, 'POST /db/_index', '{"index":{"fields":["constructor.prototype.polluted"]}}', JSON_TYPE)).status,
  ).toBe(200)
  expect((await send(url, 'GET /db/_all_docs?__proto__=1&constructor=2')).status).toBe(200)
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
})

rows('row 29', [
  { name: 'a name twice', request: 'PUT /db/x', body: '{"roles":[],"roles":["_admin"]}', status: 400 },
  {
    name: 'a name twice, once escaped',
    request: 'PUT /db/x',
    body: '{"roles":[],"\\u0072oles":["_admin"]}',
    status: 400,
  },
  {
    name: 'a name twice, deep inside',
    request: 'POST /db/_bulk_docs',
    body: '{"docs":[{"a":[{"b":1,"b":1}]}]}',
    headers: JSON_TYPE,
    status: 400,
  },
  {
    name: 'one name in two objects',
    request: 'POST /db/_bulk_docs',
    body: '{"docs":[{"b":":"},{"b":"\\\\"}]}',
    headers: JSON_TYPE,
    status: 201,
  },
])

const BAD_UTF8 = Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')])
const SURROGATE_UTF8 = Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from('"}')])
const BYTE_ORDER_MARK = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from('{}')])

rows('row 30', [
  { name: 'bad UTF-8', request: 'PUT /db/x', body: BAD_UTF8, status: 400 },
  { name: 'a surrogate in UTF-8', request: 'PUT /db/x', body: SURROGATE_UTF8, status: 400 },
  { name: 'a byte order mark', request: 'PUT /db/x', body: BYTE_ORDER_MARK, status: 400 },
  { name: 'a control character', request: 'PUT /db/x', body: '{"a":"\u0000"}', status: 400 },
])

test('row 30: U+0000 comes back exactly', async () => {
  const text = '{"a\\u0000":"x\\u0000y","b":"\\ud83d\\ude00","c":"\\\\ud800"}'
  expect((await send(url, 'PUT /db/nul', text, JSON_TYPE)).status).toBe(201)
  const { _id, _rev, ...rest } = (await send(url, 'GET /db/nul')).json
  expect(rest).toEqual(JSON.parse(text))
  expect((await send(url, 'PUT /db/a%00b', {})).status).toBe(201)
  expect((await send(url, 'GET /db/a%00b')).json['_id']).toBe('a\u0000b')
})

test('row 30: a replicated document with half of a surrogate pair is forbidden, and alone', async () => {
  const docs = '{"_id":"lone1","_rev":"1-a","b":"\\ud800"},{"_id":"lone2","_rev":"1-a"}'
  const { json } = await send(url, 'POST /db/_bulk_docs', `{"new_edits":false,"docs":[${docs}]}`, JSON_TYPE)
  expect(json).toMatchObject([{ id: 'lone1', rev: '1-a', error: 'forbidden' }])
  expect((await send(url, 'GET /db/lone2')).status).toBe(200)
})

rows(
  'row 30',
  ['{"b":"\\ud800"}', '{"b":"\\uDC00\\ud800"}', '{"b":["x",{"\\udfff":1}]}'].map((body) => ({
    name: `half of a surrogate pair: ${body}`,
    request: 'PUT /db/lone',
    body,
    status: 400,
    json: { reason: 'invalid UTF-8 JSON' },
  })),
)

rows(
  'row 31',
  ['1-', '-x', '0-x', '1', 'x-1', `${'9'.repeat(30)}-x`, `1-${'x'.repeat(300)}`, 1, null, {}].map((rev) => ({
    name: `the revision ${JSON.stringify(rev).slice(0, 20)}`,
    request: 'PUT /db/rev',
    body: { _rev: rev },
    status: 400,
  })),
)

rows(
  'row 31',
  [
    { start: 1, ids: [] },
    { start: 1, ids: ['a', 'b'] },
    { start: -1, ids: ['a'] },
    { start: 1.5, ids: ['a'] },
    { start: 2, ids: ['b', ''] },
    { start: 2, ids: ['b', 7] },
    { start: 2, ids: 'ba' },
    [],
  ].map((history) => ({
    name: `the history ${JSON.stringify(history)}`,
    request: 'PUT /db/rev?new_edits=false',
    body: { _rev: '2-b', _revisions: history },
    status: 400,
  })),
)

rows('row 31', [
  {
    name: 'a generation that no document reaches here',
    request: 'PUT /db/rev?new_edits=false',
    body: { _revisions: { start: 1e300, ids: ['a'] } },
    status: 413,
  },
  {
    name: 'a revision that disagrees with the history',
    request: 'PUT /db/rev3?new_edits=false',
    body: { _rev: '2-b', _revisions: { start: 3, ids: ['c'] } },
    status: 201,
    json: { rev: '3-c' },
  },
  {
    name: 'capital digits of a hash',
    request: 'PUT /db/capital?new_edits=false',
    body: { _rev: `1-${'AB'.repeat(16)}`, n: 1 },
    status: 201,
    json: { rev: `1-${'ab'.repeat(16)}` },
  },
  {
    name: 'and so they are asked for',
    request: `GET /db/capital?rev=1-${'Ab'.repeat(16)}`,
    status: 200,
    json: { n: 1 },
  },
])

test('row 31: a malformed revision does not stop the others of a replication, and trees are bounded', async () => {
  const docs = [
    { _id: 'r1', _rev: '1-a' },
    { _id: 'r2', _rev: 'bad' },
    { _id: 'r3', _rev: '1-a' },
  ]
  const answer = await send(url, 'POST /db/_bulk_docs', { new_edits: false, docs })
  expect([answer.status, answer.json]).toMatchObject([201, [{ id: 'r2', error: 'bad_request' }]])
  expect((await send(url, 'GET /db/r3')).status).toBe(200)
  const ids = Array.from({ length: 20_000 }, (_, at) => `r${at}`)
  const huge = { _id: 'huge', _rev: '20000-r0', _revisions: { start: 20_000, ids } }
  expect((await send(url, 'POST /db/_bulk_docs', { new_edits: false, docs: [huge] })).json).toEqual([])
  const { _revisions } = (await send(url, 'GET /db/huge?revs=true')).json as { _revisions: { ids: string[] } }
  expect(_revisions.ids).toHaveLength(1000)
  const own = { _id: 'own', _rev: '2-a', _revisions: { start: 2, ids: ['a', 'a'] } }
  expect((await send(url, 'POST /db/_bulk_docs', { new_edits: false, docs: [own] })).json).toEqual([])
  expect((await send(url, 'GET /db/own?revs=true')).json).toMatchObject({ _revisions: { start: 2, ids: ['a', 'a'] } })
})

test('row 32: a regular expression that backtracks is no way to stop the server', async () => {
  await send(url, 'PUT /db/redos', { text: `${'a'.repeat(50_000)}!` })
  const { status } = await send(url, 'POST /db/_find', { selector: { text: { $regex: '^(a+)+$' } } })
  expect([200, 400]).toContain(status)
})

rows('row 33', [
  {
    name: '$or with too many branches',
    request: 'POST /db/_find',
    body: { selector: { $or: Array.from({ length: 20_000 }, (_, n) => ({ n })) } },
    status: 400,
  },
  {
    name: '$in with too many values',
    request: 'POST /db/_find',
    body: { selector: { n: { $in: Array.from({ length: 150_000 }, (_, n) => n) } } },
    status: 400,
  },
  { name: 'a huge skip', request: 'POST /db/_find', body: { selector: {}, skip: 2 ** 50 }, status: 200 },
  { name: 'a huge limit', request: 'POST /db/_find', body: { selector: {}, limit: 2 ** 50 }, status: 200 },
  { name: 'a negative skip', request: 'POST /db/_find', body: { selector: {}, skip: -1 }, status: 400 },
])

test('row 34: what no index can hold is stored all the same', async () => {
  await send(url, 'PUT /bomb')
  await send(url, 'POST /bomb/_index', { index: { fields: ['a', 'b'] } })
  const body = { a: Array.from({ length: 2000 }, (_, n) => n), b: 'x'.repeat(MEBIBYTE) }
  expect((await send(url, 'PUT /bomb/x', body)).status).toBe(201)
  expect((await send(url, 'POST /bomb/_find', { selector: { b: body.b }, fields: ['_id'] })).json['docs']).toEqual([
    { _id: 'x' },
  ])
})

test('row 35: hostile ids are ids', async () => {
  const ids = [
    '../etc/passwd',
    '..%2e',
    '%2e%2e',
    './x',
    'a/../../b',
    '\\..\\x',
    'a?b#c',
    '%',
    '_design/../x',
    'ünï',
    ' ',
    'null',
  ]
  for (const id of ids) {
    expect([id, (await send(url, `PUT /db/${encodeURIComponent(id)}`, {})).status]).toEqual([id, 201])
    expect((await send(url, `GET /db/${encodeURIComponent(id)}`)).json['_id']).toBe(id)
  }
  expect(
    (await sendRaw(url, `GET /db/../../etc/passwd HTTP/1.1\r\n${HEADERS}Connection: close\r\n\r\n`)).slice(0, 12),
  ).toBe('HTTP/1.1 404')
  expect((await send(url, `PUT /db/${'x'.repeat(10_000)}`, {})).status).toBe(413)
  expect(
    (await send(url, 'POST /db/_bulk_docs', { docs: [{ _id: 'x'.repeat(10_000) }, { _id: 'fine' }] })).json,
  ).toMatchObject([{ error: 'document_too_large' }, { ok: true }])
  for (const name of ['$server', '%24server', '$_users', '..%2f', 'a%00', 'A', '_x', 'x'.repeat(300)])
    expect([name, (await send(url, `PUT /${name}`)).status]).toEqual([name, 400])
  expect((await send(url, 'GET /$server/identity')).status).toBe(404)
})

function related(document: object, parts: readonly string[], end = '\r\n--b--'): string {
  const head = `--b\r\nContent-Type: application/json\r\n\r\n${JSON.stringify(document)}`
  return head + parts.map((part) => `\r\n--b\r\n\r\n${part}`).join('') + end
}

const RELATED = { 'content-type': 'multipart/related; boundary="b"' }
const HELLO_DIGEST = `md5-${createHash('md5').update('hello').digest('base64')}`
const follows = (more: object = {}): object => ({
  _attachments: { a: { follows: true, content_type: 'text/plain', length: 5, digest: HELLO_DIGEST, ...more } },
})

rows('row 36', [
  {
    name: 'a digest that is another',
    request: 'PUT /db/m',
    body: related(follows(), ['jello']),
    headers: RELATED,
    status: 400,
  },
  {
    name: 'a length that is another',
    request: 'PUT /db/m',
    body: related(follows({ length: 6 }), ['hello']),
    headers: RELATED,
    status: 400,
  },
  {
    name: 'a part that does not come',
    request: 'PUT /db/m',
    body: related(follows(), []),
    headers: RELATED,
    status: 400,
  },
  {
    name: 'a body that is cut off',
    request: 'PUT /db/m',
    body: related(follows(), ['hello'], ''),
    headers: RELATED,
    status: 400,
  },
  {
    name: 'no boundary',
    request: 'PUT /db/m',
    body: 'x',
    headers: { 'content-type': 'multipart/related' },
    status: 400,
  },
  {
    name: 'another boundary',
    request: 'PUT /db/m',
    body: related(follows(), ['hello']).replaceAll('--b', '--c'),
    headers: RELATED,
    status: 400,
  },
  {
    name: 'gzip that is none',
    request: 'PUT /db/m',
    body: related(follows({ encoding: 'gzip', encoded_length: 5 }), ['hello']),
    headers: RELATED,
    status: 400,
  },
  { name: 'a stub of nothing', request: 'PUT /db/m', body: { _attachments: { a: { stub: true } } }, status: 412 },
  { name: 'base64 that is none', request: 'PUT /db/m', body: { _attachments: { a: { data: '#' } } }, status: 400 },
  { name: 'neither data nor stub', request: 'PUT /db/m', body: { _attachments: { a: {} } }, status: 400 },
  { name: 'an attachment that is no object', request: 'PUT /db/m', body: { _attachments: { a: 1 } }, status: 400 },
  {
    name: 'a content type with a line end',
    request: 'PUT /db/m',
    body: { _attachments: { a: { data: '', content_type: 'a\r\nb: c' } } },
    status: 400,
  },
  {
    name: 'an MD5 that is another',
    request: 'PUT /db/m/a',
    body: 'hello',
    headers: { 'content-md5': 'AAAA' },
    status: 400,
  },
  { name: 'nothing of all that was stored', request: 'GET /db/m', status: 404, json: { reason: 'missing' } },
  { name: 'the same, whole', request: 'PUT /db/m', body: related(follows(), ['hello']), headers: RELATED, status: 201 },
])

test('row 36: an upload that is cut off leaves nothing', async () => {
  await sendCutOff(`PUT /db/cut/a HTTP/1.1\r\n${HEADERS}Content-Length: 3000000\r\n\r\n`, Buffer.alloc(2_000_000))
  expect((await send(url, 'GET /db/cut')).status).toBe(404)
})

function sendCutOff(head: string, bytes: Uint8Array): Promise<void> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => {
      socket.write(head)
      socket.write(bytes, () => socket.destroy())
    })
    socket.on('close', () => resolve())
  })
}

rows('row 39', [
  {
    name: 'a form',
    request: 'POST /db',
    body: 'a=1',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    status: 415,
  },
  {
    name: 'plain text',
    request: 'POST /db/_bulk_docs',
    body: '{"docs":[]}',
    headers: { 'content-type': 'text/plain' },
    status: 415,
  },
  {
    name: 'a form in parts',
    request: 'POST /db/_compact',
    body: 'x',
    headers: { 'content-type': 'multipart/form-data; boundary=x' },
    status: 415,
  },
])

const NO_CORS = { 'access-control-allow-origin': null, 'access-control-allow-credentials': null }

rows('row 40', [
  {
    name: 'an origin of the list',
    request: 'GET /',
    headers: { origin: 'https://app.example.org' },
    status: 200,
    answers: { 'access-control-allow-origin': 'https://app.example.org', 'access-control-allow-credentials': 'true' },
  },
  ...['https://evil.example.org', 'https://app.example.org.evil.net', 'http://app.example.org', 'null'].map(
    (origin) => ({
      name: `the origin ${origin}`,
      request: 'GET /',
      headers: { origin },
      status: 200,
      answers: { 'access-control-allow-origin': null },
    }),
  ),
])

test('row 40: without a list no origin gets a header', async () => {
  const other = await startServer()
  const { headers } = await send(other.url, 'GET /', undefined, { origin: 'https://app.example.org' })
  for (const name of Object.keys(NO_CORS)) expect(headers.get(name)).toBeNull()
  await other.close()
})

test('row 41: attachments that could run are downloads in a sandbox', async () => {
  const hostile = 'a"; filename=evil.exe\r\nx: ä.html'
  const path = `/db/html/${encodeURIComponent(hostile)}`
  const put = await send(url, `PUT ${path}`, '<script>alert(1)</script>', { 'content-type': 'text/html' })
  expect(put.status).toBe(201)
  const { headers } = await send(url, `GET ${path}`)
  expect(headers.get('content-type')).toBe('text/html')
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  expect(headers.get('content-security-policy')).toBe("sandbox; default-src 'none'")
  expect(headers.get('content-disposition')).toMatch(
    /^attachment; filename="a_; filename=evil.exe__x: _\.html"; filename\*=UTF-8''/,
  )
  expect(headers.get('x')).toBeNull()
  for (const type of ['image/svg+xml', 'application/xhtml+xml', 'text/xml', 'text/javascript', 'application/pdf']) {
    await send(url, `PUT /db/${encodeURIComponent(type)}/a`, 'x', { 'content-type': type })
    const answer = await send(url, `GET /db/${encodeURIComponent(type)}/a`)
    expect(answer.headers.get('content-disposition')).toBe('attachment; filename="a"')
  }
  await send(url, 'PUT /db/png/a', 'x', { 'content-type': 'image/png' })
  expect((await send(url, 'GET /db/png/a')).headers.get('content-disposition')).toBeNull()
})

test('row 41: a content type that no header holds is refused, and served as bytes where it is stored', async () => {
  const attachments = (type: string): object => ({ _attachments: { a: { content_type: type, data: 'aGk=' } } })
  for (const type of ['text/\u4e2d', 'a/b\u2028', 'a\nb: c', 'a\u007f'])
    expect([type, (await send(url, 'PUT /db/typed', attachments(type))).status]).toEqual([type, 400])
  expect((await send(url, 'PUT /db/typed', attachments(''))).status).toBe(201)
  expect((await send(url, 'GET /db/typed/a')).headers.get('content-type')).toBe('application/octet-stream')
  const collection = running.server.database.collection<Record<string, unknown>>('db')
  await collection.put({ _id: 'stored', _attachments: { a: { contentType: 'text/\u4e2d', data: 'aGk=' } } })
  const { status, headers, text } = await send(url, 'GET /db/stored/a')
  expect([status, headers.get('content-type'), text]).toEqual([200, 'application/octet-stream', 'hi'])
  for (const path of ['?attachments=true', '?open_revs=all'])
    expect(
      (await send(url, `GET /db/stored${path}`, undefined, { accept: 'multipart/mixed, multipart/related' })).status,
    ).toBe(200)
})

test('row 36: a multipart request that is refused early leaves its connection of use', async () => {
  const part = `--x\r\n${'a: b\r\n'.repeat(5000)}`
  const body = `${part}${'c'.repeat(500_000)}\r\n--x--`
  const first =
    `PUT /db/parts HTTP/1.1\r\n${HEADERS}content-type: multipart/related; boundary=x\r\n` +
    `content-length: ${body.length}\r\n\r\n${body}`
  const answer = await sendRaw(url, [first, `GET /db HTTP/1.1\r\n${HEADERS}\r\n`], '"db_name":"db"')
  expect(answer).toMatch(/^HTTP\/1\.1 400 [^]*HTTP\/1\.1 200 [^]*"db_name":"db"/)
})

test.each([
  ['a small body', 1000],
  ['a large body', 200_000],
])('row 52: %s that stops is given up when its time is over, and not while it comes', async (_name, length) => {
  const { port } = new URL(url)
  const socket = connect(Number(port), '127.0.0.1')
  let answer = ''
  socket.setEncoding('utf8').on('data', (text: string) => (answer += text))
  const closed = once(socket, 'close')
  socket.write(`PUT /db/slow HTTP/1.1\r\n${HEADERS}Content-Length: ${length}\r\n\r\n{"a":`)
  for (let pieces = 0; pieces < 3; pieces++) {
    await clock.advance(DEFAULT_LIMITS.stallMsMax - 1)
    socket.write(' ')
  }
  await clock.advance(DEFAULT_LIMITS.stallMsMax - 1)
  expect(socket.destroyed).toBe(false)
  await clock.advance(1)
  await closed
  expect(answer).not.toContain(' 201')
  expect(await running.server.database.collection('db').get('slow')).toBeUndefined()
})

test('row 52: a reader that does not read takes no memory, and is forgotten when it leaves', async () => {
  await send(url, 'PUT /wide')
  const docs = Array.from({ length: 60 }, (_, at) => ({ _id: String(at), text: 'x'.repeat(30_000) }))
  for (let round = 0; round < 20; round++)
    await send(url, 'POST /wide/_bulk_docs', { docs: docs.map((doc) => ({ ...doc, _id: `${round}-${doc._id}` })) })
  const { hostname, port } = new URL(url)
  const before = process.memoryUsage.rss()
  const feeds = ['normal', 'longpoll', 'continuous', 'eventsource']
  const paths = Array.from(
    { length: 16 },
    (_, at) => `/wide/_changes?include_docs=true&feed=${feeds[at % 4]}&heartbeat=100`,
  )
  const sockets = paths.map((path) => {
    const socket = connect(Number(port), hostname, () => socket.write(`GET ${path} HTTP/1.1\r\n${HEADERS}\r\n`))
    socket.pause()
    return socket
  })
  const { feeds: open } = contextOf(running.server.http)
  await clock.idle()
  expect(open.count).toBe(sockets.length)
  for (let turn = 0; turn < 10; turn++) await send(url, 'GET /wide')
  // All of it would be sixteen times 36 MB.
  expect(process.memoryUsage.rss() - before).toBeLessThan(300 * MEBIBYTE)
  for (const socket of sockets) socket.destroy()
  await clock.idle()
  expect(open.count).toBe(0)
})

test('row 52: after many feeds that were opened and left nobody listens', async () => {
  const { feeds, updates } = contextOf(running.server.http)
  for (let round = 0; round < 5; round++) {
    const leaving = Array.from({ length: 40 }, async (_, at) => {
      const controller = new AbortController()
      const path = at % 5 === 0 ? '/_db_updates?feed=continuous&since=now' : '/db/_changes?feed=longpoll&since=now'
      const answer = await fetch(url + path, { signal: controller.signal, headers: { authorization: ADMIN } })
      controller.abort()
      await answer.text().catch(() => {})
    })
    await Promise.all(leaving)
  }
  await clock.idle()
  expect([feeds.count, updates.listeners]).toEqual([0, 0])
  const { text } = await send(url, 'GET /metrics')
  expect(text).toMatch(/pannier_open_feeds\{feed="longpoll"\} 0/)
})

test('row 52: more feeds than allowed are refused', async () => {
  const small = await startServer({ limits: { feedsMax: 1 } })
  await send(small.url, 'PUT /db')
  const controller = new AbortController()
  await fetch(`${small.url}/db/_changes?feed=continuous`, {
    signal: controller.signal,
    headers: { authorization: ADMIN },
  })
  expect((await send(small.url, 'GET /db/_changes?feed=continuous')).status).toBe(503)
  controller.abort()
  await small.close()
})
