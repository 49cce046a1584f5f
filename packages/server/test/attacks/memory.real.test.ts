/**
 * Answers that are larger than the server's memory: documents of 6 MB under a heap of 192 MB stand for 20 MB under 512 MB. The server must
 * outlive each request, and answer others afterwards.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startProcess, type ServerProcess } from '../../testing/processes.ts'
import { times } from '../../../../tools/test/seeds.ts'
import { ADMIN, send } from '../test-server.ts'

const HEAP_MEGABYTES = 192
const LARGE_DOCUMENTS = 40
/** To documents, in one request: with all of them the heap would be full more than once. */
const REFERENCES = times(48)
/** Some six megabytes of JSON; twice that as objects. */
const LARGE = { s: Array.from({ length: 30_000 }, (_, at) => String(at).padEnd(200, 'x')) }

let dir: string
let server: ServerProcess

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'pannier-memory-'))
  server = await startProcess('pannier-process.ts', [dir], { heapMegabytes: HEAP_MEGABYTES })
  await send(server.url, 'PUT /fat')
  for (let at = 0; at < LARGE_DOCUMENTS; at++) {
    const { status } = await send(server.url, `PUT /fat/d${at}`, LARGE)
    expect(status).toBe(201)
    const branch = await send(server.url, 'PUT /fat/branches?new_edits=false', { ...LARGE, _rev: `1-${at}` })
    expect(branch.status).toBe(201)
  }
  await send(server.url, 'PUT /fat/_design/views', {
    views: { all: { map: 'function (doc) { emit(doc._id, null); emit(doc._id, null) }' } },
  })
  expect((await send(server.url, 'GET /fat/_design/views/_view/all?limit=1')).status).toBe(200)
}, 600_000)
afterAll(async () => {
  await server.close()
  await rm(dir, { recursive: true, force: true })
})

const repeated = { docs: Array.from({ length: REFERENCES }, () => ({ id: 'd0' })) }
const distinct = { docs: Array.from({ length: LARGE_DOCUMENTS }, (_, at) => ({ id: `d${at}` })) }
const keys = { keys: Array.from({ length: REFERENCES }, (_, at) => `d${at % LARGE_DOCUMENTS}`) }
const READS: readonly (readonly [request: string, body?: unknown])[] = [
  ['POST /fat/_bulk_get', repeated],
  ['POST /fat/_bulk_get', distinct],
  ['POST /fat/_bulk_get', { docs: [{ id: 'branches' }, { id: 'branches' }] }],
  ['GET /fat/branches?open_revs=all'],
  ['GET /fat/branches?open_revs=all&revs=true&latest=true'],
  ['POST /fat/_all_docs?include_docs=true', keys],
  ['GET /fat/_all_docs?include_docs=true'],
  ['GET /fat/_changes?include_docs=true&conflicts=true'],
  ['POST /fat/_changes?include_docs=true&filter=_doc_ids', { doc_ids: keys.keys }],
  ['GET /fat/_design/views/_view/all?include_docs=true'],
  ['POST /fat/_find', { selector: { _id: { $gt: null } }, limit: 1000 }],
  ['POST /fat/_find', { selector: { s: { $size: 30_000 } }, sort: ['_id'], limit: 1000 }],
]

/** Counts the answer's bytes, and keeps none. */
async function drain(request: string, body: unknown, accept = 'application/json'): Promise<number> {
  const [method = '', path = ''] = request.split(' ')
  const answer = await fetch(server.url + path, {
    method,
    headers: { authorization: ADMIN, 'content-type': 'application/json', accept },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  expect(answer.status).toBe(200)
  let bytes = 0
  for await (const piece of answer.body!) bytes += (piece as Uint8Array).length
  return bytes
}

describe('an answer that is read to its end', () => {
  for (const [request, body] of READS)
    test(`${request} ${JSON.stringify(body ?? '').slice(0, 60)}`, async () => {
      expect(await drain(request, body)).toBeGreaterThan(LARGE_DOCUMENTS * 6_000_000)
      expect((await send(server.url, 'GET /_up')).status).toBe(200)
    }, 300_000)

  test('_bulk_get in parts', async () => {
    expect(await drain('POST /fat/_bulk_get', distinct, 'multipart/mixed')).toBeGreaterThan(LARGE_DOCUMENTS * 6_000_000)
  }, 300_000)
})

test('answers that nobody reads, of many connections at the same time, and whose clients leave', async () => {
  const sockets = [...READS, ['GET /fat/d0'] as const].flatMap(([request, body]) => {
    const [method = '', path = ''] = request.split(' ')
    const text = body === undefined ? '' : JSON.stringify(body)
    return [1, 2].map(() => {
      const socket = connect(Number(new URL(server.url).port), '127.0.0.1').on('error', () => {})
      socket.write(
        `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${ADMIN}\r\nContent-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n${text}`,
      )
      return socket.pause()
    })
  })
  for (let round = 0; round < 20; round++) {
    await sleep(250)
    expect((await send(server.url, 'GET /_up')).status).toBe(200)
  }
  for (const socket of sockets) socket.destroy()
  expect((await send(server.url, 'GET /fat/d0')).status).toBe(200)
}, 300_000)

test('more references than are answered at once are refused', async () => {
  const docs = Array.from({ length: 10_001 }, () => ({ id: 'd0' }))
  expect(await send(server.url, 'POST /fat/_bulk_get', { docs })).toMatchObject({
    status: 413,
    json: { error: 'too_large', reason: '`docs` has 10001 entries: at most 10000 are answered at once' },
  })
})
