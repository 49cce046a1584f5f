/** Answers with the content of an attachment that is nearly as much as the server's memory, in base64. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startProcess, type ServerProcess } from '../../testing/processes.ts'
import { ADMIN, send } from '../test-server.ts'

const HEAP_MEGABYTES = 96
const ATTACHMENT_BYTES: number = 64 * 1024 * 1024
const FILES = ['a']

let dir: string
let server: ServerProcess

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'pannier-attachments-'))
  server = await startProcess('pannier-process.ts', [dir], { heapMegabytes: HEAP_MEGABYTES })
  await send(server.url, 'PUT /files')
  const content = new Uint8Array(ATTACHMENT_BYTES)
  for (const id of FILES) expect((await send(server.url, `PUT /files/${id}/content`, content)).status).toBe(201)
  await send(server.url, 'PUT /files/_design/views', { views: { all: { map: 'function (doc) { emit(doc._id) }' } } })
}, 120_000)
afterAll(async () => {
  await server.close()
  await rm(dir, { recursive: true, force: true })
})

const PARAMETERS = 'include_docs=true&attachments=true'
/** The feed ends when nothing has come for that long, also before its first row. */
const IDLE_MS = 2000
const READS: readonly (readonly [request: string, body?: unknown])[] = [
  [`GET /files/_all_docs?${PARAMETERS}`],
  [`POST /files/_all_docs?${PARAMETERS}`, { keys: FILES }],
  [`GET /files/_changes?${PARAMETERS}`],
  [`GET /files/_changes?${PARAMETERS}&feed=eventsource&timeout=${IDLE_MS}`],
  [`GET /files/_design/views/_view/all?${PARAMETERS}`],
  ['POST /files/_bulk_get?attachments=true', { docs: FILES.map((id) => ({ id })) }],
]

for (const [request, body] of READS)
  test(`${request} is read to its end`, async () => {
    const [method = '', path = ''] = request.split(' ')
    const answer = await fetch(server.url + path, {
      method,
      headers: { authorization: ADMIN, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    expect(answer.status).toBe(200)
    let bytes = 0
    for await (const piece of answer.body!) bytes += (piece as Uint8Array).length
    expect(bytes).toBeGreaterThan((FILES.length * ATTACHMENT_BYTES * 4) / 3)
    expect((await send(server.url, 'GET /_up')).status).toBe(200)
  })
