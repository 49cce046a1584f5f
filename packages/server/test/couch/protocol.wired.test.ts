/** CouchDB's protocol as tables: a request, and what is answered. Scenarios of one table continue where the last one ended. */
import { createHash } from 'node:crypto'
import { virtualEnvironment } from 'pannier/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { contextOf } from '../../src/couch/server-context.ts'
import { ADMIN, inTime, send, startServer } from '../test-server.ts'
import type { Answer, Scenario, TestServer } from '../test-server.ts'

const clock = virtualEnvironment()
let running: TestServer
let url: string

beforeAll(async () => {
  running = await startServer({ environment: clock })
  url = running.url
})
afterAll(() => running.close())

/** A feed with a time-out ends when that is over. */
function ask(request: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer> {
  const answer = send(url, request, body, headers)
  return request.includes('timeout=') ? inTime(clock, answer) : answer
}

/** `prepare` gives what paths and bodies may refer to as `{name}`. */
function table(title: string, prepare: () => Promise<Record<string, string>>, scenarios: readonly Scenario[]): void {
  describe(title, () => {
    let known: Record<string, string> = {}
    const filled = <T>(value: T): T =>
      JSON.parse(JSON.stringify(value), (_name, inner: unknown) =>
        typeof inner === 'string' ? inner.replaceAll(/\{(\w+)\}/g, (all, name: string) => known[name] ?? all) : inner,
      ) as T
    beforeAll(async () => {
      known = await prepare()
    })
    test.each(scenarios)('$name', async (scenario) => {
      const { request, body, headers, status, contains = [], lacks = [], json, answers = {} } = filled(scenario)
      const answer = await ask(request, body, headers)
      expect([answer.status, answer.text]).toEqual([status, answer.text])
      for (const part of contains) expect(answer.text).toContain(part)
      for (const part of lacks) expect(answer.text).not.toContain(part)
      if (json !== undefined) expect(answer.json).toMatchObject(json as object)
      for (const [name, value] of Object.entries(answers)) expect(answer.headers.get(name)).toBe(value)
    })
  })
}

async function database(name: string, docs: readonly object[] = []): Promise<Record<string, string>> {
  await send(url, `PUT /${name}`)
  const { json } = await send(url, `POST /${name}/_bulk_docs`, { docs })
  const results = json as unknown as { id: string; rev: string }[]
  const { json: info } = await send(url, `GET /${name}`)
  const seq = String(info['update_seq'])
  return { ...Object.fromEntries(results.map(({ id, rev }) => [id, rev])), seq, epoch: seq.split('-')[1]! }
}

const TEN = Array.from({ length: 10 }, (_, n) => ({ _id: `d${n}`, n }))

table('the server', async () => ({}), [
  {
    name: 'welcome',
    request: 'GET /',
    status: 200,
    json: {
      couchdb: 'Welcome',
      features: ['scheduler', 'pannier-snapshot-2', 'pannier-wait', 'pannier-local'],
      vendor: { name: 'Pannier' },
    },
  },
  { name: 'up', request: 'GET /_up', status: 200, json: { status: 'ok' } },
  { name: 'uuids', request: 'GET /_uuids?count=2', status: 200, contains: ['uuids'] },
  { name: 'too many uuids', request: 'GET /_uuids?count=5000', status: 400 },
  { name: 'tasks', request: 'GET /_active_tasks', status: 200, contains: ['[]'] },
  { name: 'membership', request: 'GET /_membership', status: 200, json: { all_nodes: ['nonode@nohost'] } },
  { name: 'metrics', request: 'GET /_node/_local/_prometheus', status: 200, contains: ['pannier_http_requests_total'] },
  { name: 'HEAD', request: 'HEAD /', status: 200, answers: { 'x-content-type-options': 'nosniff' } },
  { name: 'an unknown path', request: 'GET /_nothing', status: 404, json: { error: 'not_found' } },
])

const ADMINS_ONLY = { members: { roles: ['_admin'] }, admins: { roles: ['_admin'] } }

table('databases', () => database('dbs'), [
  { name: 'made twice', request: 'PUT /dbs', status: 412, json: { error: 'file_exists' } },
  {
    name: 'with a slash',
    request: 'PUT /dbs%2Fsub',
    status: 201,
    json: { ok: true },
    answers: { location: '/dbs%2Fsub' },
  },
  {
    name: 'listed',
    request: 'GET /_all_dbs?startkey="dbs"&endkey="dbt"',
    status: 200,
    contains: ['["dbs","dbs/sub"]'],
  },
  {
    name: 'told of',
    request: 'GET /dbs',
    status: 200,
    json: { db_name: 'dbs', update_seq: '0-{epoch}', instance_start_time: '0', compact_running: false, doc_count: 0 },
  },
  {
    name: 'several told of',
    request: 'POST /_dbs_info',
    body: { keys: ['dbs', 'none'] },
    status: 200,
    contains: ['"key":"dbs","info":', '"key":"none","error":"not_found"'],
  },
  { name: 'HEAD', request: 'HEAD /dbs', status: 200 },
  { name: 'HEAD of none', request: 'HEAD /none', status: 404 },
  { name: 'a bad name', request: 'PUT /Dbs', status: 400, json: { error: 'illegal_database_name' } },
  { name: 'security at first', request: 'GET /dbs/_security', status: 200, json: ADMINS_ONLY },
  { name: 'security is set', request: 'PUT /dbs/_security', body: { members: { roles: ['x'] } }, status: 200 },
  { name: 'security that is none', request: 'PUT /dbs/_security', body: { members: { roles: 'x' } }, status: 400 },
  { name: 'security', request: 'GET /dbs/_security', status: 200, json: { members: { roles: ['x'] } } },
  { name: 'revisions', request: 'PUT /dbs/_revs_limit', body: 5, status: 200 },
  { name: 'revisions told', request: 'GET /dbs/_revs_limit', status: 200, contains: ['5'] },
  { name: 'revisions that are none', request: 'PUT /dbs/_revs_limit', body: 0, status: 400 },
  { name: 'compacted', request: 'POST /dbs/_compact', body: {}, status: 202 },
  {
    name: 'committed',
    request: 'POST /dbs/_ensure_full_commit',
    body: {},
    status: 201,
    json: { instance_start_time: '0' },
  },
  { name: 'not dropped with a rev', request: 'DELETE /dbs?rev=1-a', status: 400 },
  { name: 'dropped', request: 'DELETE /dbs', status: 200, json: { ok: true } },
  { name: 'dropped twice', request: 'DELETE /dbs', status: 404 },
  { name: 'made anew', request: 'PUT /dbs', status: 201 },
  { name: 'security is not of the old one', request: 'GET /dbs/_security', status: 200, json: ADMINS_ONLY },
  { name: 'so is the limit', request: 'GET /dbs/_revs_limit', status: 200, contains: ['1000'] },
])

table('documents', () => database('docs', [{ _id: 'a', n: 1 }]), [
  {
    name: 'read',
    request: 'GET /docs/a',
    status: 200,
    json: { _id: 'a', _rev: '{a}', n: 1 },
    answers: { etag: '"{a}"' },
  },
  { name: 'not modified', request: 'GET /docs/a', headers: { 'if-none-match': '"{a}"' }, status: 304 },
  { name: 'HEAD', request: 'HEAD /docs/a', status: 200, answers: { etag: '"{a}"' } },
  { name: 'HEAD of none', request: 'HEAD /docs/none', status: 404 },
  { name: 'without a revision', request: 'PUT /docs/a', body: {}, status: 409, json: { error: 'conflict' } },
  { name: 'with another one', request: 'PUT /docs/a', body: { _rev: '1-x' }, status: 409 },
  { name: 'with two', request: 'PUT /docs/a?rev=1-x', body: { _rev: '{a}' }, status: 400 },
  {
    name: 'with If-Match',
    request: 'PUT /docs/a',
    body: { n: 2 },
    headers: { 'if-match': '{a}' },
    status: 201,
    contains: ['"rev":"2-'],
  },
  { name: 'the old content is gone', request: 'GET /docs/a?rev={a}', status: 404, json: { reason: 'missing' } },
  {
    name: 'what is known of revisions',
    request: 'GET /docs/a?revs_info=true',
    status: 200,
    contains: ['"rev":"{a}","status":"missing"'],
  },
  { name: 'revisions', request: 'GET /docs/a?revs=true', status: 200, json: { _revisions: { start: 2 } } },
  { name: 'a local sequence', request: 'GET /docs/a?local_seq=true', status: 200, json: { _local_seq: '2-{epoch}' } },
  { name: 'of no rev format', request: 'GET /docs/a?rev=x', status: 400 },
  {
    name: 'an unknown special field',
    request: 'PUT /docs/b',
    body: { _x: 1 },
    status: 400,
    json: { error: 'doc_validation' },
  },
  { name: 'no object', request: 'PUT /docs/b', body: [], status: 400 },
  { name: 'a reserved id', request: 'PUT /docs/_b', body: {}, status: 400, json: { error: 'illegal_docid' } },
  {
    name: 'posted',
    request: 'POST /docs',
    body: { _id: 'p' },
    status: 201,
    json: { id: 'p' },
    answers: { location: '/docs/p' },
  },
  { name: 'posted without id', request: 'POST /docs', body: {}, status: 201 },
  { name: 'copied', request: 'COPY /docs/a', headers: { destination: 'c%2F1' }, status: 201, json: { id: 'c/1' } },
  { name: 'copied onto another', request: 'COPY /docs/a', headers: { destination: 'p' }, status: 409 },
  { name: 'the copy', request: 'GET /docs/c%2F1', status: 200, json: { n: 2 } },
  { name: 'not deleted without a revision', request: 'DELETE /docs/p', status: 409 },
  {
    name: 'a revision of elsewhere',
    request: 'PUT /docs/r?new_edits=false',
    body: { _rev: '3-c', _revisions: { start: 3, ids: ['c', 'b', 'a'] } },
    status: 201,
    json: { rev: '3-c' },
  },
  { name: 'one beside it', request: 'PUT /docs/r?new_edits=false', body: { _rev: '3-d' }, status: 201 },
  {
    name: 'the winner',
    request: 'GET /docs/r?conflicts=true',
    status: 200,
    json: { _rev: '3-d', _conflicts: ['3-c'] },
  },
  {
    name: 'open revisions',
    request: 'GET /docs/r?open_revs=all',
    status: 200,
    contains: ['"_rev":"3-d"', '"_rev":"3-c"'],
  },
  {
    name: 'certain open revisions',
    request: 'GET /docs/r?open_revs=["3-c","9-z"]',
    status: 200,
    contains: ['3-c', '"missing":"9-z"'],
    lacks: ['3-d'],
  },
  { name: 'the newest of them', request: 'GET /docs/r?open_revs=["2-b"]&latest=true', status: 200, contains: ['3-c'] },
  { name: 'of no document', request: 'GET /docs/none?open_revs=all', status: 404 },
  { name: 'a leaf is deleted', request: 'DELETE /docs/r?rev=3-c', status: 200 },
  {
    name: 'its tombstone',
    request: 'GET /docs/r?deleted_conflicts=true',
    status: 200,
    contains: ['"_deleted_conflicts":["4-'],
  },
  { name: 'deleted', request: 'DELETE /docs/r?rev=3-d', status: 200 },
  { name: 'why', request: 'GET /docs/r', status: 404, json: { reason: 'deleted' } },
  { name: 'deleted twice', request: 'DELETE /docs/r?rev=3-d', status: 404, json: { reason: 'deleted' } },
  {
    name: 'purged',
    request: 'POST /docs/_purge',
    body: { 'c/1': ['1-x'] },
    status: 201,
    json: { purged: { 'c/1': [] } },
  },
])

const DIGEST = createHash('md5').update('0123456789').digest('base64')

table('attachments', () => database('atts'), [
  {
    name: 'put with a new document',
    request: 'PUT /atts/a/x.txt',
    body: '0123456789',
    headers: { 'content-type': 'text/plain' },
    status: 201,
  },
  { name: 'put without a revision', request: 'PUT /atts/a/y.txt', body: 'y', status: 409 },
  {
    name: 'read',
    request: 'GET /atts/a/x.txt',
    status: 200,
    contains: ['0123456789'],
    answers: { etag: `"${DIGEST}"`, 'content-md5': DIGEST, 'content-length': '10', 'content-type': 'text/plain' },
  },
  {
    name: 'HEAD',
    request: 'HEAD /atts/a/x.txt',
    status: 200,
    answers: { 'content-length': '10', 'accept-ranges': 'bytes' },
  },
  { name: 'not modified', request: 'GET /atts/a/x.txt', headers: { 'if-none-match': `"${DIGEST}"` }, status: 304 },
  {
    name: 'a range',
    request: 'GET /atts/a/x.txt',
    headers: { range: 'bytes=2-4' },
    status: 206,
    contains: ['234'],
    answers: { 'content-range': 'bytes 2-4/10' },
  },
  { name: 'the end', request: 'GET /atts/a/x.txt', headers: { range: 'bytes=-3' }, status: 206, contains: ['789'] },
  {
    name: 'from somewhere',
    request: 'GET /atts/a/x.txt',
    headers: { range: 'bytes=8-' },
    status: 206,
    contains: ['89'],
    answers: { 'content-length': '2' },
  },
  {
    name: 'beyond the end',
    request: 'GET /atts/a/x.txt',
    headers: { range: 'bytes=20-' },
    status: 416,
    answers: { 'content-range': 'bytes */10' },
  },
  {
    name: 'several ranges',
    request: 'GET /atts/a/x.txt',
    headers: { range: 'bytes=0-1,4-5' },
    status: 200,
    contains: ['0123456789'],
  },
  {
    name: 'one that is not there',
    request: 'GET /atts/a/z',
    status: 404,
    json: { reason: 'Document is missing attachment' },
  },
  { name: 'of no document', request: 'GET /atts/none/z', status: 404, json: { reason: 'missing' } },
  { name: 'the stub', request: 'GET /atts/a', status: 200, contains: ['"stub":true', '"length":10'] },
  { name: 'inline', request: 'GET /atts/a?attachments=true', status: 200, contains: ['"data":"MDEyMzQ1Njc4OQ=="'] },
  {
    name: 'in parts',
    request: 'GET /atts/a?attachments=true',
    headers: { accept: 'multipart/related' },
    status: 200,
    contains: ['"follows":true', 'filename="x.txt"', '0123456789'],
  },
  {
    name: 'revisions in parts',
    request: 'GET /atts/a?open_revs=all&revs=true',
    headers: { accept: 'multipart/mixed' },
    status: 200,
    contains: ['multipart/related; boundary=', '0123456789'],
  },
  {
    name: 'a missing revision in parts',
    request: 'GET /atts/a?open_revs=["9-z"]',
    headers: { accept: 'multipart/mixed' },
    status: 200,
    contains: ['error="true"', '"missing":"9-z"'],
  },
  {
    name: 'a design document can have some',
    request: 'PUT /atts/_design/d/x',
    body: 'x',
    status: 201,
    json: { id: '_design/d' },
  },
  { name: 'read there', request: 'GET /atts/_design/d/x', status: 200, contains: ['x'] },
  {
    name: 'in a list',
    request: 'GET /atts/_all_docs?include_docs=true&attachments=true&key="a"',
    status: 200,
    contains: ['"data":"MDEyMzQ1Njc4OQ=="'],
  },
  {
    name: 'in a feed',
    request: 'GET /atts/_changes?include_docs=true&attachments=true',
    status: 200,
    contains: ['"data":"MDEyMzQ1Njc4OQ=="'],
  },
  { name: 'none is removed that is not there', request: 'DELETE /atts/a/z?rev=1-x', status: 409 },
])

test('each form of a list and of a feed has the documents as they are, with the content of their attachments', async () => {
  await database('contents')
  await send(url, 'PUT /contents/a', { a: 1 })
  await send(url, 'PUT /contents/b/one', 'one')
  await send(url, 'PUT /contents/c', { _attachments: { x: { data: 'eA==' }, y: { data: '' } }, text: 'a\nb' })
  const documents = await Promise.all(
    ['a', 'b', 'c'].map(async (id) => (await send(url, `GET /contents/${id}?attachments=true`)).json),
  )
  const read = async (path: string): Promise<string> =>
    (await send(url, `GET /contents/${path}include_docs=true&attachments=true`)).text
  const docsOf = (rows: unknown): unknown => (rows as { doc: unknown }[]).map(({ doc }) => doc)
  expect(docsOf((JSON.parse(await read('_all_docs?')) as { rows: unknown }).rows)).toEqual(documents)
  for (const form of ['normal', 'longpoll'])
    expect(docsOf((JSON.parse(await read(`_changes?feed=${form}&`)) as { results: unknown }).results)).toEqual(
      documents,
    )
  const lines = (await read('_changes?feed=continuous&limit=3&')).trim().split('\n')
  expect(docsOf(lines.slice(0, 3).map((line) => JSON.parse(line)))).toEqual(documents)
  const events = (await read('_changes?feed=eventsource&limit=3&')).trim().split('\n\n')
  expect(docsOf(events.map((event) => JSON.parse(/^data: (.*)$/m.exec(event)![1]!)))).toEqual(documents)
  for (const event of events) expect(event).toMatch(/^id: \d+-/m)
})

test('what a client knows of attachments is left out', async () => {
  await database('since')
  const first = await send(url, 'PUT /since/a/one', '1')
  const rev = String(first.json['rev'])
  await send(url, `PUT /since/a/two?rev=${rev}`, '22')
  const known = encodeURIComponent(JSON.stringify([rev]))
  const { json } = await send(url, `GET /since/a?atts_since=${known}`)
  expect(json['_attachments']).toMatchObject({ one: { stub: true }, two: { data: 'MjI=' } })
  const bulk = await send(url, 'POST /since/_bulk_get?attachments=true&revs=true', {
    docs: [{ id: 'a', rev: json['_rev'], atts_since: [rev] }],
  })
  expect(bulk.text).toContain('"revpos":2,"data":"MjI="')
  expect(bulk.text.match(/"data"/g)).toHaveLength(1)
})

table('lists', () => database('lists', [...TEN, { _id: '_design/x', language: 'query' }]), [
  { name: 'all', request: 'GET /lists/_all_docs', status: 200, json: { total_rows: 11, offset: 0 } },
  {
    name: 'with a sequence',
    request: 'GET /lists/_all_docs?update_seq=true&limit=0',
    status: 200,
    json: { update_seq: '11-{epoch}', rows: [] },
  },
  {
    name: 'from, to',
    request: 'GET /lists/_all_docs?startkey="d2"&endkey="d4"&inclusive_end=false',
    status: 200,
    json: { offset: 3, rows: [{ id: 'd2' }, { id: 'd3' }] },
  },
  {
    name: 'backwards',
    request: 'GET /lists/_all_docs?descending=true&startkey="d4"&limit=2',
    status: 200,
    json: { rows: [{ id: 'd4' }, { id: 'd3' }] },
  },
  { name: 'beyond all text', request: 'GET /lists/_all_docs?startkey={}', status: 200, json: { rows: [] } },
  { name: 'before all text', request: 'GET /lists/_all_docs?endkey=null', status: 200, json: { rows: [] } },
  {
    name: 'up to all text',
    request: 'GET /lists/_all_docs?startkey=null&endkey={}&skip=9',
    status: 200,
    json: { rows: [{ id: 'd8' }, { id: 'd9' }] },
  },
  {
    name: 'one key',
    request: 'GET /lists/_all_docs?key="d3"&include_docs=true',
    status: 200,
    json: { rows: [{ doc: { n: 3 } }] },
  },
  {
    name: 'keys in the URL',
    request: 'GET /lists/_all_docs?keys=["d1","x"]',
    status: 200,
    json: { rows: [{ id: 'd1' }, { key: 'x', error: 'not_found' }] },
  },
  {
    name: 'keys in the body',
    request: 'POST /lists/_all_docs',
    body: { keys: ['d1', 'd0'] },
    status: 200,
    json: { rows: [{ id: 'd1' }, { id: 'd0' }] },
  },
  {
    name: 'bounds in the body',
    request: 'POST /lists/_all_docs',
    body: { start_key: 'd9' },
    status: 200,
    json: { rows: [{ id: 'd9' }] },
  },
  {
    name: 'several lists',
    request: 'POST /lists/_all_docs/queries',
    body: { queries: [{ keys: ['d1'] }, { limit: 1 }] },
    status: 200,
    json: { results: [{ rows: [{ id: 'd1' }] }, { total_rows: 11 }] },
  },
  { name: 'design documents', request: 'GET /lists/_design_docs', status: 200, json: { rows: [{ id: '_design/x' }] } },
  { name: 'keys that are no list', request: 'POST /lists/_all_docs', body: { keys: 1 }, status: 400 },
  { name: 'a flag that is none', request: 'GET /lists/_all_docs?descending=maybe', status: 400 },
  ...['key="d1"', 'startkey="d1"', 'end_key="d1"'].map((bound) => ({
    name: `keys beside ${bound}`,
    request: `POST /lists/_all_docs?${bound}`,
    body: { keys: ['d1'] },
    status: 400,
    json: { error: 'query_parse_error', reason: '`keys` is incompatible with `key`, `start_key` and `end_key`' },
  })),
  { name: 'no keys beside a bound', request: 'POST /lists/_all_docs?key="d1"', body: { keys: [] }, status: 200 },
  ...['group=true', 'group_level=1', 'reduce=true'].map((option) => ({
    name: `an option of reduces: ${option}`,
    request: `GET /lists/_all_docs?${option}`,
    status: 400,
    json: { error: 'query_parse_error' },
  })),
  { name: 'without a reduce', request: 'GET /lists/_all_docs?reduce=false&group=false', status: 200 },
  {
    name: 'ids as bounds, where no keys are',
    request: 'GET /lists/_all_docs?startkey_docid=d2&end_key_doc_id=d3',
    status: 200,
    json: { rows: [{ id: 'd2' }, { id: 'd3' }] },
  },
  {
    name: 'ids as bounds, backwards, beside a key',
    request: 'GET /lists/_all_docs?startkey="d4"&startkey_docid=d9&endkey_docid=d3&descending=true',
    status: 200,
    json: { rows: [{ id: 'd4' }, { id: 'd3' }] },
  },
])

table('_bulk_docs, _bulk_get, _revs_diff', () => database('bulk', TEN), [
  {
    name: 'written one by one',
    request: 'POST /bulk/_bulk_docs',
    body: { docs: [{ _id: 'd0' }, { _id: 'e' }, { _id: 'e' }] },
    status: 201,
    contains: ['"id":"d0","error":"conflict"', '{"ok":true,"id":"e"'],
  },
  { name: 'no list', request: 'POST /bulk/_bulk_docs', body: { docs: {} }, status: 400 },
  {
    name: 'new_edits: false tells failures only',
    request: 'POST /bulk/_bulk_docs',
    body: { new_edits: false, docs: [{ _id: 'f', _rev: '1-f' }] },
    status: 201,
    contains: ['[]'],
  },
  {
    name: 'one entry for each reference',
    request: 'POST /bulk/_bulk_get',
    body: {
      docs: [
        { id: 'd1', rev: '{d1}' },
        { id: 'd1', rev: '9-z' },
        { id: 'd1', rev: '{d1}' },
        { id: 'f' },
        { id: 'none' },
        { id: '_x' },
        { id: 'd2', rev: 'bad' },
      ],
    },
    status: 200,
    json: {
      results: [
        { id: 'd1', docs: [{ ok: { n: 1 } }] },
        { id: 'd1', docs: [{ error: { rev: '9-z', error: 'not_found' } }] },
        { id: 'd1', docs: [{ ok: { n: 1 } }] },
        { id: 'f', docs: [{ ok: { _rev: '1-f' } }] },
        { id: 'none', docs: [{ error: { error: 'not_found' } }] },
        { id: '_x', docs: [{ error: { error: 'illegal_docid' } }] },
        { id: 'd2', docs: [{ error: { error: 'bad_request' } }] },
      ],
    },
  },
  {
    name: 'with revisions',
    request: 'POST /bulk/_bulk_get?revs=true',
    body: { docs: [{ id: 'd1' }] },
    status: 200,
    contains: ['_revisions'],
  },
  {
    name: 'without',
    request: 'POST /bulk/_bulk_get',
    body: { docs: [{ id: 'd1' }] },
    status: 200,
    lacks: ['_revisions'],
  },
  {
    name: 'what is missing',
    request: 'POST /bulk/_revs_diff',
    body: { d1: ['{d1}', '2-z'], none: ['1-a'] },
    status: 200,
    json: { d1: { missing: ['2-z'], possible_ancestors: ['{d1}'] }, none: { missing: ['1-a'] } },
  },
  {
    name: 'nothing is missing',
    request: 'POST /bulk/_revs_diff',
    body: { d1: ['{d1}'] },
    status: 200,
    contains: ['{}'],
  },
  {
    name: 'the older form',
    request: 'POST /bulk/_missing_revs',
    body: { d1: ['2-z'] },
    status: 200,
    json: { missing_revs: { d1: ['2-z'] } },
  },
  { name: 'a bad revision', request: 'POST /bulk/_revs_diff', body: { d1: ['z'] }, status: 400 },
  {
    name: 'a document named twice',
    request: 'POST /bulk/_revs_diff',
    body: '{"d1":["{d1}","2-z"], "none":[] ,"d\\u0031":["3-z","2-z"]}',
    headers: { 'content-type': 'application/json' },
    status: 200,
    contains: ['{"d1":{"missing":["2-z","3-z"],"possible_ancestors":["{d1}"]}}'],
  },
  {
    name: 'a value that has a name twice',
    request: 'POST /bulk/_revs_diff',
    body: '{"d1":[{"a":1,"a":1}]}',
    headers: { 'content-type': 'application/json' },
    status: 400,
  },
  ...[
    '{"a":["1-a"],}',
    '{"a":["1-a"]}}',
    '{"a":["1-a"]}{',
    '{,"a":[]}',
    '{"a" "b":[]}',
    '["a"]',
    '{"a":["1-a"]',
    '{]',
    '',
  ].map((body) => ({
    name: `no JSON object: ${body}`,
    request: 'POST /bulk/_revs_diff',
    body,
    headers: { 'content-type': 'application/json' },
    status: 400,
  })),
  {
    name: 'what can not be here is missing',
    request: 'POST /bulk/_revs_diff',
    body: {
      _no: ['1-a'],
      '': ['1-a'],
      ['x'.repeat(5000)]: ['1-a'],
      d1: [`1-${'r'.repeat(300)}`, '99999999999999999999-a'],
    },
    status: 200,
    json: {
      _no: { missing: ['1-a'] },
      '': { missing: ['1-a'] },
      ['x'.repeat(5000)]: { missing: ['1-a'] },
      d1: { missing: [`1-${'r'.repeat(300)}`, '99999999999999999999-a'] },
    },
  },
])

const RAW = { 'content-type': 'application/json' }

table('documents, in detail', () => database('detail', [{ _id: 'a', n: 1 }]), [
  { name: 'version', request: 'GET /', status: 200, json: { version: '3.5.0' } },
  ...['//detail//a', '/detail//a', '//detail/a/'].map((path) => ({
    name: `slashes: ${path}`,
    request: `GET ${path}`,
    status: 200,
    json: { _id: 'a' },
  })),
  { name: 'a slash before', request: 'GET //_all_dbs', status: 200, contains: ['"detail"'] },
  {
    name: 'where it was put',
    request: 'PUT /detail/b%2Fc?x=1',
    body: { n: 1 },
    status: 201,
    answers: { location: '/detail/b%2Fc' },
  },
  ...['1', 'null', '""', '"_x"', '{}'].map((id) => ({
    name: `an id that is none: ${id}`,
    request: 'PUT /detail/x',
    body: `{"_id":${id}}`,
    headers: RAW,
    status: 400,
    json: { error: 'illegal_docid' },
  })),
  ...['GET', 'PUT', 'DELETE'].map((method) => ({
    name: `${method} with an empty revision`,
    request: `${method} /detail/a?rev=`,
    ...(method === 'PUT' && { body: {} }),
    status: 400,
  })),
  {
    name: 'copied to an absolute URL',
    request: 'COPY /detail/a',
    headers: { destination: 'http://example.org/detail/z' },
    status: 400,
    json: { reason: 'Destination URL must be relative.' },
  },
  {
    name: 'copied',
    request: 'COPY /detail/a',
    headers: { destination: 'z' },
    status: 201,
    answers: { location: '/detail/z' },
  },
  {
    name: 'a stub of a later revision',
    request: 'PUT /detail/a',
    body: { _rev: '{a}', _attachments: { x: { stub: true, revpos: 7 } } },
    status: 412,
    json: { error: 'missing_stub' },
  },
  { name: 'GET of an unknown path', request: 'GET /detail/_nothing', status: 404, json: { reason: 'missing' } },
  { name: 'PUT of an unknown path', request: 'PUT /detail/_nothing', body: {}, status: 400 },
  { name: 'PATCH', request: 'PATCH /detail/a', body: {}, status: 405, json: { error: 'method_not_allowed' } },
  {
    name: 'an edit that is a conflict tells no revision',
    request: 'POST /detail/_bulk_docs',
    body: { docs: [{ _id: 'a', _rev: '1-zzz' }] },
    status: 201,
    contains: ['[{"id":"a","error":"conflict","reason":"Document update conflict."}]'],
  },
  {
    name: 'all or nothing',
    request: 'POST /detail/_bulk_docs',
    body: { docs: [{ _id: 'q' }], all_or_nothing: true },
    status: 417,
    json: [{ id: 'q', error: 'not_implemented' }],
  },
  { name: 'of which nothing was written', request: 'GET /detail/q', status: 404 },
  {
    name: 'a replicated document without a revision',
    request: 'POST /detail/_bulk_docs',
    body: { docs: [{ _id: 'q' }], new_edits: false },
    status: 400,
  },
  {
    name: 'what a replicator has written',
    request: 'PUT /detail/job',
    body: { _replication_state: 'completed', _replication_stats: { docs_read: 1 } },
    status: 201,
  },
  {
    name: 'is read',
    request: 'GET /detail/job',
    status: 200,
    json: { _replication_state: 'completed', _replication_stats: { docs_read: 1 } },
  },
  { name: 'another field of theirs', request: 'PUT /detail/job2', body: { _replication_x: 1 }, status: 400 },
  { name: 'design documents only', request: 'GET /detail/_design_docs?key="a"', status: 200, json: { rows: [] } },
  {
    name: 'members of _users',
    request: 'PUT /_users/_security',
    body: { members: { roles: [] }, admins: { roles: ['_admin'] } },
    status: 403,
    json: { error: 'forbidden' },
  },
  { name: 'admins of _users', request: 'PUT /_users/_security', body: { admins: { roles: ['_admin'] } }, status: 200 },
])

test('half of a surrogate pair that has come otherwise goes out as U+FFFD, so that CouchDB can read the answer', async () => {
  await send(url, 'PUT /halves')
  const collection = running.server.database.collection<Record<string, unknown>>('halves')
  await collection.put({ _id: 'h', 'n\udc00': ['\ud800', '\\ud800', '\\\ud800', '\ud83d\ude00', 'plain'] })
  const expected = { 'n\ufffd': ['\ufffd', '\\ud800', '\\\ufffd', '\ud83d\ude00', 'plain'] }
  const parts = { accept: 'multipart/mixed' }
  const requests: [string, unknown?, Record<string, string>?][] = [
    ['GET /halves/h'],
    ['GET /halves/_all_docs?include_docs=true'],
    ['GET /halves/_changes?include_docs=true'],
    ['GET /halves/_changes?include_docs=true&feed=continuous&timeout=50'],
    ['GET /halves/h?open_revs=all'],
    ['GET /halves/h?open_revs=all', undefined, parts],
    ['POST /halves/_bulk_get', { docs: [{ id: 'h' }] }],
    ['POST /halves/_bulk_get', { docs: [{ id: 'h' }] }, parts],
    ['POST /halves/_find', { selector: {} }],
  ]
  for (const [request, body, headers] of requests) {
    const { text } = await ask(request, body, headers)
    expect([request, text.includes(JSON.stringify(expected).slice(1, -1))]).toEqual([request, true])
  }
})

test('each answer has the id of its request, and the log the same', async () => {
  const ids = await Promise.all([1, 2].map(async () => (await send(url, 'GET /')).headers.get('x-couch-request-id')))
  expect(new Set(ids).size).toBe(2)
  expect(ids.every((id) => id !== null && id.length > 4)).toBe(true)
})

table('_local documents', () => database('local'), [
  { name: 'none', request: 'GET /local/_local/c', status: 404 },
  {
    name: 'made',
    request: 'PUT /local/_local/c',
    body: { a: 1 },
    status: 201,
    json: { id: '_local/c', rev: '0-1' },
    answers: { etag: '"0-1"' },
  },
  { name: 'replaced', request: 'PUT /local/_local/c', body: { _rev: '0-1', a: 2 }, status: 201, json: { rev: '0-2' } },
  { name: 'the last one wins', request: 'PUT /local/_local/c', body: { a: 3 }, status: 201, json: { rev: '0-3' } },
  { name: 'with an older revision', request: 'PUT /local/_local/c', body: { _rev: '0-1', a: 4 }, status: 201 },
  { name: 'with one of another life', request: 'PUT /local/_local/c', body: { _rev: '0-9', a: 5 }, status: 409 },
  {
    name: 'read',
    request: 'GET /local/_local/c',
    status: 200,
    json: { _id: '_local/c', _rev: '0-4', a: 4 },
    answers: { etag: '"0-4"' },
  },
  { name: 'its head', request: 'HEAD /local/_local/c', status: 200, answers: { etag: '"0-4"' } },
  ...['GET {d}/_show/x/a', 'GET {d}/_list/x/v', 'POST {d}/_update/u', 'PUT {d}/_update/u/a', 'GET {d}/_rewrite'].map(
    (request) => ({
      name: `${request} is not offered`,
      request: request.replace('{d}', '/local/_design/d'),
      status: 501,
      ...(request.startsWith('POST') && { body: {} }),
      json: { error: 'not_implemented' },
    }),
  ),
  { name: 'with a slash', request: 'PUT /local/_local/d%2F1', body: {}, status: 201, json: { id: '_local/d/1' } },
  {
    name: 'listed',
    request: 'GET /local/_local_docs',
    status: 200,
    json: { rows: [{ id: '_local/c' }, { id: '_local/d/1' }] },
  },
  { name: 'in no other list', request: 'GET /local/_all_docs', status: 200, json: { total_rows: 0, rows: [] } },
  {
    name: 'deleted, whatever it was',
    request: 'DELETE /local/_local/c?rev=0-9',
    status: 200,
    json: { rev: '0-0' },
    answers: { etag: '"0-0"' },
  },
  { name: 'deleted twice', request: 'DELETE /local/_local/c?rev=0-2', status: 404 },
  { name: 'made again', request: 'PUT /local/_local/c', body: { a: 1 }, status: 201, json: { rev: '0-1' } },
  {
    name: 'deleted by a PUT',
    request: 'PUT /local/_local/c',
    body: { _rev: '0-1', _deleted: true },
    status: 200,
    json: { id: '_local/c', rev: '0-0' },
  },
  { name: 'and gone', request: 'GET /local/_local/c', status: 404 },
  {
    name: 'of many',
    request: 'POST /local/_bulk_docs',
    body: { docs: [{ _id: '_local/a', n: 1 }, { _id: 'b' }, { _id: '_local/d/1', _deleted: true }] },
    status: 201,
    json: [
      { ok: true, id: '_local/a', rev: '0-1' },
      { ok: true, id: 'b' },
      { ok: true, id: '_local/d/1', rev: '0-0' },
    ],
  },
  { name: 'of one', request: 'POST /local', body: { _id: '_local/x', n: 2 }, status: 201, json: { id: '_local/x' } },
  {
    name: 'attachments are passed over',
    request: 'PUT /local/_local/x',
    body: { n: 3, _attachments: { a: { data: 'aGk=' } } },
    status: 201,
  },
  { name: 'without them', request: 'GET /local/_local/x', status: 200, contains: ['"n":3}'], lacks: ['_attachments'] },
  ...['GET', 'PUT', 'DELETE'].map((method) => ({
    name: `${method} of an attachment`,
    request: `${method} /local/_local/x/foo.txt`,
    status: 400,
    json: { reason: '_local documents do not accept attachments.' },
  })),
  { name: 'another field of ours', request: 'PUT /local/_local/x', body: { _foo: 1 }, status: 400 },
  { name: 'put under an encoded slash', request: 'PUT /local/_local%2Fy%2Fz', body: { n: 1 }, status: 201 },
  {
    name: 'read under an encoded slash',
    request: 'GET /local/_local%2fy%2Fz',
    status: 200,
    json: { _id: '_local/y/z', n: 1 },
  },
  { name: 'deleted under an encoded slash', request: 'DELETE /local/_local%2Fy%2Fz', status: 200 },
  {
    name: 'some, named in a POST',
    request: 'POST /local/_local_docs',
    body: { keys: ['_local/x', '_local/none'] },
    status: 200,
    json: {
      rows: [
        { id: '_local/x', value: { rev: '0-2' } },
        { key: '_local/none', error: 'not_found' },
      ],
    },
  },
  {
    name: 'one, by key',
    request: 'GET /local/_local_docs?key="_local/a"&include_docs=true',
    status: 200,
    json: { rows: [{ id: '_local/a', doc: { n: 1 } }] },
  },
  {
    name: 'from one on',
    request: 'GET /local/_local_docs?startkey="_local/b"',
    status: 200,
    json: { rows: [{ id: '_local/x' }] },
  },
  {
    name: 'up to one',
    request: 'GET /local/_local_docs?endkey="_local/b"',
    status: 200,
    json: { rows: [{ id: '_local/a' }] },
  },
])

table('_changes', () => database('feed', [...TEN, { _id: '_design/x', language: 'query' }]), [
  { name: 'all', request: 'GET /feed/_changes', status: 200, json: { last_seq: '11-{epoch}', pending: 0 } },
  {
    name: 'from somewhere',
    request: 'GET /feed/_changes?since=9-{epoch}',
    status: 200,
    json: { results: [{ id: 'd9', seq: '10-{epoch}' }, { id: '_design/x' }] },
  },
  {
    name: 'some',
    request: 'GET /feed/_changes?limit=2',
    status: 200,
    json: { results: [{ id: 'd0' }, { id: 'd1' }], last_seq: '2-{epoch}', pending: 9 },
  },
  {
    name: 'none, but what is pending',
    request: 'GET /feed/_changes?limit=0&since=4-{epoch}',
    status: 200,
    json: { results: [], last_seq: '4-{epoch}', pending: 7 },
  },
  {
    name: 'of another life of the database',
    request: 'GET /feed/_changes?since=9-other&limit=1',
    status: 200,
    json: { results: [{ id: 'd0' }] },
  },
  {
    name: 'of a future that was lost',
    request: 'GET /feed/_changes?since=99-{epoch}&limit=1',
    status: 200,
    json: { results: [{ id: 'd0' }] },
  },
  { name: 'of no form', request: 'GET /feed/_changes?since=x', status: 400 },
  { name: 'now', request: 'GET /feed/_changes?since=now', status: 200, json: { results: [], last_seq: '11-{epoch}' } },
  {
    name: 'backwards',
    request: 'GET /feed/_changes?descending=true&limit=2',
    status: 200,
    json: { results: [{ id: '_design/x' }, { id: 'd9' }], last_seq: '10-{epoch}' },
  },
  {
    name: 'with documents',
    request: 'GET /feed/_changes?include_docs=true&limit=1',
    status: 200,
    json: { results: [{ doc: { n: 0 } }] },
  },
  {
    name: 'certain ids',
    request: 'POST /feed/_changes?filter=_doc_ids',
    body: { doc_ids: ['d3'] },
    status: 200,
    json: { results: [{ id: 'd3' }] },
  },
  {
    name: 'certain ids in the URL',
    request: 'GET /feed/_changes?filter=_doc_ids&doc_ids=["d4"]',
    status: 200,
    json: { results: [{ id: 'd4' }] },
  },
  {
    name: 'a selector that is none, in the words of CouchDB',
    request: 'POST /feed/_changes?filter=_selector',
    body: { selector: 'foo' },
    status: 400,
    json: { error: 'bad_request', reason: 'Selector error: expected a JSON object' },
  },
  {
    name: 'a selector',
    request: 'POST /feed/_changes?filter=_selector',
    body: { selector: { n: { $gt: 8 } } },
    status: 200,
    json: { results: [{ id: 'd9' }], last_seq: '11-{epoch}' },
  },
  {
    name: 'a selector that is none',
    request: 'POST /feed/_changes?filter=_selector',
    body: { selector: { n: { $no: 8 } } },
    status: 400,
  },
  {
    name: 'design documents',
    request: 'GET /feed/_changes?filter=_design',
    status: 200,
    json: { results: [{ id: '_design/x' }] },
  },
  { name: 'a function that is not there', request: 'GET /feed/_changes?filter=a/b', status: 404 },
  {
    name: 'few sequence numbers',
    request: 'GET /feed/_changes?seq_interval=5&limit=5',
    status: 200,
    contains: ['"seq":"1-{epoch}","id":"d0"', '"seq":null,"id":"d1"', '"seq":null,"id":"d4"'],
  },
  { name: 'a feed that is none', request: 'GET /feed/_changes?feed=x', status: 400 },
  {
    name: 'longpoll with news',
    request: 'GET /feed/_changes?feed=longpoll&since=10-{epoch}',
    status: 200,
    json: { results: [{ id: '_design/x' }] },
  },
  {
    name: 'longpoll without, for a while',
    request: 'GET /feed/_changes?feed=longpoll&since=now&timeout=50',
    status: 200,
    json: { results: [], last_seq: '11-{epoch}' },
  },
  {
    name: 'continuous',
    request: 'GET /feed/_changes?feed=continuous&since=9-{epoch}&timeout=50',
    status: 200,
    contains: ['"id":"d9"', '{"last_seq":"11-{epoch}","pending":0}'],
    lacks: ['results'],
  },
  {
    name: 'continuous up to a limit',
    request: 'GET /feed/_changes?feed=continuous&limit=1&heartbeat=true',
    status: 200,
    contains: ['"id":"d0"', '{"last_seq":"1-{epoch}"'],
  },
  {
    name: 'events',
    request: 'GET /feed/_changes?feed=eventsource&timeout=50',
    headers: { 'last-event-id': '9-{epoch}' },
    status: 200,
    contains: ['data: {"seq":"10-{epoch}","id":"d9"', 'id: 11-{epoch}'],
    lacks: ['"d8"'],
    answers: { 'content-type': 'text/event-stream' },
  },
])

table('Mango', () => database('mango', TEN), [
  {
    name: 'without an index',
    request: 'POST /mango/_find',
    body: { selector: { n: { $gt: 7 } }, fields: ['_id'] },
    status: 200,
    json: {
      docs: [{ _id: 'd8' }, { _id: 'd9' }],
      warning: 'No matching index found, create an index to optimize query time.',
    },
  },
  {
    name: 'an index',
    request: 'POST /mango/_index',
    body: { index: { fields: ['n'] }, ddoc: 'by', name: 'n' },
    status: 200,
    json: { result: 'created', id: '_design/by', name: 'n' },
  },
  {
    name: 'it is there',
    request: 'POST /mango/_index',
    body: { index: { fields: ['n'] }, ddoc: 'by', name: 'n' },
    status: 200,
    json: { result: 'exists' },
  },
  {
    name: 'of a field that is none',
    request: 'POST /mango/_index',
    body: { index: { fields: [{ n: 2 }] } },
    status: 400,
    json: { error: 'invalid_sort_field' },
  },
  {
    name: 'a second one in its document',
    request: 'POST /mango/_index',
    body: {
      index: { fields: [{ m: 'desc' }], partial_filter_selector: { n: { $gt: 3 } } },
      ddoc: '_design/by',
      name: 'm',
    },
    status: 200,
    json: { result: 'created' },
  },
  {
    name: 'listed',
    request: 'GET /mango/_index',
    status: 200,
    json: {
      total_rows: 3,
      indexes: [
        { name: '_all_docs' },
        { ddoc: '_design/by', name: 'n', def: { fields: [{ n: 'asc' }] } },
        { name: 'm', def: { partial_filter_selector: { n: { $gt: 3 } } } },
      ],
    },
  },
  {
    name: 'stored as in CouchDB',
    request: 'GET /mango/_design/by',
    status: 200,
    json: {
      language: 'query',
      views: { n: { map: { fields: { n: 'asc' } }, options: { def: { fields: [{ n: 'asc' }] } } } },
    },
  },
  {
    name: 'a page',
    request: 'POST /mango/_find',
    body: { selector: {}, sort: [{ n: 'desc' }], limit: 2, fields: ['n'] },
    status: 200,
    json: { docs: [{ n: 9 }, { n: 8 }], bookmark: 'eyJza2lwIjoyfQ' },
  },
  {
    name: 'the next one',
    request: 'POST /mango/_find',
    body: { selector: {}, sort: [{ n: 'desc' }], limit: 2, fields: ['n'], bookmark: 'eyJza2lwIjoyfQ' },
    status: 200,
    json: { docs: [{ n: 7 }, { n: 6 }] },
  },
  {
    name: 'a bookmark that is none',
    request: 'POST /mango/_find',
    body: { selector: {}, bookmark: 'x' },
    status: 400,
    json: { error: 'invalid_bookmark' },
  },
  {
    name: 'statistics',
    request: 'POST /mango/_find',
    body: { selector: { n: 1 }, execution_stats: true },
    status: 200,
    json: { execution_stats: { results_returned: 1 } },
  },
  {
    name: 'an index that is not there',
    request: 'POST /mango/_find',
    body: { selector: { n: 1 }, use_index: 'x' },
    status: 200,
    contains: ['was not used because it does not exist'],
  },
  { name: 'no selector', request: 'POST /mango/_find', body: {}, status: 400, json: { error: 'missing_required_key' } },
  { name: 'an unknown operator', request: 'POST /mango/_find', body: { selector: { n: { $no: 1 } } }, status: 400 },
  {
    name: 'explained',
    request: 'POST /mango/_explain',
    body: { selector: { n: 3 } },
    status: 200,
    json: { dbname: 'mango', selector: { n: 3 } },
  },
  { name: 'one index is deleted', request: 'DELETE /mango/_index/by/json/m', status: 200, json: { ok: true } },
  { name: 'with the other its document goes', request: 'DELETE /mango/_index/_design/by/json/n', status: 200 },
  { name: 'indexes that are gone', request: 'GET /mango/_index', status: 200, json: { total_rows: 1 } },
  { name: 'deleted twice', request: 'DELETE /mango/_index/by/json/n', status: 404 },
])

test('indexes follow design documents, however they have come', async () => {
  await database('follow', TEN)
  const view = { map: { fields: { n: 'asc' } }, options: { def: { fields: ['n'] } } }
  const { json } = await send(url, 'PUT /follow/_design/q', { language: 'query', views: { n: view } })
  expect((await send(url, 'GET /follow/_index')).json).toMatchObject({ total_rows: 2 })
  const collection = running.server.database.collection('follow')
  expect((await collection.indexes()).map(({ name }) => name)).toEqual(['_design/q/n'])
  await collection.delete({ _id: '_design/q', _rev: String(json['rev']) })
  await clock.idle()
  expect((await send(url, 'GET /follow/_index')).json['total_rows']).toBe(1)
  expect(await collection.indexes()).toEqual([])
})

test('a waiting feed reports writes, and ends with its database', async () => {
  await database('live')
  const waiting = send(url, 'GET /live/_changes?feed=longpoll&since=now&heartbeat=100')
  const endless = send(url, 'GET /live/_changes?feed=continuous&heartbeat=100')
  const { feeds } = contextOf(running.server.http)
  await clock.idle()
  expect(feeds.count).toBe(2)
  await send(url, 'PUT /live/a', {})
  expect((await waiting).json).toMatchObject({ results: [{ id: 'a' }], pending: 0 })
  await send(url, 'DELETE /live')
  expect((await endless).text).toContain('"id":"a"')
  await clock.idle()
  expect(feeds.count).toBe(0)
})

test('a feed is counted among the requests when its client leaves', async () => {
  await database('left')
  const counted = async (): Promise<number> => {
    const { text } = await send(url, 'GET /metrics')
    const figure = /^pannier_http_requests_total\{method="POST",route="\/:db\/_changes",status="200"\} (\d+)$/m
    return Number(figure.exec(text)?.[1] ?? 0)
  }
  const before = await counted()
  const left = new AbortController()
  const headers = { authorization: ADMIN, 'content-type': 'application/json' }
  const asked = { method: 'POST', headers, body: '{}', signal: left.signal }
  expect((await fetch(`${url}/left/_changes?feed=continuous&heartbeat=5000`, asked)).status).toBe(200)
  expect(await counted()).toBe(before)
  left.abort()
  await clock.idle()
  expect(await counted()).toBe(before + 1)
})

test('_db_updates', async () => {
  const { json } = await send(url, 'GET /_db_updates?since=now')
  const since = String(json['last_seq'])
  await send(url, 'PUT /updates')
  await send(url, 'PUT /updates/a', {})
  await clock.idle()
  expect((await send(url, `GET /_db_updates?since=${since}`)).text).toContain('"type":"updated"')
  await send(url, 'DELETE /updates')
  const events = await send(url, `GET /_db_updates?since=${since}&feed=longpoll`)
  expect(events.json).toMatchObject({ results: [{ db_name: 'updates', type: 'deleted' }] })
})

test('_bulk_get in parts', async () => {
  await database('parts', [{ _id: 'plain', n: 1 }])
  const put = await send(url, 'PUT /parts/files', {
    _attachments: { a: { content_type: 'text/plain', data: 'aGVsbG8=' } },
  })
  const docs = [{ id: 'plain' }, { id: 'files' }, { id: 'none' }, { id: 'files', atts_since: [put.json['rev']] }]
  const ask = (query: string) =>
    send(url, `POST /parts/_bulk_get${query}`, { docs }, { accept: 'multipart/mixed, application/json;q=0.5' })
  const { headers, text } = await ask('?attachments=true&revs=true')
  const boundary = /^multipart\/mixed; boundary="(\w+)"$/.exec(headers.get('content-type')!)![1]!
  const parts = text.split(`--${boundary}`).slice(1, -1)
  expect(parts).toHaveLength(4)
  expect(parts[0]).toMatch(/^\r\nContent-Type: application\/json\r\n\r\n\{.*"n":1.*"_revisions".*\}\r\n$/)
  expect(parts[1]).toMatch(/multipart\/related[^]*"follows":true[^]*\r\n\r\nhello\r\n/)
  expect(parts[2]).toMatch(/application\/json; error="true"\r\n\r\n\{"id":"none".*"not_found"/)
  expect(parts[3]).toMatch(/"stub":true/)
  expect((await ask('')).text).not.toContain('hello')
})

test('conflicts of documents that are found', async () => {
  await database('twigs', [])
  for (const rev of ['1-a', '1-b'])
    await send(url, 'POST /twigs/_bulk_docs', { docs: [{ _id: 'x', _rev: rev, n: 1 }], new_edits: false })
  const find = async (more: object): Promise<unknown> =>
    (await send(url, 'POST /twigs/_find', { selector: { n: 1 }, ...more })).json['docs']
  expect(await find({ conflicts: true })).toEqual([{ _id: 'x', _rev: '1-b', n: 1, _conflicts: ['1-a'] }])
  expect(await find({})).toEqual([{ _id: 'x', _rev: '1-b', n: 1 }])
})

test('closing finishes what runs, ends feeds, and loses nothing', async () => {
  const own = await startServer({ environment: clock })
  await send(own.url, 'PUT /db')
  const feed = send(own.url, 'GET /db/_changes?feed=continuous&heartbeat=true')
  await clock.idle()
  expect(contextOf(own.server.http).feeds.count).toBe(1)
  const writes = Array.from({ length: 200 }, (_, at) =>
    send(own.url, `PUT /db/d${at}`, { at }).then(
      ({ status }) => (status === 201 ? at : undefined),
      () => undefined,
    ),
  )
  await writes[0]
  await own.server.close()
  const acknowledged = (await Promise.all(writes)).filter((at) => at !== undefined)
  expect((await feed).text).toContain('"last_seq"')
  const again = await startServer({ dir: own.dir })
  const { json } = await send(again.url, 'GET /db/_all_docs')
  const stored = new Set((json['rows'] as { id: string }[]).map(({ id }) => id))
  expect(acknowledged.length).toBeGreaterThan(0)
  expect(acknowledged.filter((at) => !stored.has(`d${at}`))).toEqual([])
  await again.close()
  await own.close()
})
