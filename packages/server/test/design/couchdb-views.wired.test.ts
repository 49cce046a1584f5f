/** Views answer as CouchDB does: the order of strings, `keys` with other options, reduces that fail, filters that fail. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { send, startServer } from '../test-server.ts'
import type { TestServer } from '../test-server.ts'

const NAMES = ['bar', 'baz', 'Äpfel', 'apfel', 'Zoo', 'apple', 'a\u0308', 'ä']
const MAP = 'function (doc) { if (doc.name) emit(doc.name, 1) }'
const DESIGN = {
  views: {
    names: { map: MAP, reduce: '_sum\n' },
    raw: { map: MAP, options: { collation: 'raw' } },
    pairs: { map: 'function (doc) { if (doc.name) emit([doc.name, doc.n % 2], doc.n) }', reduce: '_count' },
    long: { map: `function (doc) { if (doc.name) emit(${JSON.stringify('x'.repeat(2000))} + doc.name, 1) }` },
    numbers: { map: 'function (doc) { if (doc.name) emit(doc.n % 3, doc._id) }' },
    fragile: {
      map: MAP,
      reduce: 'function (keys, values) { if (keys[0][0] === "bar") throw new Error("no"); return values.length }',
    },
  },
  filters: { fragile: 'function (doc) { return doc.owner.name === "a" }' },
}

interface Row {
  readonly id?: string
  readonly key: unknown
  readonly value: unknown
}

let running: TestServer

beforeAll(async () => {
  running = await startServer()
  await send(running.url, 'PUT /views')
  const docs = [...NAMES.map((name, n) => ({ _id: String(n), name, n, owner: { name: 'a' } })), { _id: 'none' }]
  await send(running.url, 'POST /views/_bulk_docs', { docs })
  expect((await send(running.url, 'PUT /views/_design/d', DESIGN)).status).toBe(201)
})
afterAll(() => running.close())

async function rows(path: string, body?: object): Promise<Row[]> {
  const answer = await send(running.url, `${body === undefined ? 'GET' : 'POST'} /views/_design/d/_view/${path}`, body)
  expect([answer.status, answer.text]).toEqual([200, answer.text])
  return answer.json['rows'] as Row[]
}

async function keys(path: string): Promise<unknown[]> {
  return (await rows(path)).map(({ key }) => key)
}

test('keys are in the order of ICU, and so are bounds and groups', async () => {
  const sorted = ['a\u0308', 'ä', 'apfel', 'Äpfel', 'apple', 'bar', 'baz', 'Zoo']
  expect(await keys('names?reduce=false')).toEqual(sorted)
  expect(await keys('names?reduce=false&descending=true')).toEqual(sorted.toReversed())
  expect(await keys('names?reduce=false&startkey="a"&endkey="b"')).toEqual(sorted.slice(0, 5))
  expect(await keys('names?reduce=false&key="ä"')).toEqual(['a\u0308', 'ä'])
  expect(await rows('names')).toEqual([{ key: null, value: 8 }])
  const groups = await rows('names?group=true')
  expect(groups.map(({ value }) => value)).toEqual([2, 1, 1, 1, 1, 1, 1])
  const byFirst = await rows('pairs?group_level=1')
  expect(byFirst.map(({ key, value }) => [key, value])).toEqual([
    [['a\u0308'], 2],
    ...sorted.slice(2).map((name) => [[name], 1]),
  ])
  expect(await keys('pairs?reduce=false&startkey=["b"]&endkey=["b\ufff0"]')).toEqual([
    ['bar', 0],
    ['baz', 1],
  ])
  expect(await keys('raw')).toEqual(['Zoo', 'a\u0308', 'apfel', 'apple', 'bar', 'baz', 'Äpfel', 'ä'].toSorted(byUnits))
  expect(await rows('long')).toHaveLength(8)
  const bar = encodeURIComponent(JSON.stringify(`${'x'.repeat(2000)}bar`))
  expect((await rows(`long?key=${bar}`)).map(({ id }) => id)).toEqual(['0'])
})

function byUnits(left: string, right: string): number {
  return left < right ? -1 : 1
}

test('the view follows what is written', async () => {
  const { json } = await send(running.url, 'PUT /views/later', { name: 'BAR', n: 9 })
  expect(await keys('names?reduce=false&startkey="bar"&endkey="baz"')).toEqual(['bar', 'BAR', 'baz'])
  await send(running.url, `DELETE /views/later?rev=${String(json['rev'])}`)
  expect(await keys('names?reduce=false&startkey="bar"&endkey="baz"')).toEqual(['bar', 'baz'])
})

test('keys go with descending and with ids, and not with bounds', async () => {
  const values = async (query: string): Promise<unknown[]> =>
    (await rows(`numbers${query}`, { keys: [0, 2] })).map(({ value }) => value)
  expect(await values('')).toEqual(['0', '3', '6', '2', '5'])
  expect(await values('?descending=true')).toEqual(['5', '2', '6', '3', '0'])
  expect(await values('?startkey_docid=3&endkey_docid=5')).toEqual(['3', '5'])
  for (const bound of ['startkey=0', 'endkey=0', 'key=0']) {
    const answer = await send(running.url, `POST /views/_design/d/_view/numbers?${bound}`, { keys: [0] })
    expect([answer.status, answer.json['error']]).toEqual([400, 'query_parse_error'])
  }
})

const REVERSED = 'No rows can match your key range, reverse your start_key and end_key or set descending='

test.each([
  ['numbers?startkey=2&endkey=1', 'true'],
  ['numbers?startkey=1&endkey=2&descending=true', 'false'],
  ['names?reduce=false&startkey="ä"&endkey="A"', 'true'],
  ['names?startkey="apple"&endkey="Äpfel"', 'true'],
  ['raw?startkey="Ä"&endkey="Z"', 'true'],
  ['pairs?startkey=["b",1]&endkey=["b"]', 'true'],
  ['pairs?startkey={"a":1}&endkey=[1]', 'true'],
  ['numbers?startkey=true&endkey=false', 'true'],
  ['numbers?startkey=1&endkey=null', 'true'],
])('a range that goes backwards is refused: %s', async (path, descending) => {
  const answer = await send(running.url, `GET /views/_design/d/_view/${path}`)
  expect([answer.status, answer.json['reason']]).toEqual([400, REVERSED + descending])
})

test.each([
  'numbers?startkey=1&endkey=1&inclusive_end=false',
  'numbers?startkey=2&endkey=1&descending=true',
  'numbers?startkey=2',
  'names?reduce=false&startkey="Z"&endkey="Ä"&descending=true',
  'names?reduce=false&startkey="a"&endkey="A"',
  'raw?startkey="Z"&endkey="Ä"',
  'pairs?reduce=false&startkey=["b"]&endkey=["b",{}]',
  'numbers?startkey=1&startkey_docid=9&endkey=1&endkey_docid=0',
])('a range that goes on is none: %s', async (path) => {
  expect(Array.isArray(await rows(path))).toBe(true)
})

test('a range of several queries that goes backwards is refused', async () => {
  const queries = [{ key: 1 }, { startkey: 2, endkey: 1 }]
  expect((await send(running.url, 'POST /views/_design/d/_view/numbers/queries', { queries })).status).toBe(400)
})

test('a level counts more than group=true, and goes against group=false', async () => {
  expect(await rows('pairs?group=true&group_level=0')).toEqual([{ key: null, value: 8 }])
  expect(await rows('pairs?group=true&group_level=1')).toEqual(await rows('pairs?group_level=1'))
  expect((await send(running.url, 'GET /views/_design/d/_view/pairs?group=false&group_level=1')).status).toBe(400)
  expect(await rows('pairs?group=false&group_level=0')).toEqual([{ key: null, value: 8 }])
})

test('conflicts are of documents, so a reduce has none', async () => {
  const answer = await send(running.url, 'GET /views/_design/d/_view/pairs?conflicts=true')
  expect([answer.status, answer.json['error']]).toEqual([400, 'query_parse_error'])
  expect(await rows('pairs?reduce=false&conflicts=true&include_docs=true')).toHaveLength(8)
})

test('a reduce that throws gives null for its rows only', async () => {
  const groups = await rows('fragile?group=true')
  expect(groups.map(({ key, value }) => [key, value]).slice(3, 6)).toEqual([
    ['apple', 1],
    ['bar', null],
    ['baz', 1],
  ])
})

test('an unknown reduce is an error, when it is stored and when it is used', async () => {
  const design = { views: { v: { map: MAP, reduce: '_product' } } }
  const put = await send(running.url, 'PUT /views/_design/unknown', design)
  expect([put.status, put.json['error']]).toEqual([400, 'invalid_design_doc'])
  const docs = [{ _id: '_design/unknown', _rev: '1-a', ...design }]
  await send(running.url, 'POST /views/_bulk_docs', { docs, new_edits: false })
  const used = await send(running.url, 'GET /views/_design/unknown/_view/v')
  expect([used.status, used.json['error']]).toEqual([400, 'invalid_design_doc'])
})

test('a filter that throws is an error: documents are not left out without a word', async () => {
  const answer = await send(running.url, 'GET /views/_changes?filter=d/fragile')
  expect(answer.status).toBe(500)
})

test('feed=live is a continuous feed', async () => {
  const answer = await send(running.url, 'GET /views/_changes?feed=live&timeout=10&limit=2')
  expect(answer.text.trim().split('\n')).toHaveLength(3)
})
