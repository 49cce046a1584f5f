/** Functions of design documents that take their time: they keep nobody waiting but who asked, and tell nothing of other databases. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { send, startServer, type TestServer } from '../test-server.ts'

let databases = 0
let running: TestServer

beforeAll(async () => {
  running = await startServer()
  for (const name of ['box', 'tenant-a', 'tenant-b', 'elsewhere']) await send(running.url, `PUT /${name}`)
  const docs = Array.from({ length: 6 }, (_, i) => ({ _id: String(i), i }))
  await send(running.url, 'POST /box/_bulk_docs', { docs })
})
afterAll(() => running.close())

test('a slow reduce is waited for by nobody else', async () => {
  const reduce =
    'function (k, v, r) { var end = Date.now() + 400; while (Date.now() < end); return r ? sum(v) : v.length }'
  await send(running.url, 'PUT /box/_design/slow', { views: { v: { map: 'function (d) { emit(d.i, 1) }', reduce } } })
  await send(running.url, 'GET /box/_design/slow/_view/v?reduce=false')
  const state = { isDone: false }
  const slow = send(running.url, 'GET /box/_design/slow/_view/v?group=true').finally(() => (state.isDone = true))
  let others = 0
  while (!state.isDone) {
    expect((await send(running.url, 'GET /_up')).status).toBe(200)
    others++
  }
  // Six groups take 2.4 s, in which a server that waits with them answers a handful.
  expect(others).toBeGreaterThan(12)
  const { rows } = (await slow).json as { rows: unknown[] }
  expect(rows).toEqual(Array.from({ length: 6 }, (_, key) => ({ key, value: 1 })))
})

test('a reduce that is asked for while rows change gives what the rows are', async () => {
  const reduce = 'function (k, v, r) { return sum(v) }'
  await send(running.url, 'PUT /elsewhere/_design/sums', {
    views: { v: { map: 'function (d) { emit(d.i, d.i) }', reduce } },
  })
  for (let round = 1; round <= 5; round++) {
    const docs = Array.from({ length: 100 }, (_, at) => ({ i: at }))
    await send(running.url, 'POST /elsewhere/_bulk_docs', { docs })
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => send(running.url, 'GET /elsewhere/_design/sums/_view/v')),
    )
    for (const { json } of answers) expect(json['rows']).toEqual([{ key: null, value: round * 4950 }])
  }
})

test('one design document in two databases keeps what it saw apart', async () => {
  const validate =
    'function (doc) { this.seen = (this.seen || "") + doc.secret; if (doc.ask) throw { forbidden: this.seen } }'
  for (const name of ['tenant-a', 'tenant-b'])
    await send(running.url, `PUT /${name}/_design/app`, { validate_doc_update: validate })
  expect((await send(running.url, 'PUT /tenant-a/one', { secret: 'OF-A' })).status).toBe(201)
  const asked = await send(running.url, 'PUT /tenant-b/ask', { ask: true, secret: '' })
  expect(asked.status).toBe(403)
  expect(asked.text).not.toContain('OF-A')
})

test('a filter that never ends is not tried again after some times', async () => {
  await send(running.url, 'PUT /box/_design/loop', {
    filters: { f: 'function () { Array.prototype.indexOf.call({ length: Math.pow(2, 53) - 1 }, 1) }' },
  })
  const ask = () => send(running.url, 'GET /box/_changes?filter=loop/f')
  for (let times = 0; times < 5; times++) expect((await ask()).status).toBe(500)
  expect(await ask()).toMatchObject({
    status: 500,
    json: { reason: expect.stringContaining('ended 5 times') as string },
  })
})

test.each([
  'Object.defineProperty(Array.prototype, 0, { set: function () {}, get: function () { return null } })',
  'Object.defineProperty(Array.prototype, 0, { get: function () { return { value: [null] } }, set: function () {} })',
  'Object.prototype.value = 5',
  'Object.prototype.failure = { kind: "timeout", message: { toString: 1 } }; Array.prototype.map = null',
  'Array.prototype.toJSON = function () { return [{ failure: { kind: "failed", message: { toString: 1 } } }] }',
  'Array.prototype.toJSON = function () { return "x" }',
  'Object.prototype.toJSON = function () { return [[1, 2, 3]] }',
])('functions that change what results are made of harm themselves alone: %s', async (code) => {
  const database = `shapes-${databases++}`
  await send(running.url, `PUT /${database}`)
  await send(running.url, `POST /${database}/_bulk_docs`, { docs: [{ _id: 'a' }, { _id: 'b' }] })
  const map = `function (doc) { ${code}; emit(doc._id, 1) }`
  const filters = { f: `function (doc) { ${code}; return true }` }
  const design = { views: { v: { map } }, filters }
  expect((await send(running.url, `PUT /${database}/_design/d`, design)).status).toBe(201)
  for (const request of [`GET /${database}/_design/d/_view/v`, `GET /${database}/_changes?filter=d/f`]) {
    const { status, text, json } = await send(running.url, request)
    expect([request, status === 200 || status === 500, text]).toEqual([request, true, text])
    expect(text).not.toMatch(/Cannot|undefined|operator|not iterable|internal_server_error/)
    if (status === 200)
      expect(json).toMatchObject({ [request.includes('_view') ? 'rows' : 'results']: expect.anything() })
  }
})
