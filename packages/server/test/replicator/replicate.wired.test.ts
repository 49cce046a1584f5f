/** Goal: `_replicate` between real servers of ours and of others: what it replicates, answers and refuses. */
import { virtualEnvironment } from 'pannier/testing'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { FastifyPluginAsync } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { pouchServer } from '../../testing/pouchdb-server.ts'
import { ADMIN_NAME, ADMIN_PASSWORD, basic, inTime, send, startServer } from '../test-server.ts'
import type { Answer, TestServer } from '../test-server.ts'
import type { ServerOptions } from '../../src/index.ts'

const clock = virtualEnvironment()
let server: TestServer
/** What a case opens beside it. */
const opened: { close(): Promise<void> }[] = []

beforeAll(async () => {
  server = await start()
  opened.pop()
})
afterEach(async () => {
  const { jobs } = (await send(server.url, 'GET /_scheduler/jobs?limit=1000')).json as { jobs: { id: string }[] }
  for (const { id } of jobs) await replicate(server, { replication_id: id, cancel: true })
  const names = JSON.parse((await send(server.url, 'GET /_all_dbs')).text) as string[]
  for (const name of names.filter((one) => !one.startsWith('_'))) await send(server.url, `DELETE /${name}`)
  for (const one of opened.splice(0).reverse()) await one.close()
})
afterAll(() => server.close())

async function start(options: ServerOptions = {}): Promise<TestServer> {
  const made = await startServer({ environment: clock, couch: { replicator: { hosts: ['127.0.0.1'] } }, ...options })
  opened.push(made)
  return made
}

function replicate({ url }: TestServer, body: object, headers?: Record<string, string>): Promise<Answer> {
  return send(url, 'POST /_replicate', body, headers)
}

/** None while the database is not there yet. */
async function ids({ url }: TestServer, database: string): Promise<string[]> {
  const { rows = [] } = (await send(url, `GET /${database}/_all_docs`)).json as { rows?: { id: string }[] }
  return rows.map(({ id }) => id)
}

async function fill({ url }: TestServer, database: string, names: readonly string[]): Promise<void> {
  await send(url, `PUT /${database}`)
  await send(url, `POST /${database}/_bulk_docs`, { docs: names.map((_id, n) => ({ _id, n })) })
}

function remote({ url }: TestServer, database: string, password = ADMIN_PASSWORD): object {
  return { url: `${url}/${database}`, auth: { basic: { username: ADMIN_NAME, password } } }
}

test('local to local, and its answer', async () => {
  await fill(server, 'a', ['x', 'y', 'z'])
  await fill(server, 'b', [])
  const { status, json } = await replicate(server, { source: 'a', target: 'b' })
  expect(status).toBe(200)
  expect(json).toMatchObject({
    ok: true,
    session_id: expect.stringMatching(/^[0-9a-f]{32}$/),
    source_last_seq: expect.stringMatching(/^3-/),
    _local_id: expect.stringMatching(/^[0-9a-f]{32}$/),
    history: [{ docs_read: 3, docs_written: 3, doc_write_failures: 0, missing_checked: 3 }],
  })
  expect(await ids(server, 'b')).toEqual(['x', 'y', 'z'])
  expect((await replicate(server, { source: 'a', target: 'b' })).json).toMatchObject({ ok: true, no_changes: true })
  for (const sides of [
    { source: 'a', target: 'none' },
    { source: 'none', target: 'a' },
  ])
    expect(await replicate(server, sides)).toMatchObject({ status: 404, json: { error: 'db_not_found' } })
  expect(await replicate(server, { source: 'a', target: 'c', create_target: true })).toMatchObject({ status: 200 })
  expect(await ids(server, 'c')).toHaveLength(3)
})

test('two servers, both ways; the third relays between them', async () => {
  const [one, two, relay] = [await start(), await start(), server]
  await fill(one, 'a', ['x', 'y'])
  expect((await replicate(two, { source: remote(one, 'a'), target: 'a', create_target: true })).status).toBe(200)
  expect(await ids(two, 'a')).toEqual(['x', 'y'])
  await fill(two, 'a', ['more'])
  const picture = new Uint8Array(300_000).map((_, at) => at % 251)
  const type = { 'content-type': 'image/png' }
  await fetch(`${two.url}/a/pic/p.png`, {
    method: 'PUT',
    body: picture,
    headers: { ...type, authorization: basic(`${ADMIN_NAME}:${ADMIN_PASSWORD}`) },
  })
  const answer = await replicate(relay, { source: remote(two, 'a'), target: remote(one, 'a') })
  expect(answer.json).toMatchObject({ ok: true, history: [{ docs_written: 2 }] })
  expect(await ids(one, 'a')).toEqual(['more', 'pic', 'x', 'y'])
  const got = await fetch(`${one.url}/a/pic/p.png`, {
    headers: { authorization: basic(`${ADMIN_NAME}:${ADMIN_PASSWORD}`) },
  })
  expect(Buffer.from(await got.arrayBuffer()).equals(picture)).toBe(true)
})

test('a PouchDB server, both ways, with selector, ids, filters here and there', async () => {
  const other = await pouchServer()
  opened.push(other)
  await fill(server, 'a', ['x', 'y', 'z'])
  await other.database('remote').put({ _id: 'theirs' })
  const url = `${other.url}/remote`
  expect((await replicate(server, { source: 'a', target: url })).status).toBe(200)
  expect((await other.database('remote').allDocs()).rows).toHaveLength(4)
  await replicate(server, { source: url, target: 'b', create_target: true })
  expect(await ids(server, 'b')).toEqual(['theirs', 'x', 'y', 'z'])
  await replicate(server, { source: url, target: 'c', create_target: true, doc_ids: ['x', 'theirs'] })
  expect(await ids(server, 'c')).toEqual(['theirs', 'x'])
  await replicate(server, { source: 'a', target: 'd', create_target: true, selector: { n: { $gt: 0 } } })
  expect(await ids(server, 'd')).toEqual(['y', 'z'])
  await other
    .database('remote')
    .put({ _id: '_design/f', filters: { only: 'function (doc, req) { return doc._id === req.query.id }' } })
  const filtered = { source: url, target: 'e', create_target: true, filter: 'f/only', query_params: { id: 'z' } }
  expect((await replicate(server, filtered)).json).toMatchObject({ ok: true })
  expect(await ids(server, 'e')).toEqual(['z'])
  await send(server.url, 'PUT /a/_design/d', { language: 'javascript' })
  await replicate(server, { source: 'a', target: 'g', create_target: true, filter: '_design' })
  expect(await ids(server, 'g')).toEqual(['_design/d'])
})

test('a continuous one keeps running, is listed, and ends when it is cancelled', async () => {
  const other = await start()
  await fill(server, 'a', ['x'])
  const body = {
    source: 'a',
    target: `http://${ADMIN_NAME}:${ADMIN_PASSWORD}@${new URL(other.url).host}/remote`,
    continuous: true,
    create_target: true,
  }
  const started = await replicate(server, body)
  expect(started).toMatchObject({ status: 202, json: { ok: true } })
  const id = started.json['_local_id'] as string
  expect(id).toMatch(/^[0-9a-f]{32}\+continuous\+create_target$/)
  expect((await replicate(server, body)).json['_local_id']).toBe(id)
  await clock.until(async () => (await ids(other, 'remote')).length === 1)
  await fill(server, 'a', ['y'])
  await clock.until(async () => (await ids(other, 'remote')).length === 2)
  const tasks = await send(server.url, 'GET /_active_tasks')
  expect(tasks.text).not.toContain(ADMIN_PASSWORD)
  expect(JSON.parse(tasks.text)).toMatchObject([
    {
      type: 'replication',
      replication_id: id,
      source: 'a',
      target: `${other.url}/remote/`,
      continuous: true,
      doc_id: null,
      through_seq: expect.any(String),
    },
  ])
  const jobs = await send(server.url, 'GET /_scheduler/jobs')
  expect(jobs.text).not.toContain(ADMIN_PASSWORD)
  expect(jobs.json).toMatchObject({ total_rows: 1, jobs: [{ id, database: null, user: ADMIN_NAME, source: 'a' }] })
  expect(await send(server.url, `GET /_scheduler/jobs/${encodeURIComponent(id)}`)).toMatchObject({
    status: 200,
    json: { id },
  })
  expect((await replicate(server, { ...body, cancel: true })).json).toEqual({ ok: true, _local_id: id })
  expect((await send(server.url, 'GET /_scheduler/jobs')).json['total_rows']).toBe(0)
  expect((await send(server.url, 'GET /_active_tasks')).text.trim()).toBe('[]')
  expect(await replicate(server, { replication_id: id, cancel: true })).toMatchObject({ status: 404 })
})

test('design functions count here as they do over HTTP: filters, views, validation', async () => {
  await fill(server, 'a', ['x', 'y', 'z'])
  await send(server.url, 'PUT /a/_design/f', {
    filters: { from: 'function (doc, req) { return doc.n >= Number(req.query.n) && req.userCtx.name === "admin" }' },
    views: { first: { map: 'function (doc) { if (doc.n === 0) emit(doc._id) }' } },
  })
  const from = { source: 'a', target: 'b', create_target: true, filter: 'f/from', query_params: { n: 1 } }
  expect((await replicate(server, from)).json).toMatchObject({ history: [{ docs_written: 2 }] })
  expect(await ids(server, 'b')).toEqual(['y', 'z'])
  const first = { source: 'a', target: 'c', create_target: true, filter: '_view', query_params: { view: 'f/first' } }
  expect((await replicate(server, first)).status).toBe(200)
  expect(await ids(server, 'c')).toEqual(['x'])
  expect((await replicate(server, { ...from, filter: 'f/none' })).status).toBe(404)
  await fill(server, 'd', [])
  await send(server.url, 'PUT /d/_design/v', {
    validate_doc_update: 'function (doc) { if (doc.n === 1) throw { forbidden: "not one" } }',
  })
  const { json } = await replicate(server, { source: 'a', target: 'd' })
  expect(json).toMatchObject({ history: [{ docs_written: 3, doc_write_failures: 1 }] })
  expect(await ids(server, 'd')).toEqual(['_design/f', '_design/v', 'x', 'z'])
})

test('one forbidden document is counted, and the others are written', async () => {
  await fill(server, 'a', ['x', 'y', 'z'])
  await fill(server, 'b', [])
  await send(server.url, 'PUT /_users/org.couchdb.user:ann', {
    name: 'ann',
    type: 'user',
    roles: [],
    password: 'password-of-ann',
  })
  for (const name of ['a', 'b']) await send(server.url, `PUT /${name}/_security`, { members: { names: ['ann'] } })
  await send(server.url, 'PUT /a/_design/not-hers', { language: 'javascript' })
  const ann = { authorization: basic('ann:password-of-ann') }
  const { status, json } = await replicate(server, { source: 'a', target: 'b' }, ann)
  expect([status, json]).toMatchObject([200, { history: [{ docs_read: 4, docs_written: 3, doc_write_failures: 1 }] }])
  expect(await ids(server, 'b')).toEqual(['x', 'y', 'z'])
})

test('a document on which the other server fails each time is counted; a server that always fails is given up', async () => {
  let isBroken = false
  const fails: FastifyPluginAsync = async (app) => {
    app.addHook('preHandler', async ({ url, method, headers }, reply) => {
      const isPoison = url.includes('_bulk_docs') && Number(headers['content-length']) > 5000
      if (isPoison || (isBroken && method !== 'GET'))
        await reply.code(500).send({ error: 'badmatch', reason: 'poison' })
    })
  }
  const other = await start({ http: { plugins: [fastifyPlugin(fails)] } })
  await fill(server, 'a', ['x', 'y'])
  await send(server.url, 'PUT /a/poison', { text: 'x'.repeat(5000) })
  const toOther = (): Promise<Answer> =>
    inTime(clock, replicate(server, { source: 'a', target: remote(other, 'b'), create_target: true }))
  const { status, json } = await toOther()
  expect([status, json]).toMatchObject([200, { history: [{ docs_written: 2, doc_write_failures: 1 }] }])
  expect(await ids(other, 'b')).toEqual(['x', 'y'])
  isBroken = true
  await fill(server, 'a', ['z'])
  expect(await toOther()).toMatchObject({ status: 500, json: { error: 'replication_failed' } })
  isBroken = false
  expect((await toOther()).json).toMatchObject({ history: [{ docs_written: 1, doc_write_failures: 0 }] })
})

test('who may replicate: with the rights that they have here, also when these change', async () => {
  await fill(server, 'a', ['x'])
  await fill(server, 'b', [])
  await fill(server, 'closed', ['secret'])
  await send(server.url, 'PUT /_users/org.couchdb.user:ann', {
    name: 'ann',
    type: 'user',
    roles: [],
    password: 'password-of-ann',
  })
  for (const name of ['a', 'b']) await send(server.url, `PUT /${name}/_security`, { members: { names: ['ann'] } })
  const ann = { authorization: basic('ann:password-of-ann') }
  expect((await replicate(server, { source: 'a', target: 'b' }, { authorization: '' })).status).toBe(401)
  expect((await replicate(server, { source: 'closed', target: 'b' }, ann)).status).toBe(403)
  expect((await replicate(server, { source: 'a', target: 'closed' }, ann)).status).toBe(403)
  expect((await replicate(server, { source: '_users', target: 'b' }, ann)).status).toBe(403)
  expect((await replicate(server, { source: 'a', target: 'new', create_target: true }, ann)).status).not.toBe(200)
  const relayed = { source: remote(server, 'a'), target: remote(server, 'b') }
  expect((await replicate(server, relayed, ann)).status).toBe(403)
  const live = { source: 'a', target: 'b', continuous: true }
  const { _local_id: id } = (await replicate(server, live, ann)).json
  await clock.until(async () => (await ids(server, 'b')).length === 1)
  expect((await send(server.url, 'GET /_scheduler/jobs', undefined, ann)).json['total_rows']).toBe(1)
  await send(server.url, 'PUT /a/_security', { members: { names: ['bob'] } })
  const state = async (): Promise<string> => JSON.stringify((await send(server.url, 'GET /_scheduler/jobs')).json)
  await clock.until(async () => (await state()).includes('not allowed to access this db'))
  await fill(server, 'a', ['hidden'])
  expect(await ids(server, 'b')).toEqual(['x'])
  expect((await replicate(server, { replication_id: id, cancel: true }, ann)).status).toBe(200)
})

test('a database that is dropped ends what replicates it, and stays away', async () => {
  await fill(server, 'a', ['x'])
  const body = { source: 'a', target: 'b', continuous: true, create_target: true }
  await replicate(server, body)
  await clock.until(async () => (await ids(server, 'b')).length === 1)
  await send(server.url, 'DELETE /a')
  const jobs = async (): Promise<string> => (await send(server.url, 'GET /_scheduler/jobs')).text
  await clock.until(async () => (await jobs()).includes('Database does not exist'))
  expect((await send(server.url, 'GET /a')).status).toBe(404)
  await fill(server, 'a', ['y'])
  await clock.until(async () => (await ids(server, 'b')).length === 2)
  await send(server.url, 'DELETE /b')
  await fill(server, 'a', ['z'])
  await clock.until(
    async () => (await send(server.url, 'GET /b')).status === 200 && (await ids(server, 'b')).length === 2,
  )
})

test('a user has a limited number at a time', async () => {
  await fill(server, 'a', [])
  await fill(server, 'b', [])
  await send(server.url, 'PUT /_users/org.couchdb.user:ann', {
    name: 'ann',
    type: 'user',
    roles: [],
    password: 'password-of-ann',
  })
  for (const name of ['a', 'b']) await send(server.url, `PUT /${name}/_security`, { members: { names: ['ann'] } })
  const ann = { authorization: basic('ann:password-of-ann') }
  const statuses: number[] = []
  for (let n = 0; n < 21; n++)
    statuses.push(
      (await replicate(server, { source: 'a', target: 'b', continuous: true, selector: { n } }, ann)).status,
    )
  expect(statuses).toEqual([...Array.from({ length: 20 }, () => 202), 429])
})

test('bodies that are none', async () => {
  for (const body of [
    {},
    { source: 'a' },
    { source: 'a', target: 'file:///etc/passwd' },
    { source: 'ftp://example.org/a', target: 'a' },
    { source: 'http://', target: 'a' },
    { source: { url: 'http://example.org/a', headers: { host: 'x' } }, target: 'a' },
    { source: { url: 'http://example.org/a', headers: { 'x-a': 'b\r\nc: d' } }, target: 'a' },
    { source: { url: 'http://example.org/a', auth: { basic: {} } }, target: 'a' },
    { source: 'a', target: 'http://example.org/a', proxy: 'http://127.0.0.1:8080' },
    { source: 'a', target: 'b', continuous: 1 },
    { source: 'a', target: 'b', doc_ids: 'x' },
    { source: 'a', target: 'b', filter: 'x' },
    { source: 'a', target: 'b', filter: 'x/y', selector: {} },
    { source: 'a', target: 'b', checkpoint_interval: 1 },
  ])
    expect([body, (await replicate(server, body)).status]).toEqual([body, 400])
})

test('a changed filter or view begins again, by name and by URL, and an unchanged one continues', async () => {
  const design = (wanted: string) => ({
    _id: '_design/f',
    lib: { wanted: `exports.wanted = '${wanted}'` },
    filters: {
      own: `function (doc) { return doc.k === '${wanted}' }`,
      shared: 'function (doc) { return doc.k === require("lib/wanted").wanted }',
    },
    views: { own: { map: `function (doc) { if (doc.k === '${wanted}') emit(doc._id) }` } },
  })
  const filters = [{ filter: 'f/own' }, { filter: 'f/shared' }, { filter: '_view', query_params: { view: 'f/own' } }]
  await send(server.url, 'PUT /changed')
  await send(server.url, 'POST /changed/_bulk_docs', {
    docs: ['a', 'b', 'a', 'b', 'c'].map((k, n) => ({ _id: `${n}`, k })),
  })
  const sources = ['changed', remote(server, 'changed')]
  const runs = sources.flatMap((source, at) =>
    filters.map((filter, n) => ({ source, target: `changed-${at}-${n}`, create_target: true, ...filter })),
  )
  let rev: unknown
  for (const [wanted, passing] of [
    ['a', ['0', '2']],
    ['b', ['0', '1', '2', '3']],
  ] as const) {
    const put = await send(server.url, 'PUT /changed/_design/f', {
      ...design(wanted),
      ...(rev !== undefined && { _rev: rev }),
    })
    rev = put.json['rev']
    for (const run of runs) {
      expect((await replicate(server, run)).json).toMatchObject({ ok: true })
      expect([run, await ids(server, run.target)]).toEqual([run, passing])
      expect((await replicate(server, run)).json).toMatchObject({ no_changes: true })
    }
  }
})
