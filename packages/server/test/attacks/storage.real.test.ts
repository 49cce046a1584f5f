/**
 * Goal: nobody fills the disk: little that comes in gzip can't become much, and a database takes no more than its quota.
 * Method: a server whose databases may take 8 MiB each, filled in each way there is.
 */
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { send, startServer, until } from '../test-server.ts'
import type { Answer, TestServer } from '../test-server.ts'

const MEBIBYTE = 1024 * 1024
const QUOTA = 8 * MEBIBYTE
const NOISE = Buffer.alloc(16 * MEBIBYTE)
for (let at = 0, state = 7; at < NOISE.length; at++) NOISE[at] = (state = (state * 1103515245 + 12345) % 2 ** 31) >> 16

let running: TestServer
let url: string

beforeEach(async () => {
  running = await startServer({
    limits: { databaseBytesMax: QUOTA },
    couch: { replicator: { hosts: ['127.0.0.1'], backOff: () => 1 } },
  })
  url = running.url
  await send(url, 'PUT /db')
})
afterEach(() => running.close())

function noise(bytes: number, from = 0): Buffer {
  return NOISE.subarray(from, from + bytes)
}

async function stored(database = 'db'): Promise<number> {
  return ((await send(url, `GET /${database}`)).json['sizes'] as { file: number }).file
}

function attach(id: string, bytes: Uint8Array, headers = {}): Promise<Answer> {
  return send(url, `PUT /db/${id}/a`, bytes, { 'content-type': 'application/octet-stream', ...headers })
}

/** Documents of 100 KB each until one is refused. */
async function fill(): Promise<Answer> {
  for (let at = 0; at < 200; at++) {
    const answer = await send(url, `PUT /db/fill${at}`, { s: noise(75_000, at * 10).toString('base64') })
    if (answer.status !== 201) return answer
  }
  throw new Error('it was never full')
}

test('a body in gzip may become a hundred times as large, not more', async () => {
  const zeros = gzipSync(Buffer.alloc(4 * MEBIBYTE))
  const GZIP = { 'content-encoding': 'gzip' }
  expect(zeros.length * 100).toBeLessThan(4 * MEBIBYTE)
  const bomb = await attach('bomb', zeros, GZIP)
  expect([bomb.status, bomb.json['error'], bomb.text]).toEqual([413, 'too_large', expect.stringContaining('100 times')])
  // The same inside of a document, and as a part.
  const valid = { content_type: 'text/plain', encoding: 'gzip', data: gzipSync('x'.repeat(3000)).toString('base64') }
  expect((await send(url, 'PUT /db/valid', { _attachments: { a: valid, b: valid } })).status).toBe(201)
  expect((await send(url, 'GET /db/valid/b')).text).toBe('x'.repeat(3000))
  const inline = { content_type: 'text/plain', encoding: 'gzip', data: gzipSync(Buffer.alloc(7e6)).toString('base64') }
  const long = { ...inline, data: gzipSync(Buffer.alloc(6e7)).toString('base64') }
  for (const a of [inline, long]) expect((await send(url, 'PUT /db/inline', { _attachments: { a } })).status).toBe(413)
  expect((await send(url, 'PUT /db/json', gzipSync(`{"s":"${'x'.repeat(3e6)}"}`), GZIP)).status).toBe(413)
  expect((await attach('small', gzipSync(Buffer.alloc(MEBIBYTE / 2)), GZIP)).status).toBe(201)
  const text = Array.from({ length: 40_000 }, (_, at) => `line ${at} of a log that repeats itself`).join('\n')
  expect((await attach('text', gzipSync(text), GZIP)).status).toBe(201)
  expect((await send(url, 'GET /db')).json['doc_count']).toBe(3)
})

test('a full database takes no document, says why, and is read and deleted from all the same', async () => {
  const full = await fill()
  expect([full.status, full.json['error'], full.text]).toEqual([
    507,
    'insufficient_storage',
    expect.stringMatching(/'db' is full: it may take 8388608 bytes.*--quota/),
  ])
  expect(await stored()).toBeLessThan(QUOTA + 2 * MEBIBYTE)
  const bulk = { docs: [{ _id: 'x' }, { _id: 'y' }] }
  expect((await send(url, 'POST /db/_bulk_docs', bulk)).status).toBe(507)
  expect((await send(url, 'POST /db', { n: 1 })).status).toBe(507)
  expect((await attach('x', noise(10))).status).toBe(507)
  expect((await send(url, 'COPY /db/fill0', undefined, { destination: 'x' })).status).toBe(507)
  expect((await send(url, 'GET /db/x')).status).toBe(404)
  // Others have room, and so have replication checkpoints here.
  await send(url, 'PUT /other')
  expect((await send(url, 'PUT /other/x', { n: 1 })).status).toBe(201)
  expect((await send(url, 'PUT /db/_local/checkpoint', { n: 1 })).status).toBe(201)
  for (let at = 0; at < 40; at++) {
    const rev = (await send(url, `GET /db/fill${at}`)).json['_rev'] as string
    expect((await send(url, `DELETE /db/fill${at}?rev=${rev}`)).status).toBe(200)
  }
  await send(url, 'POST /db/_compact', {})
  await until(async () => (await send(url, 'PUT /db/again', { n: 1 })).status === 201)
})

test('attachments are counted while they come, those of all requests together', async () => {
  const answers = await Promise.all(
    Array.from({ length: 6 }, (_, at) => attach(`big${at}`, noise(3 * MEBIBYTE, at * MEBIBYTE))),
  )
  const statuses = answers.map(({ status }) => status)
  expect(statuses.filter((status) => status === 507).length).toBeGreaterThanOrEqual(4)
  expect(statuses.filter((status) => status === 201).length).toBeGreaterThanOrEqual(1)
  expect((await attach('huge', noise(12 * MEBIBYTE))).status).toBe(507)
  expect(await stored()).toBeLessThan(QUOTA + 2 * MEBIBYTE)
})

test('documents that a replication brings are refused as a whole, and may come again', async () => {
  await fill()
  const edits = { new_edits: false, docs: [{ _id: 'x', _rev: '1-ab', n: 1 }] }
  expect((await send(url, 'POST /db/_bulk_docs', edits)).status).toBe(507)
  const source = await startServer()
  await send(source.url, 'PUT /from')
  await send(source.url, 'PUT /from/x', { n: 1 })
  const job = { source: `${source.adminUrl}/from`, target: 'db' }
  const refused = await send(url, 'POST /_replicate', job)
  expect([refused.status >= 400, refused.text]).toEqual([true, expect.stringContaining('is full')])
  expect((await send(url, 'GET /db/x')).status).toBe(404)
  await source.close()
})
