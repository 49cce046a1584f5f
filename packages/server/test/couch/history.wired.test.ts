/** The content of replaced revisions: gone at once, or kept until the database is compacted (`history`). */
import { virtualEnvironment } from 'pannier/testing'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { send, startServer } from '../test-server.ts'
import type { Answer, TestServer } from '../test-server.ts'

const JSON_ONLY = { accept: 'application/json' }

const clock = virtualEnvironment()
/** Without the option, and with it. */
const servers: TestServer[] = []

beforeAll(async () => {
  for (const history of [false, true]) servers.push(await startServer({ environment: clock, couch: { history } }))
})
afterEach(async () => {
  for (const { url } of servers)
    for (const name of JSON.parse((await send(url, 'GET /_all_dbs')).text) as string[])
      if (!name.startsWith('_')) await send(url, `DELETE /${name}`)
})
afterAll(() => Promise.all(servers.map((server) => server.close())))

type Ask = (request: string, body?: unknown) => Promise<Answer>

const asking =
  (at: 0 | 1): Ask =>
  (request, body) =>
    send(servers[at]!.url, request, body, JSON_ONLY)
const askPlain = asking(0)
const askKeeping = asking(1)

/** A document with three revisions, the second with another attachment than the first, the third without. */
async function threeRevisions(ask: Ask, path: string): Promise<string[]> {
  const file = (data: string): object => ({ _attachments: { file: { content_type: 'text/plain', data } } })
  const revs: string[] = []
  for (const content of [file('b25l'), file('dHdv'), {}]) {
    const { json } = await ask(`PUT ${path}`, {
      n: revs.length,
      ...content,
      ...(revs.length > 0 && { _rev: revs.at(-1) }),
    })
    revs.push(json['rev'] as string)
  }
  return revs
}

test('without it they are gone at once', async () => {
  const ask = askPlain
  await ask('PUT /plain')
  const [first] = await threeRevisions(ask, '/plain/a')
  expect((await ask('GET /plain/_pannier/history')).json).toBe(false)
  expect((await ask(`GET /plain/a?rev=${first}`)).status).toBe(404)
})

test('with it each way of reading finds them, until they are compacted', async () => {
  const ask = askKeeping
  await ask('PUT /kept')
  const [first, second, third] = (await threeRevisions(ask, '/kept/a')) as [string, string, string]
  expect((await ask('GET /kept/_pannier/history')).json).toBe(true)
  const old = await ask(`GET /kept/a?rev=${second}&revs_info=true&attachments=true`)
  expect(old.json).toMatchObject({ n: 1, _rev: second, _attachments: { file: { data: 'dHdv' } } })
  expect((await ask('GET /kept/a?revs_info=true')).json['_revs_info']).toEqual(
    [third, second, first].map((rev) => ({ rev, status: 'available' })),
  )
  expect((await ask(`GET /kept/a/file?rev=${first}`)).text).toBe('one')
  expect((await ask('GET /kept/a/file')).status).toBe(404)
  const open = await ask(`GET /kept/a?open_revs=${JSON.stringify([first, third])}`)
  expect(open.json).toMatchObject([{ ok: { n: 0 } }, { ok: { n: 2 } }])
  const many = await ask('POST /kept/_bulk_get', { docs: [{ id: 'a', rev: first }] })
  expect(many.json).toMatchObject({ results: [{ docs: [{ ok: { n: 0, _rev: first } }] }] })
  // They are no leaves: no write may replace them, and lists and feeds have the newest only.
  expect((await ask(`PUT /kept/a?rev=${first}`, {})).status).toBe(409)
  expect((await ask(`DELETE /kept/a?rev=${first}`)).status).toBe(409)
  expect((await ask('GET /kept/a?conflicts=true&deleted_conflicts=true')).json).toEqual({ _id: 'a', _rev: third, n: 2 })
  expect((await ask('GET /kept/_changes?style=all_docs')).json['results']).toMatchObject([
    { changes: [{ rev: third }] },
  ])
  expect((await ask('GET /kept')).json).toMatchObject({ doc_count: 1, doc_del_count: 0 })
  const deletion = await ask(`DELETE /kept/a?rev=${third}`)
  expect((await ask(`GET /kept/a?rev=${third}`)).json).toMatchObject({ n: 2 })

  expect((await ask('POST /kept/_compact', {})).status).toBe(202)
  await clock.idle()
  expect((await ask(`GET /kept/a?rev=${first}`)).status).toBe(404)
  expect((await ask('GET /kept')).json['compact_running']).toBe(false)
  for (const rev of [second, third]) expect((await ask(`GET /kept/a?rev=${rev}`)).status).toBe(404)
  expect((await ask(`GET /kept/a/file?rev=${second}`)).status).toBe(404)
  expect((await ask(`GET /kept/a?rev=${String(deletion.json['rev'])}&revs_info=true`)).json).toMatchObject({
    _deleted: true,
    _revs_info: [{ status: 'deleted' }, { status: 'missing' }, { status: 'missing' }, { status: 'missing' }],
  })
})

test('what is kept counts in sizes.file, until it is compacted', async () => {
  const ask = askKeeping
  await ask('PUT /kept')
  const sizeOf = async (): Promise<number> => {
    await servers[1]!.server.database.flush()
    return ((await ask('GET /kept')).json['sizes'] as { readonly file: number }).file
  }
  let rev: unknown
  for (let n = 0; n < 20; n++)
    ({ rev } = (await ask('PUT /kept/a', { n, text: `${n} `.repeat(10_000), _rev: rev })).json)
  const before = await sizeOf()
  expect(before).toBeGreaterThan(20 * 10_000)
  await ask('POST /kept/_compact', {})
  await clock.idle()
  expect(await sizeOf()).toBeLessThan(before / 5)
})

test('one database can keep them, and the next one of its name does not', async () => {
  const ask = askPlain
  await ask('PUT /one')
  expect((await ask('PUT /one/_pannier/history', 'yes')).status).toBe(400)
  expect((await ask('PUT /one/_pannier/history', true)).json).toEqual({ ok: true })
  const [first, second] = await threeRevisions(ask, '/one/a')
  expect((await ask(`GET /one/a?rev=${first}`)).status).toBe(200)
  await ask('PUT /one/_pannier/history', false)
  // What is kept stays until it is compacted.
  const { json } = await ask('PUT /one/b', { n: 0 })
  await ask('PUT /one/b', { n: 1, _rev: json['rev'] })
  expect((await ask(`GET /one/b?rev=${String(json['rev'])}`)).status).toBe(404)
  expect((await ask(`GET /one/a?rev=${second}`)).status).toBe(200)
  await ask('PUT /one/_pannier/history', true)
  await ask('DELETE /one')
  await ask('PUT /one')
  expect((await ask('GET /one/_pannier/history')).json).toBe(false)
})

test('the next one of its name keeps them if new ones do', async () => {
  const ask = askKeeping
  for (let times = 0; times < 2; times++) {
    await ask('PUT /kept')
    const [first] = await threeRevisions(ask, '/kept/a')
    expect((await ask(`GET /kept/a?rev=${first}`)).status).toBe(200)
    await ask('PUT /kept/_pannier/history', false)
    await ask('DELETE /kept')
  }
})

test('a replication brings leaves only', async () => {
  const ask = askKeeping
  await ask('PUT /kept')
  const [first, , third] = await threeRevisions(ask, '/kept/a')
  const done = await ask('POST /_replicate', { source: 'kept', target: 'copy', create_target: true })
  expect(done.json).toMatchObject({ history: [{ docs_written: 1, doc_write_failures: 0 }] })
  expect((await ask('GET /copy/a?revs=true')).json).toMatchObject({ _rev: third, _revisions: { start: 3 } })
  expect((await ask(`GET /copy/a?rev=${first}`)).status).toBe(404)
})

test('databases of the server never keep them: they would have hashes of old passwords', async () => {
  const ask = askKeeping
  expect((await ask('GET /_users/_pannier/history')).json).toBe(false)
  const refused = await ask('PUT /_users/_pannier/history', true)
  expect([refused.status, refused.json['error']]).toEqual([403, 'forbidden'])
})
