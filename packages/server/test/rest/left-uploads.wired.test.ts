/**
 * Goal: an upload whose client leaves in its midst leaves nothing behind: no record, no file, no turn, and no memory. Method: each door that
 * takes a body gets a whole request, cut at points of its length over real connections.
 */
import { readdir } from 'node:fs/promises'
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { open, type Database } from 'pannier'
import { memory } from 'pannier/memory'
import { heldBodies } from '../../src/http/held-bodies.ts'
import { ADMIN, send } from '../test-server.ts'
import { startRest, type RestServer } from './rest-server.ts'

const OPEN = { listRule: '', viewRule: '', createRule: '', updateRule: '' }
const ID = 'aaaaaaaaaaaaaaa'
const PARTS = [0.05, 0.5, 0.97, 0.999]
const FILE = 'f'.repeat(300_000)

let server: RestServer
let database: Database
/** Bytes of bodies that requests hold. */
let held = 0

beforeAll(async () => {
  const hold = heldBodies.hold.bind(heldBodies)
  vi.spyOn(heldBodies, 'hold').mockImplementation((request) => {
    const real = hold(request)
    let own = 0
    const set = (bytes: number): void => {
      held += bytes - own
      own = bytes
    }
    return {
      to: (bytes) => {
        real.to(bytes)
        set(bytes)
      },
      release: () => {
        real.release()
        set(0)
      },
    }
  })
  database = await open('left', { storage: memory() })
  server = await startRest({ database })
  await send(server.url, 'PUT /plain', undefined, { authorization: ADMIN })
  await server.call('PATCH /settings', { batch: { enabled: true, maxRequests: 100, timeout: 60 } })
  const fields = [
    { name: 'title', type: 'text' },
    { name: 'file', type: 'file', maxSize: 10_000_000 },
  ]
  await server.call('POST /collections', { name: 'papers', fields, ...OPEN })
  await server.call('POST /collections/papers/records', { id: ID, title: 'first' })
})
afterAll(async () => {
  vi.restoreAllMocks()
  await server.close()
  await database.close()
})

const multipart = 'content-type: multipart/form-data; boundary=x'
const json = 'content-type: application/json'

function part(name: string, text: string, fileName?: string): string {
  const file = fileName === undefined ? '' : `; filename="${fileName}"`
  return `--x\r\ncontent-disposition: form-data; name="${name}"${file}\r\n\r\n${text}\r\n`
}

const signUp = { email: 'a@example.org', password: 'password1', passwordConfirm: 'password1', more: 'n'.repeat(90_000) }
const doors: Record<string, [request: string, header: string, body: string]> = {
  'a new record with a file': [
    'POST /api/collections/papers/records',
    multipart,
    `${part('title', 'left')}${part('file', FILE, 'a.txt')}--x--\r\n`,
  ],
  'a file of a record': [
    `PATCH /api/collections/papers/records/${ID}`,
    multipart,
    `${part('file', FILE, 'a.txt')}--x--\r\n`,
  ],
  'a record as JSON': ['POST /api/collections/papers/records', json, JSON.stringify({ title: 'left', more: FILE })],
  'a batch with a file': [
    'POST /api/batch',
    multipart,
    `${part('@jsonPayload', JSON.stringify({ requests: [{ method: 'POST', url: '/api/collections/papers/records', body: { title: 'left' } }] }))}${part('requests.0.file', FILE, 'a.txt')}--x--\r\n`,
  ],
  'a sign-up': ['POST /api/collections/users/records', json, JSON.stringify(signUp)],
  'a document': ['PUT /papers/bbbbbbbbbbbbbbb', json, JSON.stringify({ title: 'left', more: FILE })],
  documents: ['POST /papers/_bulk_docs', json, JSON.stringify({ docs: [{ title: 'left', more: FILE }] })],
  'an attachment': ['PUT /plain/doc/a.txt', 'content-type: text/plain', FILE],
  'a document with an attachment': [
    'PUT /plain/doc',
    'content-type: multipart/related; boundary=x',
    `--x\r\ncontent-type: application/json\r\n\r\n{"_attachments":{"a.txt":{"follows":true,"content_type":"text/plain","length":${FILE.length}}}}\r\n--x\r\n\r\n${FILE}\r\n--x--`,
  ],
}

/** Sends a part of a request, and leaves when the server has had a chance to read it. */
async function leave(request: string, header: string, body: string, share: number): Promise<void> {
  const { hostname, port } = new URL(server.url)
  const socket = connect(Number(port), hostname).on('error', () => {})
  const head = `${request} HTTP/1.1\r\nhost: x\r\nauthorization: ${ADMIN}\r\n${header}\r\ncontent-length: ${body.length}\r\n\r\n`
  await new Promise((resolve) => socket.write(head + body.slice(0, Math.floor(body.length * share)), resolve))
  // An answer to another request comes later than what was sent before it is read.
  await server.call('GET /health')
  socket.resetAndDestroy()
}

async function state(): Promise<unknown> {
  const [papers, users, documents, files] = [
    await server.call('GET /collections/papers/records'),
    await server.call('GET /collections/users/records'),
    await send(server.url, 'GET /plain/_all_docs', undefined, { authorization: ADMIN }),
    await readdir(server.dir, { recursive: true }),
  ]
  expect(documents.status).toBe(200)
  return [papers.json, users.json, documents.json, files.filter((name) => name.includes('upload'))]
}

test.each(Object.entries(doors))('%s leaves nothing behind', async (_, [request, header, body]) => {
  const before = await state()
  for (const share of PARTS) await leave(request, header, body, share)
  await expect.poll(() => held).toBe(0)
  expect(await state()).toEqual(before)
  expect((await database.check()).problems).toEqual([])
})

test('the next upload has all the room, and its turn', async () => {
  const form = new FormData()
  form.append('file', new Blob([FILE]), 'a.txt')
  const made = await fetch(`${server.url}/api/collections/papers/records`, { method: 'POST', body: form })
  expect(made.status).toBe(200)
  expect((await server.call('POST /collections/users/records', signUp, '')).status).toBe(200)
})
