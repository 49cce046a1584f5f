/**
 * Goal: what runs around a request comes to its end when the client leaves before the answer, and gives back what it holds.
 * Method: real hooks that stop at gates, real connections that are cut there.
 */
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readlink, rm, writeFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startRest, type RestServer } from '../rest/rest-server.ts'

/** What the hooks share with the tests. */
interface Shared {
  /** What has happened, in order. */
  readonly steps: string[]
  /** Where hooks stop. */
  readonly gates: Record<'before' | 'inside', Promise<void>>
}

const HOOKS = `
const { steps, gates } = globalThis.clientsThatLeave
export default ({ onRecordCreateRequest, routerAdd, routerUse }) => {
  routerUse(async (e) => {
    const role = e.request.headers.get('x-role')
    if (!role) return e.next()
    if (role === 'refuse') steps.push('read ' + (await e.findUploadedFiles('photo'))[0].size)
    steps.push('before')
    await gates.before
    if (role === 'refuse') throw e.forbiddenError('No.')
    await e.next()
    steps.push('after')
  })
  onRecordCreateRequest(async (e) => {
    steps.push('inside')
    await gates.inside
    await e.next()
  }, 'posts')
  routerAdd('GET', '/api/late', (e) => {
    steps.push(e.request.signal.aborted ? 'has gone' : 'is there')
    return e.noContent()
  })
}
`
const FILE_BYTES = 6_000_000

let dir: string
let server: RestServer
const shared: Shared = { steps: [], gates: { before: Promise.resolve(), inside: Promise.resolve() } }

beforeAll(async () => {
  Object.assign(globalThis, { clientsThatLeave: shared })
  dir = await mkdtemp(join(tmpdir(), 'pannier-leaving-'))
  await mkdir(join(dir, 'hooks'))
  await writeFile(join(dir, 'hooks/around.js'), HOOKS)
  server = await startRest({ dir: join(dir, 'data'), app: { hooks: { dir: join(dir, 'hooks') } } })
  const fields = [
    { name: 'title', type: 'text' },
    { name: 'photo', type: 'file', maxSelect: 1, maxSize: 10_000_000 },
  ]
  await server.call('POST /collections', { name: 'posts', type: 'base', createRule: '', fields })
})
afterAll(async () => {
  await server.close()
  await rm(dir, { recursive: true, force: true })
  Reflect.deleteProperty(globalThis, 'clientsThatLeave')
})
beforeEach(() => void shared.steps.splice(0))

/** Sends a request whose connection is cut when its hooks come to a gate. They continue when the server has seen it. */
async function leaveAt(gate: 'before' | 'inside', request: string, headers: string, body = ''): Promise<void> {
  const opened = Promise.withResolvers<void>()
  shared.gates[gate] = opened.promise
  const { port, hostname } = new URL(server.url)
  const seen = once(server.server.http.server, 'connection') as Promise<[Socket]>
  const socket = connect(Number(port), hostname).on('error', () => {})
  socket.write(`${request} HTTP/1.1\r\nhost: localhost\r\n${headers}content-length: ${body.length}\r\n\r\n${body}`)
  const [atServer] = await seen
  await expect.poll(() => shared.steps.at(-1)).toBe(gate)
  const closed = new Promise((resolve) => atServer.once('close', resolve))
  socket.resetAndDestroy()
  await closed
  opened.resolve()
}

const JSON_TYPE = 'content-type: application/json\r\n'
const RECORDS = '/api/collections/posts/records'

test('a middleware continues behind its route, and the request is logged', async () => {
  await leaveAt('inside', `POST ${RECORDS}?left`, `x-role: stay\r\n${JSON_TYPE}`, '{"title":"left"}')
  await expect.poll(() => shared.steps).toEqual(['before', 'inside', 'after'])
  const { logs } = server.server.backend
  expect(logs).toBeDefined()
  const logged = async (): Promise<unknown> => {
    const { json } = await server.call('GET /logs?filter=data.url%20~%20%22left%22')
    return (json['items'] as { readonly message: string }[]).map(({ message }) => message)
  }
  await expect.poll(logged).toEqual([`POST ${RECORDS}?left`])
})

test('a handler of a route learns that the client has gone before it began', async () => {
  await leaveAt('before', 'GET /api/late', 'x-role: stay\r\n')
  await expect.poll(() => shared.steps).toEqual(['before', 'has gone', 'after'])
})

test('what is around a connection for messages ends with it', async () => {
  await leaveAt('before', 'GET /api/realtime', 'x-role: stay\r\n')
  await expect.poll(() => shared.steps).toEqual(['before', 'after'])
  shared.steps.splice(0)
  const left = new AbortController()
  const { body } = await fetch(`${server.url}/api/realtime`, { headers: { 'x-role': 'stay' }, signal: left.signal })
  expect(new TextDecoder().decode((await body!.getReader().read()).value)).toContain('PB_CONNECT')
  expect(shared.steps).toEqual(['before'])
  left.abort()
  await expect.poll(() => shared.steps).toEqual(['before', 'after'])
})

test('a form that a middleware has read gives back its file', async () => {
  const start = '--x\r\ncontent-disposition: form-data; name="photo"; filename="a"\r\n\r\n'
  const body = `${start}${'y'.repeat(FILE_BYTES)}\r\n--x--\r\n`
  await leaveAt(
    'before',
    `POST ${RECORDS}`,
    'x-role: refuse\r\ncontent-type: multipart/form-data; boundary=x\r\n',
    body,
  )
  expect(shared.steps).toEqual([`read ${FILE_BYTES}`, 'before'])
  await expect.poll(openUploads).toEqual([])
})

/** Files of bodies that this process has open, on Linux. */
async function openUploads(): Promise<string[]> {
  const folder = '/proc/self/fd'
  const files = await Promise.all((await readdir(folder)).map((name) => readlink(join(folder, name)).catch(() => '')))
  return files.filter((file) => file.startsWith(join(dir, 'data', 'upload-')))
}
