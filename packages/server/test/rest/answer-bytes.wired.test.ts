/** Goal: no answer holds more of the server's memory than its budget, whatever the records have, and all of them can be read. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { jsonPieces, safeJson } from '@pannier/backend/internal'
import { startRest, type RestServer } from './rest-server.ts'

const MEBIBYTE = 1024 * 1024
const OPEN = { listRule: '', viewRule: '', createRule: '', updateRule: '' }

let server: RestServer
let big: string

beforeAll(async () => {
  server = await startRest()
  await server.call('PATCH /settings', { batch: { enabled: true, maxRequests: 100, timeout: 60 } })
  const fields = [
    { name: 'data', type: 'json', maxSize: 32 * MEBIBYTE },
    { name: 'n', type: 'number' },
  ]
  const { json } = await server.call('POST /collections', { name: 'big', fields, ...OPEN })
  const relation = { name: 'big', type: 'relation', collectionId: json['id'], maxSelect: 1 }
  await server.call('POST /collections', { name: 'small', fields: [relation], ...OPEN })
  const ids: unknown[] = []
  for (let n = 0; n < 20; n++) {
    const made = await server.call('POST /collections/big/records', { data: 'x'.repeat(MEBIBYTE - 100) })
    ids.push(made.json['id'])
  }
  big = String(ids[0])
  for (let n = 0; n < 40; n++) await server.call('POST /collections/small/records', { big })
}, 120_000)

function batch(request: object, count: number): ReturnType<RestServer['call']> {
  return server.call('POST /batch', { requests: Array.from({ length: count }, () => request) }, '')
}

afterAll(() => server.close())

test('a list, an order that is computed, a random one and expanded records end at the budget, with an error that says what to do', async () => {
  for (const path of [
    'big/records?perPage=100',
    'big/records?perPage=100&skipTotal=1&after=',
    'big/records?perPage=100&sort=@random',
    'big/records?perPage=100&sort=data.length',
    'small/records?perPage=40&expand=big',
  ]) {
    const { status, json } = await server.call(`GET /collections/${path}`, undefined, '')
    expect([path, status, json['message']]).toEqual([path, 400, expect.stringContaining('more than 16 MiB')])
  }
})

test('what is within the budget comes whole, in pieces', async () => {
  for (const path of ['big/records?perPage=5', 'small/records?perPage=10&expand=big']) {
    const { status, json } = await server.call(`GET /collections/${path}`, undefined, '')
    expect([path, status]).toEqual([path, 200])
    expect(JSON.stringify(json).length).toBeGreaterThan(5 * (MEBIBYTE - 100))
  }
})

test('a batch that stores more than it brings ends at the budget, with nothing written', async () => {
  const request = { method: 'PATCH', url: `/api/collections/big/records/${big}`, body: { 'n+': 1 } }
  const { status, json } = await batch(request, 30)
  expect(status).toBe(400)
  expect(JSON.stringify(json['data'])).toContain('more than 16 MiB')
  const { json: stored } = await server.call(`GET /collections/big/records/${big}`)
  expect(stored['n']).toBe(0)
  expect((await batch(request, 5)).status).toBe(200)
})

test('what the records of a batch expand is one answer: it ends at the budget, and each record is there', async () => {
  const { status, text } = await batch(
    { method: 'POST', url: '/api/collections/small/records?expand=big', body: { big } },
    40,
  )
  expect(status).toBe(200)
  expect(text.length).toBeLessThan(17 * MEBIBYTE)
  const bodies = (JSON.parse(text) as { body: { id: string; expand?: object } }[]).map(({ body }) => body)
  expect(new Set(bodies.map(({ id }) => id)).size).toBe(40)
  expect(bodies.filter(({ expand }) => expand !== undefined).length).toBeGreaterThan(5)
})

test('one record that is larger than the budget can be made, viewed, listed and changed', async () => {
  const made = await server.call('POST /collections/big/records', { data: 'x'.repeat(18 * MEBIBYTE) }, '')
  const path = `/collections/big/records/${String(made.json['id'])}`
  expect(made.status).toBe(200)
  expect((await server.call(`GET ${path}`, undefined, '')).status).toBe(200)
  expect((await server.call(`PATCH ${path}`, { n: 1 }, '')).status).toBe(200)
  const list = await server.call(`GET /collections/big/records?filter=n=1%26%26id='${String(made.json['id'])}'`)
  expect(list.status).toBe(200)
  await server.call(`DELETE ${path}`)
})

test('a replica of large records gets pages of some MiB, and all of them', async () => {
  let token: unknown = null
  let rows = 0
  for (let pages = 1; ; pages++) {
    const { status, json, text } = await server.call('POST /sync/pull', { collections: { big: token } }, '')
    expect(status).toBe(200)
    expect(text.length).toBeLessThan(4 * MEBIBYTE)
    const { big } = json['collections'] as { big: { rows: { record?: object }[]; token: string; isComplete: boolean } }
    rows += big.rows.filter(({ record }) => record !== undefined).length
    token = big.token
    if (big.isComplete) break
    expect(pages).toBeLessThan(30)
  }
  expect(rows).toBe(20)
})

test('pieces of JSON are the text that is made at once', () => {
  const wide = {
    list: Array.from({ length: 3000 }, (_, n) => ({ n, text: `<a>&${'é'.repeat(n % 50)}`, none: undefined })),
  }
  for (const value of [wide, { a: { b: wide, c: [null, undefined, [], {}] } }, [[wide], 'x'.repeat(200_000)], {}, null])
    expect([...jsonPieces(value)].join('')).toBe(safeJson(value))
})
