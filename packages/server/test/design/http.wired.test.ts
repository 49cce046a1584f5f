/**
 * Goal: functions of design documents over HTTP. Views answer as PouchDB does for the same documents, options and functions.
 * `validate_doc_update` is asked in every way of writing. Filters filter feeds. A function that does not compile is refused, and one
 * that fails is an error of CouchDB's form.
 * Method: a real server, PouchDB from npm both as its client and, with its own engine, as what is compared with.
 */
import { PouchDB } from '../../testing/pouch.js'
import { virtualEnvironment } from 'pannier/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { contextOf } from '../../src/couch/server-context.ts'
import { basic, send, startServer } from '../test-server.ts'
import type { TestServer } from '../test-server.ts'

const DESIGN = {
  _id: '_design/cities',
  views: {
    lib: { text: 'exports.upper = function (text) { return text.toUpperCase() }' },
    byCountry: {
      map: "function (doc) { emit([require('views/lib/text').upper(doc.country), doc.name], doc.people) }",
      reduce: '_sum',
    },
    statistics: { map: 'function (doc) { emit([doc.country, doc.people % 3], doc.people) }', reduce: '_stats' },
    people: {
      map: 'function (doc) { if (doc.people > 500) emit(doc.people % 50, null); emit(-doc.people, doc.name) }',
    },
    linked: { map: 'function (doc) { if (doc.capital) emit(doc.name, { _id: doc.capital }) }' },
    largest: {
      map: 'function (doc) { emit(doc.country, doc.people) }',
      reduce: 'function (keys, values, rereduce) { return Math.max.apply(null, values) }',
    },
    fragile: { map: 'function (doc) { emit(doc.mayor.name) }' },
  },
  filters: {
    large: 'function (doc, req) { return doc.people >= +req.query.least }',
    mine: 'function (doc, req) { return doc.owner === req.userCtx.name && !req.headers.authorization && !req.headers.cookie }',
  },
}
/** For PouchDB, which knows no `require`, and complains at length of functions that throw. */
const PLAIN = {
  ...DESIGN,
  views: {
    ...DESIGN.views,
    byCountry: { map: 'function (doc) { emit([doc.country.toUpperCase(), doc.name], doc.people) }', reduce: '_sum' },
    fragile: { map: 'function (doc) { if (doc.mayor) emit(doc.mayor.name) }' },
  },
}

let running: TestServer
let url: string
let remote: PouchDB
let local: PouchDB

beforeAll(async () => {
  running = await startServer()
  url = running.url
  remote = new PouchDB(`${running.adminUrl}/cities`)
  local = new PouchDB('design-cities', { adapter: 'memory' })
  const documents = Array.from({ length: 300 }, (_, n) => ({
    _id: `city-${n}`,
    name: `City ${n % 37}`,
    country: ['no', 'fr', 'de', 'is'][n % 4]!,
    people: (n * 7919) % 1009,
    ...(n % 10 === 0 && { capital: `city-${(n + 1) % 300}` }),
    ...(n % 3 === 0 && { mayor: { name: `M${n}` } }),
  }))
  for (const [db, design] of [
    [remote, DESIGN],
    [local, PLAIN],
  ] as const) {
    await db.bulkDocs(documents)
    await db.put(design)
  }
})
afterAll(async () => {
  await local.destroy()
  await running.close()
})

describe('views answer as PouchDB does', () => {
  const cases: readonly (readonly [view: string, options: Record<string, unknown>])[] = [
    ['byCountry', {}],
    ['byCountry', { reduce: false, limit: 7, skip: 3 }],
    ['byCountry', { reduce: false, descending: true, startkey: ['IS'], endkey: ['FR'] }],
    ['byCountry', { reduce: false, startkey: ['DE'], endkey: ['DE', {}], inclusive_end: false }],
    ['byCountry', { group: true, limit: 10 }],
    ['byCountry', { group_level: 1 }],
    ['byCountry', { group_level: 1, descending: true }],
    ['byCountry', { startkey: ['NO'], endkey: ['NO', '\ufff0'] }],
    ['byCountry', { startkey: ['X'] }],
    ['statistics', { group_level: 1 }],
    ['statistics', { group: true }],
    ['largest', { group: true }],
    ['largest', {}],
    ['people', { key: 7 }],
    ['people', { keys: [7, 8, -1, 7, 'none'] }],
    ['people', { startkey: 3, endkey: 5, include_docs: true }],
    ['people', { startkey: -5, endkey: 5, inclusive_end: false, descending: false }],
    ['people', { descending: true, limit: 20, include_docs: true, conflicts: true }],
    ['linked', { include_docs: true }],
    ['fragile', { limit: 5 }],
  ]
  test.each(cases)('%s %j', async (view, options) => {
    const [there, here] = await Promise.all([
      remote.query(`cities/${view}`, options),
      local.query(`cities/${view}`, options),
    ])
    const plain = (rows: readonly unknown[]): unknown =>
      JSON.parse(JSON.stringify(rows), (name, value: unknown) => (name === '_rev' ? undefined : value))
    expect(plain(there.rows)).toEqual(plain(here.rows))
    // PouchDB's offset is what was skipped; CouchDB's, and this one's, where the first row stands in the view.
    if (options['keys'] === undefined) expect(there.total_rows).toBe(here.total_rows)
  })
})

describe('views over plain HTTP', () => {
  const VIEW = '/cities/_design/cities/_view'
  test('documents of the start and end key', async () => {
    const key = 'startkey=7&endkey=7'
    const all = (await send(url, `GET ${VIEW}/people?${key}`)).json['rows'] as { id: string }[]
    const ids = all.map(({ id }) => id)
    expect(ids.length).toBeGreaterThan(2)
    const idsOf = async (more: string): Promise<string[]> =>
      ((await send(url, `GET ${VIEW}/people?${key}&${more}`)).json['rows'] as { id: string }[]).map(({ id }) => id)
    expect(await idsOf(`startkey_docid=${ids[1]}`)).toEqual(ids.slice(1))
    expect(await idsOf(`end_key_doc_id=${ids[1]}`)).toEqual(ids.slice(0, 2))
    expect(await idsOf(`descending=true&start_key_doc_id=${ids[1]}`)).toEqual(ids.slice(0, 2).reverse())
  })

  test('queries, sequence numbers, stale and unsorted answers', async () => {
    const queries = [
      { key: 7, limit: 1 },
      { reduce: false, include_docs: true, limit: 1 },
    ]
    for (const request of [`POST ${VIEW}/people/queries`, `POST ${VIEW}/people`]) {
      const { json } = await send(url, request, { queries })
      expect((json['results'] as { rows: unknown[] }[]).map(({ rows }) => rows.length)).toEqual([1, 1])
    }
    const { json } = await send(url, `GET ${VIEW}/people?update_seq=true&limit=0`)
    expect(json['update_seq']).toMatch(/^\d+-./)
    expect((await send(url, `GET ${VIEW}/people?sorted=false&limit=0`)).json).toEqual({ rows: [] })
    await send(url, 'PUT /cities/new', { people: -7000, country: 'no', name: 'New' })
    const count = async (more: string): Promise<unknown> =>
      (await send(url, `GET ${VIEW}/people?key=7000${more}`)).json['rows']
    expect(await count('&update=false')).toEqual([])
    expect(await count('&stale=ok')).toEqual([])
    expect(await count('')).toHaveLength(1)
    const { _rev } = (await send(url, 'GET /cities/new')).json
    await send(url, `DELETE /cities/new?rev=${String(_rev)}`)
    expect(await count('')).toEqual([])
  })

  test('attachments of documents', async () => {
    await send(url, 'PUT /files')
    await send(url, 'PUT /files/a', { _attachments: { x: { content_type: 'text/plain', data: 'aGVsbG8=' } } })
    await send(url, 'PUT /files/_design/d', { views: { v: { map: 'doc => emit(1)' } } })
    const { json } = await send(url, 'GET /files/_design/d/_view/v?include_docs=true&attachments=true')
    expect(json['rows']).toMatchObject([{ doc: { _attachments: { x: { data: 'aGVsbG8=' } } } }])
    const stubs = await send(url, 'GET /files/_design/d/_view/v?include_docs=true')
    expect(stubs.json['rows']).toMatchObject([{ doc: { _attachments: { x: { stub: true, length: 5 } } } }])
    expect(stubs.text).not.toContain('aGVsbG8=')
  })

  test.each([
    ['GET', '/people?group=true', 400],
    ['GET', '/people?reduce=true', 400],
    ['GET', '/byCountry?include_docs=true', 400],
    ['GET', '/byCountry?keys=[1]', 400],
    ['GET', '/people?keys=[1]&startkey=1', 400],
    ['GET', '/people?startkey={', 400],
    ['GET', '/people?limit=-1', 400],
    ['GET', '/people?stale=x', 400],
    ['GET', '/nowhere', 404],
    ['GET', '/lib', 404],
    ['POST', '/people?limit=0', 200],
  ])('%s %s: %i', async (method, path, status) => {
    const answer = await send(url, `${method} ${VIEW}${path}`, method === 'POST' ? {} : undefined)
    expect([answer.text, answer.status]).toEqual([answer.text, status])
  })

  test('what a design document has, views that are gone, and temporary ones', async () => {
    expect((await send(url, 'GET /cities/_design/cities/_info')).json).toMatchObject({
      name: 'cities',
      view_index: { language: 'javascript', updates_pending: { total: 1 } },
    })
    expect((await send(url, 'GET /cities/_design/none/_info')).status).toBe(404)
    const temporary = await send(url, 'POST /cities/_temp_view', { map: 'doc => emit(1)' })
    expect([temporary.status, temporary.json['error']]).toEqual([410, 'gone'])
  })

  test('a changed function counts at once, also of a database that was made again; views that are gone make room', async () => {
    await send(url, 'PUT /again')
    await send(url, 'PUT /again/a', {})
    let rev = ''
    for (let round = 0; round < 80; round++) {
      const design = { _rev: rev === '' ? undefined : rev, views: { [`v${round}`]: { map: `doc => emit(${round})` } } }
      rev = (await send(url, 'PUT /again/_design/d', design)).json['rev'] as string
      const { json } = await send(url, `GET /again/_design/d/_view/v${round}`)
      expect(json['rows']).toMatchObject([{ id: 'a', key: round }])
    }
    await send(url, 'DELETE /again')
    await send(url, 'PUT /again')
    expect((await send(url, 'GET /again/_design/d/_view/v79')).status).toBe(404)
  })
})

describe('what does not compile, and what fails', () => {
  test.each([
    [{ views: { v: { map: 'function (' } } }, 'compilation_error'],
    [{ views: { v: { map: '42' } } }, 'compilation_error'],
    [{ views: { v: { map: 'doc => 1', reduce: 'nonsense' } } }, 'compilation_error'],
    [{ filters: { f: 'function {' } }, 'compilation_error'],
    [{ validate_doc_update: '}' }, 'compilation_error'],
    [{ views: 1 }, 'invalid_design_doc'],
    [{ views: { v: {} } }, 'invalid_design_doc'],
    [{ filters: { f: 1 } }, 'invalid_design_doc'],
    [{ views: { map: 'doc => emit(1)' } }, 'invalid_design_doc'],
    [{ views: { lib: 1 } }, 'invalid_design_doc'],
    [{ views: { v: { map: 'doc => 1', reduce: null } } }, 'invalid_design_doc'],
    [{ language: 'query', views: { v: { map: 'doc => 1' } } }, 'invalid_design_doc'],
    [{ language: 1 }, 'invalid_design_doc'],
    [{ options: 1 }, 'invalid_design_doc'],
    [{ options: { local_seq: 1 } }, 'invalid_design_doc'],
    [{ rewrites: 1 }, 'invalid_design_doc'],
    [{ lists: 'x' }, 'invalid_design_doc'],
    [{ shows: { a: 1 } }, 'invalid_design_doc'],
    [{ updates: [] }, 'invalid_design_doc'],
  ])('%j is refused', async (design, error) => {
    const put = await send(url, 'PUT /cities/_design/bad', design)
    expect([put.status, put.json['error']]).toEqual([400, error])
  })

  test.each([
    { filters: { lib: { one: 'exports.a = 1' }, f: 'doc => true' } },
    { language: 'erlang', views: { v: { map: 'fun' } } },
    { rewrites: [], options: { include_design: true }, lists: { a: { b: 'c' } }, views: { lib: { a: 'x' } } },
  ])('%j is taken', async (design) => {
    const put = await send(url, 'PUT /cities/_design/good', design)
    expect([put.status, put.text]).toEqual([201, put.text])
    await send(url, `DELETE /cities/_design/good?rev=${String(put.json['rev'])}`)
  })

  test.each([
    [{ views: { v: { map: 'function (' } } }, '_view/v', 500],
    [{ views: { v: { map: '42' } } }, '_view/v', 500],
    [{ views: { v: { map: 'doc => emit(1)', reduce: 'nonsense' } } }, '_view/v', 500],
    [{ views: 1 }, '_view/v', 404],
    [{ views: { v: {} } }, '_view/v', 404],
    [{ language: 1, options: 1, rewrites: 1, views: [] }, '_view/v', 404],
  ])('%j that is replicated is taken, and fails when it is used', async (design, path, status) => {
    await send(url, 'PUT /taken')
    await send(url, 'PUT /taken/a', { n: 1 })
    const docs = [
      { _id: '_design/bad', _rev: '1-a', ...design },
      { _id: 'fine', _rev: '1-a' },
    ]
    const bulk = await send(url, 'POST /taken/_bulk_docs', { docs, new_edits: false })
    expect(bulk.json).toEqual([])
    expect((await send(url, 'GET /taken/_design/bad')).json).toMatchObject(design)
    expect((await send(url, `GET /taken/_design/bad/${path}`)).status).toBe(status)
    expect((await send(url, 'GET /taken/_all_docs')).json['rows']).toHaveLength(3)
    expect((await send(url, 'PUT /taken/b', {})).status).toBe(201)
    expect((await send(url, 'DELETE /taken')).status).toBe(200)
  })

  test.each([{ filters: { f: 'function {' } }, { filters: { f: 1 } }])('so is %j', async (design) => {
    await send(url, 'PUT /taken')
    const put = await send(url, 'PUT /taken/_design/bad?new_edits=false', { _rev: '1-a', ...design })
    expect(put.status).toBe(201)
    expect((await send(url, 'GET /taken/_changes')).json['results']).toHaveLength(1)
    expect((await send(url, 'GET /taken/_changes?filter=bad/f')).json['results'] ?? []).toEqual([])
    expect((await send(url, 'DELETE /taken')).status).toBe(200)
  })

  test.each(['}', 7])(
    'a validate_doc_update that is %j is refused, so that the database stays open to writes',
    async (one) => {
      const design = { _rev: '1-a', validate_doc_update: one }
      const put = await send(url, 'PUT /cities/_design/bad?new_edits=false', design)
      expect([put.status, put.json['error']]).toEqual([403, 'forbidden'])
      const docs = [
        { _id: '_design/bad', ...design },
        { _id: 'fine', _rev: '1-a' },
      ]
      const bulk = await send(url, 'POST /cities/_bulk_docs', { docs, new_edits: false })
      expect(bulk.json).toMatchObject([{ id: '_design/bad', error: 'forbidden' }])
      expect((await send(url, 'GET /cities/_design/bad')).status).toBe(404)
    },
  )

  test('another language is not looked at, and has no functions', async () => {
    expect(
      (await send(url, 'PUT /cities/_design/erl', { language: 'erlang', views: { v: { map: 'fun(' } } })).status,
    ).toBe(201)
    expect((await send(url, 'GET /cities/_design/erl/_view/v')).status).toBe(404)
  })

  test('a view that takes too long is an error, and the server keeps working', async () => {
    await send(url, 'PUT /loop')
    await send(url, 'POST /loop/_bulk_docs', { docs: Array.from({ length: 8 }, (_, at) => ({ _id: String(at) })) })
    await send(url, 'PUT /loop/_design/d', { views: { v: { map: 'function () { for (;;); }' } } })
    const { status, json } = await send(url, 'GET /loop/_design/d/_view/v')
    expect([status, json['error']]).toEqual([500, 'os_process_error'])
    expect((await send(url, 'GET /loop/_all_docs')).status).toBe(200)
  })
})

describe('validate_doc_update', () => {
  const VALIDATE = `function (newDoc, oldDoc, userCtx, secObj) {
    if (newDoc._deleted) { if (oldDoc.keep) throw({ forbidden: 'kept' }); return }
    if (newDoc.seen) throw({ forbidden: JSON.stringify([newDoc._id, oldDoc, userCtx, secObj]) })
    if (newDoc.login) throw({ unauthorized: 'log in' })
    if (newDoc.bad) throw({ forbidden: 'bad' })
    if (newDoc._attachments && newDoc._attachments.bad) throw({ forbidden: 'bad ' + JSON.stringify(newDoc._attachments.bad) })
    if (oldDoc && oldDoc.n !== newDoc.n) throw({ forbidden: 'n was ' + oldDoc.n })
  }`

  beforeAll(async () => {
    await send(url, 'PUT /valid')
    await send(url, 'PUT /valid/_security', { members: { names: ['ann'] } })
    await send(url, 'PUT /_users/org.couchdb.user:ann', {
      name: 'ann',
      type: 'user',
      roles: ['r'],
      password: 'password-of-ann',
    })
    await send(url, 'PUT /valid/_design/d', { validate_doc_update: VALIDATE })
    await send(url, 'PUT /valid/source', { n: 1 })
  })

  test('it sees both documents, the user and _security', async () => {
    await send(url, 'PUT /valid/seen', { n: 7 })
    const { rev } = await remoteRevision('/valid/seen')
    const ann = { authorization: basic('ann:password-of-ann') }
    const { json } = await send(url, 'PUT /valid/seen', { _rev: rev, seen: true }, ann)
    expect(JSON.parse(json['reason'] as string)).toEqual([
      'seen',
      { _id: 'seen', _rev: rev, n: 7 },
      { db: 'valid', name: 'ann', roles: ['r'] },
      { members: { names: ['ann'] } },
    ])
    const fresh = (await send(url, 'POST /valid', { seen: true })).json
    const [id, previous, { name }] = JSON.parse(fresh['reason'] as string) as [string, unknown, { name: string }]
    expect([id, previous, name]).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), null, 'admin'])
  })

  test('in every way of writing, admins too', async () => {
    const { rev } = await remoteRevision('/valid/source')
    await send(url, 'PUT /valid/kept', { keep: true })
    const kept = (await remoteRevision('/valid/kept')).rev
    const related = '--b\r\nContent-Type: application/json\r\n\r\n{"bad":1}\r\n--b--'
    const ways: readonly (readonly [request: string, body?: unknown, headers?: Readonly<Record<string, string>>])[] = [
      ['PUT /valid/a', { bad: true }],
      ['PUT /valid/a?new_edits=false', { _rev: '1-a', bad: true }],
      ['PUT /valid/a?batch=ok', { bad: true }],
      ['POST /valid', { bad: true }],
      ['PUT /valid/a', related, { 'content-type': 'multipart/related; boundary=b' }],
      ['PUT /valid/a/bad', 'x', { 'content-type': 'text/plain' }],
      [`PUT /valid/source/bad?rev=${rev}`, 'x', { 'content-type': 'text/plain' }],
      ['COPY /valid/source', undefined, { destination: `kept?rev=${kept}` }],
      [`DELETE /valid/kept?rev=${kept}`],
      ['PUT /valid/kept', { _rev: kept, _deleted: true }],
    ]
    for (const [request, body, headers] of ways) {
      const { status, json } = await send(url, request, body, headers)
      expect([request, status, json['error']]).toEqual([request, 403, 'forbidden'])
    }
    expect((await send(url, 'PUT /valid/a', { login: true })).status).toBe(401)
    for (const new_edits of [true, false]) {
      const revision = new_edits ? {} : { _rev: '1-a' }
      const docs = [
        { _id: 'good', ...revision },
        { _id: 'a', bad: true, ...revision },
      ]
      const { json } = await send(url, 'POST /valid/_bulk_docs', { docs, new_edits })
      expect(Object.values(json).at(-1)).toMatchObject({ id: 'a', error: 'forbidden', reason: 'bad' })
    }
    expect((await send(url, 'GET /valid/a')).status).toBe(404)
    expect((await send(url, 'GET /valid/good')).status).toBe(200)
  })

  test('a replicated revision is compared with its own ancestor', async () => {
    const docs = [{ _id: 'twig', _rev: '1-a', n: 1 }]
    await send(url, 'POST /valid/_bulk_docs', { docs, new_edits: false })
    const next = (id: string, n: number) => ({
      _id: 'twig',
      n,
      _rev: `2-${id}`,
      _revisions: { start: 2, ids: [id, 'a'] },
    })
    const refused = await send(url, 'POST /valid/_bulk_docs', { docs: [next('b', 2)], new_edits: false })
    expect(refused.json).toMatchObject([{ error: 'forbidden', reason: 'n was 1' }])
    expect((await send(url, 'POST /valid/_bulk_docs', { docs: [next('b', 1)], new_edits: false })).json).toEqual([])
  })

  test('an outdated edit is a conflict, whatever the function would say', async () => {
    expect((await send(url, 'PUT /valid/source', { bad: true })).status).toBe(409)
    expect((await send(url, 'PUT /valid/source', { _rev: '9-x', bad: true })).status).toBe(409)
  })

  test('functions that come, change and go count at once; PouchDB tells what is denied', async () => {
    const put = (n: number) =>
      send(url, `PUT /valid/_design/other${n}`, {
        validate_doc_update: "doc => { if (doc.odd) throw({ forbidden: 'odd' }) }",
      })
    const { json } = await put(1)
    expect((await send(url, 'PUT /valid/odd', { odd: true })).status).toBe(403)
    const source = new PouchDB('design-denied', { adapter: 'memory' })
    await source.bulkDocs([{ _id: 'one' }, { _id: 'odd', odd: true }, { _id: 'two' }])
    const result = await source.replicate.to(new PouchDB(`${running.adminUrl}/valid`))
    expect([result.docs_written, result.doc_write_failures]).toEqual([2, 1])
    await source.destroy()
    await send(url, `DELETE /valid/_design/other1?rev=${String(json['rev'])}`)
    expect((await send(url, 'PUT /valid/odd', { odd: true })).status).toBe(201)
  })

  async function remoteRevision(path: string): Promise<{ readonly rev: string }> {
    return { rev: (await send(url, `GET ${path}`)).json['_rev'] as string }
  }
})

describe('filters', () => {
  const idsOf = ({ json }: { json: Record<string, unknown> }): string[] =>
    (json['results'] as { id: string }[]).map(({ id }) => id).sort()

  test('a function with parameters, a view, and a view alone', async () => {
    const large = await send(url, 'GET /cities/_changes?filter=cities/large&least=1000')
    const wanted = { selector: { people: { $gte: 1000 } }, limit: 1000 }
    const { docs } = (await send(url, 'POST /cities/_find', wanted)).json as { docs: { _id: string }[] }
    expect(docs.length).toBeGreaterThan(1)
    expect(idsOf(large)).toEqual(docs.map(({ _id }) => _id).sort())
    const linked = idsOf(await send(url, 'GET /cities/_changes?filter=_view&view=cities/linked'))
    expect(linked).toHaveLength(30)
    expect(idsOf(await send(url, 'POST /cities/_changes?view=cities/linked', {}))).toEqual(linked)
  })

  test('what a filter sees of the request', async () => {
    await send(url, 'PUT /cities/mine', { owner: 'admin', country: 'x', name: 'x', people: 0 })
    expect(idsOf(await send(url, 'GET /cities/_changes?filter=cities/mine'))).toEqual(['mine'])
  })

  test('a continuous feed is filtered too', async () => {
    const path = '/cities/_changes?feed=longpoll&since=now&filter=cities/large&least=5000&heartbeat=100'
    const waiting = send(url, `GET ${path}`)
    await virtualEnvironment().idle()
    expect(contextOf(running.server.http).feeds.count).toBe(1)
    await send(url, 'PUT /cities/small', { people: 1, country: 'x', name: 'x' })
    await send(url, 'PUT /cities/large', { people: 9000, country: 'x', name: 'x' })
    expect(idsOf(await waiting)).toEqual(['large'])
  })

  test('replication by a filter', async () => {
    const target = new PouchDB('design-filtered', { adapter: 'memory' })
    await target.replicate.from(remote, { filter: 'cities/large', query_params: { least: '1000' } } as never)
    const { rows } = await target.allDocs()
    expect(rows.map(({ id }) => id).sort()).toEqual(
      idsOf(await send(url, 'GET /cities/_changes?filter=cities/large&least=1000')),
    )
    await target.destroy()
  })

  test.each([
    ['filter=cities/none', 404],
    ['filter=none/none', 404],
    ['filter=_view&view=cities/none', 404],
    ['filter=cities', 400],
    ['filter=cities/a/b', 400],
    ['filter=_view', 400],
  ])('%s: %i', async (query, status) => {
    expect((await send(url, `GET /cities/_changes?${query}`)).status).toBe(status)
  })
})
