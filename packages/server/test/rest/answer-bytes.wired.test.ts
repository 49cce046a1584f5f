/** Goal: no answer holds more of the server's memory than its budget, whatever the records have, and all of them can be read. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { jsonPieces } from '../../src/http/json-pieces.ts'
import { safeJson } from '../../src/http/safe-json.ts'
import { startRest, type RestServer } from './rest-server.ts'

const MEBIBYTE = 1024 * 1024
const OPEN = { listRule: '', viewRule: '' }

let server: RestServer

beforeAll(async () => {
  server = await startRest()
  const text = { name: 'data', type: 'json', maxSize: 2 * MEBIBYTE }
  const { json } = await server.call('POST /collections', { name: 'big', fields: [text], ...OPEN })
  const relation = { name: 'big', type: 'relation', collectionId: json['id'], maxSelect: 1 }
  await server.call('POST /collections', { name: 'small', fields: [relation], ...OPEN })
  const ids: unknown[] = []
  for (let n = 0; n < 20; n++) {
    const made = await server.call('POST /collections/big/records', { data: 'x'.repeat(MEBIBYTE - 100) })
    ids.push(made.json['id'])
  }
  for (let n = 0; n < 40; n++) await server.call('POST /collections/small/records', { big: ids[0] })
}, 120_000)

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
