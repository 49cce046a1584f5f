/** Goal: documents of `_replicator` are replications: started, stopped, kept going over restarts and failures, and nobody else's to see. */
import { virtualEnvironment } from 'pannier/testing'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import type { FastifyPluginAsync } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { freePort } from '../../../../tools/processes.ts'
import { createServer } from '../../src/index.ts'
import type { ServerOptions } from '../../src/index.ts'
import { ADMIN_NAME, ADMIN_PASSWORD, basic, send, startServer } from '../test-server.ts'
import type { TestServer } from '../test-server.ts'

const clock = virtualEnvironment()
const OPTIONS = { environment: clock, couch: { replicator: { hosts: ['127.0.0.1'] } } } satisfies ServerOptions
let server: TestServer
/** What a case opens beside it. */
const opened: { close(): Promise<void> }[] = []

beforeAll(async () => {
  server = await startServer(OPTIONS)
  await addAnn(server)
})
beforeEach(() => send(server.url, 'PUT /_replicator'))
afterEach(async () => {
  const names = JSON.parse((await send(server.url, 'GET /_all_dbs')).text) as string[]
  for (const name of names.filter((one) => one !== '_users')) await send(server.url, `DELETE /${name}`)
  await clock.until(async () => ((await send(server.url, 'GET /_scheduler/docs')).json['total_rows'] as number) === 0)
  for (const one of opened.splice(0).reverse()) await one.close()
})
afterAll(() => server.close())

const ANN = { authorization: basic('ann:password-of-ann') }

async function start(options: ServerOptions = {}): Promise<TestServer> {
  const made = await startServer({ ...OPTIONS, ...options })
  opened.push(made)
  await send(made.url, 'PUT /_replicator')
  return made
}

async function fill({ url }: TestServer, database: string, names: readonly string[]): Promise<void> {
  await send(url, `PUT /${database}`)
  await send(url, `POST /${database}/_bulk_docs`, { docs: names.map((_id) => ({ _id })) })
}

async function count({ url }: TestServer, database: string): Promise<number> {
  return (await send(url, `GET /${database}`)).json['doc_count'] as number
}

async function state({ url }: TestServer, id: string): Promise<Record<string, unknown>> {
  return (await send(url, `GET /_scheduler/docs/_replicator/${id}`)).json
}

function remote({ url }: TestServer, database: string, password = ADMIN_PASSWORD): object {
  return { url: `${url}/${database}`, auth: { basic: { username: ADMIN_NAME, password } } }
}

async function addAnn({ url }: TestServer): Promise<void> {
  await send(url, 'PUT /_users/org.couchdb.user:ann', {
    name: 'ann',
    type: 'user',
    roles: [],
    password: 'password-of-ann',
  })
}

test('a document starts a replication, another revision restarts it, its deletion stops it', async () => {
  await fill(server, 'a', ['x', 'y'])
  await fill(server, 'b', [])
  await send(server.url, 'PUT /_replicator/once', { source: 'a', target: 'b' })
  await clock.until(async () => (await state(server, 'once'))['state'] === 'completed')
  expect(await state(server, 'once')).toMatchObject({
    database: '_replicator',
    doc_id: 'once',
    source: 'a',
    target: 'b',
    info: { docs_written: 2, doc_write_failures: 0 },
    error_count: 0,
  })
  const live = await send(server.url, 'PUT /_replicator/live', {
    source: 'a',
    target: 'c',
    continuous: true,
    create_target: true,
  })
  await clock.until(async () => (await count(server, 'c')) === 2)
  expect(await state(server, 'live')).toMatchObject({ state: 'running' })
  const { docs } = (await send(server.url, 'GET /_scheduler/docs?states=running')).json as { docs: object[] }
  expect(docs).toMatchObject([{ doc_id: 'live' }])
  // States are nowhere in the documents.
  expect(Object.keys((await send(server.url, 'GET /_replicator/once')).json).sort()).toEqual(
    ['_id', '_rev', 'owner', 'source', 'target'].sort(),
  )
  const changed = { _rev: live.json['rev'], source: 'a', target: 'd', continuous: true, create_target: true }
  const { json } = await send(server.url, 'PUT /_replicator/live', changed)
  await clock.until(async () => (await count(server, 'd')) === 2)
  await send(server.url, `DELETE /_replicator/live?rev=${json['rev'] as string}`)
  await clock.until(async () => (await state(server, 'live'))['error'] === 'not_found')
  // It is forgotten at once, and ends a little later.
  await clock.until(async () => (await send(server.url, 'GET /_active_tasks')).text.trim() === '[]')
  await fill(server, 'a', ['z'])
  expect([await count(server, 'c'), await count(server, 'd')]).toEqual([2, 2])
  await send(server.url, 'DELETE /_replicator')
  await clock.until(async () => ((await send(server.url, 'GET /_scheduler/docs')).json['total_rows'] as number) === 0)
})

test('a restart continues what was continuous, and does not repeat what was complete', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'pannier-replicator-'))
  opened.push({ close: () => rm(dir, { recursive: true, force: true }) })
  let writes = 0
  let isRestarted = false
  const fails: FastifyPluginAsync = async (app) => {
    app.addHook('preHandler', async ({ url }, reply) => {
      if (!url.includes('_bulk_docs') || ++writes === 1 || isRestarted) return
      await reply.code(503).send({ error: 'unavailable' })
    })
  }
  const other = await start({ http: { plugins: [fastifyPlugin(fails)] } })
  let here = await startServer({ ...OPTIONS, dir })
  const names = Array.from({ length: 1100 }, (_, n) => `doc-${n}`)
  await fill(here, 'a', names)
  await fill(here, 'b', [])
  await send(here.url, 'PUT /_replicator/once', { source: 'a', target: 'b', doc_ids: ['doc-1'] })
  await clock.until(async () => (await state(here, 'once'))['state'] === 'completed')
  const body = { source: 'a', target: remote(other, 'copy'), continuous: true, create_target: true }
  await send(here.url, 'PUT /_replicator/live', body)
  await clock.until(async () => (await state(here, 'live'))['state'] === 'crashing')
  await here.close()
  const before = await count(other, 'copy')
  expect([before > 0, before < 1100]).toEqual([true, true])
  isRestarted = true
  here = await startServer({ ...OPTIONS, dir })
  opened.push(here)
  await clock.until(async () => (await count(other, 'copy')) === 1100)
  await fill(here, 'a', ['later'])
  await clock.until(async () => (await count(other, 'copy')) === 1101)
  expect(await state(here, 'once')).toMatchObject({ state: 'completed', info: { docs_written: 1 } })
  const { jobs } = (await send(here.url, 'GET /_scheduler/jobs')).json as { jobs: object[] }
  expect(jobs).toMatchObject([{ doc_id: 'live' }])
})

test('wrong credentials: it crashes, waits, tries again, and runs once they are right; nobody sees them', async () => {
  const lines: string[] = []
  const logger = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) })
  const logged = await start({ logger })
  const other = await start()
  await fill(other, 'a', ['x'])
  const wrong = { source: remote(other, 'a', 'wrong-secret'), target: 'a', create_target: true }
  const { json } = await send(logged.url, 'PUT /_replicator/r', wrong)
  await clock.until(async () => ((await state(logged, 'r'))['error_count'] as number) >= 2)
  const crashing = await state(logged, 'r')
  expect(crashing).toMatchObject({
    state: expect.stringMatching(/crashing|running|pending/),
    source: `${other.url}/a/`,
  })
  const jobs = await send(logged.url, 'GET /_scheduler/jobs')
  expect(jobs.json).toMatchObject({
    jobs: [
      {
        doc_id: 'r',
        history: expect.arrayContaining([
          expect.objectContaining({ type: 'crashed', reason: expect.stringContaining('unauthorized') }),
        ]),
      },
    ],
  })
  await send(logged.url, 'PUT /_replicator/r', { ...wrong, source: remote(other, 'a'), _rev: json['rev'] })
  await clock.until(async () => (await state(logged, 'r'))['state'] === 'completed')
  expect(await count(logged, 'a')).toBe(1)
  const told = JSON.stringify([crashing, await state(logged, 'r')]) + jobs.text + lines.join('')
  expect(lines.join('')).toContain('a replication has failed')
  expect(told).not.toContain('wrong-secret')
  expect(told).not.toContain(ADMIN_PASSWORD)
  expect(told).not.toContain(Buffer.from(`${ADMIN_NAME}:wrong-secret`).toString('base64'))
})

test('a replication with a missing server is crashing until the server exists', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'pannier-replicator-'))
  opened.push({ close: () => rm(dir, { recursive: true, force: true }) })
  const port = await freePort()
  const first = await startServer({ ...OPTIONS, dir, port })
  await fill(first, 'a', ['x'])
  const source = remote(first, 'a')
  await first.close()
  await send(server.url, 'PUT /_replicator/r', { source, target: 'a', create_target: true, continuous: true })
  await clock.until(async () => (await state(server, 'r'))['state'] === 'crashing')
  expect(await state(server, 'r')).toMatchObject({ info: { error: expect.stringContaining('no connection') } })
  const late = await createServer({ dir, logger: false })
  opened.push(late)
  await late.listen({ port })
  await clock.until(async () => (await count(server, 'a')) === 1)
  expect(await state(server, 'r')).toMatchObject({ state: 'running' })
})

test('owners: a replication runs with their rights; others neither change nor see it', async () => {
  await fill(server, 'hers', ['x'])
  await fill(server, 'closed', ['secret'])
  await send(server.url, 'PUT /hers/_security', { members: { names: ['ann'] } })
  // Everybody else is kept from the database with the credentials in it, whatever its members are.
  await send(server.url, 'PUT /_replicator/_security', { members: { names: ['ann'] } })
  const secret = { source: 'http://u:secret@127.0.0.1:1/a', target: 'hers' }
  expect((await send(server.url, 'PUT /_replicator/admins', secret)).status).toBe(201)
  for (const path of ['/_replicator/admins', '/_replicator/_all_docs', '/_replicator/_changes'])
    expect([path, (await send(server.url, `GET ${path}`, undefined, ANN)).status]).toEqual([path, 403])
  expect((await send(server.url, 'GET /_scheduler/docs', undefined, ANN)).json['total_rows']).toBe(0)
  expect((await send(server.url, 'GET /_scheduler/docs/_replicator/admins', undefined, ANN)).status).toBe(404)
  expect((await send(server.url, 'POST /_replicate', { source: '_replicator', target: 'hers' }, ANN)).status).toBe(403)
  // An admin of this database alone.
  await send(server.url, 'PUT /_replicator/_security', { admins: { names: ['ann'] } })
  const put = async (id: string, body: object): Promise<number> =>
    (await send(server.url, `PUT /_replicator/${id}`, body, ANN)).status
  const { _rev } = (await send(server.url, 'GET /_replicator/admins')).json
  expect(await put('admins', { ...secret, _rev })).toBe(403)
  expect(await put('admins', { _rev, _deleted: true })).toBe(403)
  expect(await put('other', { source: 'hers', target: 'closed', owner: ADMIN_NAME })).toBe(403)
  expect(await put('other', { source: 'hers', target: 'closed', user_ctx: { name: 'ann', roles: ['_admin'] } })).toBe(
    403,
  )
  expect(await put('own', { source: 'closed', target: 'hers' })).toBe(201)
  expect((await send(server.url, 'GET /_replicator/own')).json['owner']).toBe('ann')
  await clock.until(async () => ((await state(server, 'own'))['error_count'] as number) > 0)
  expect(await state(server, 'own')).toMatchObject({ state: expect.stringMatching(/crashing|pending|running/) })
  expect(await count(server, 'hers')).toBe(1)
  // A server admin may name whose rights count.
  const named = { source: 'closed', target: 'hers', user_ctx: { name: 'ann', roles: [] } }
  expect((await send(server.url, 'PUT /_replicator/named', named)).status).toBe(201)
  await clock.until(async () => ((await state(server, 'named'))['error_count'] as number) > 0)
  expect(await count(server, 'hers')).toBe(1)
})

test('documents that are no replications are refused; one that got there otherwise has failed', async () => {
  for (const body of [
    {},
    { source: 'a' },
    { source: 'file:///etc/passwd', target: 'a' },
    { source: 'a', target: 'b', owner: 1 },
  ])
    expect((await send(server.url, 'PUT /_replicator/wrong', body)).status).toBe(403)
  const { json } = await send(server.url, 'POST /_replicator/_bulk_docs', {
    docs: [{ _id: 'w', source: 1 }, { _id: '_design/d' }],
  })
  expect(json).toMatchObject([
    { id: 'w', error: 'forbidden' },
    { id: '_design/d', ok: true },
  ])
  await server.server.database.collection('$_replicator').insert({ _id: 'imported', source: 'a' })
  await clock.until(async () => (await state(server, 'imported'))['state'] === 'failed')
  expect(await state(server, 'imported')).toMatchObject({ info: { error: expect.stringContaining('target') } })
  for (const name of ['_replicators', '_Replicator', 'x_replicator%00'])
    expect((await send(server.url, `PUT /${name}`)).status).toBe(400)
})

test('continuous ones give way to others that wait, and come again', async () => {
  const single = await start({ couch: { replicator: { ...OPTIONS.couch.replicator, runningMax: 1 } } })
  await fill(single, 'a', ['x'])
  const targets = ['b', 'c', 'd']
  for (const target of targets)
    await send(single.url, `PUT /_replicator/to-${target}`, {
      source: 'a',
      target,
      create_target: true,
      continuous: true,
    })
  for (const id of ['x', 'y', 'z']) {
    if (id !== 'x') await fill(single, 'a', [id])
    for (const target of targets)
      await clock.until(async () => (await send(single.url, `GET /${target}/${id}`)).status === 200)
  }
  expect(await state(single, 'to-b')).toMatchObject({ error_count: 0 })
})

test('a limited number runs at a time; others wait for their turn', async () => {
  const single = await start({ couch: { replicator: { ...OPTIONS.couch.replicator, runningMax: 1 } } })
  await fill(single, 'a', ['x'])
  const live = (target: string): object => ({ source: 'a', target, create_target: true, continuous: true })
  const { json } = await send(single.url, 'PUT /_replicator/first', live('b'))
  await clock.until(async () => (await state(single, 'first'))['state'] === 'running')
  await send(single.url, 'PUT /_replicator/second', live('c'))
  await clock.until(async () => (await state(single, 'second'))['state'] === 'pending')
  await send(single.url, `DELETE /_replicator/first?rev=${json['rev'] as string}`)
  await clock.until(async () => (await state(single, 'second'))['state'] === 'running')
})
