/**
 * Goal: uploads that fail give back all room that they took, and end with an answer. Method: a route of its own on a store with little room,
 * real forms over real connections.
 */
import { connect } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { GUEST } from '@pannier/backend'
import { systemEnvironment } from 'pannier/internal'
import { makeFolder } from '../../../../tools/processes.ts'
import { BodyStore } from '../../src/http/body-store.ts'
import { heldBodies } from '../../src/http/held-bodies.ts'
import { openForm } from '../../src/rest/form.ts'

const ROOM_BYTES = 1_000_000
/** More than half of the room. */
const FILE_BYTES = 600_000

let app: FastifyInstance
let url: string
/** How reading each form ended. */
let ends: Promise<unknown>[]
/** What the route does first. */
let begin: (request: FastifyRequest) => Promise<unknown>

beforeEach(async () => {
  const bodies = new BodyStore(makeFolder('form'), systemEnvironment(), {
    memoryBytesMax: 1000,
    fileBytesMax: ROOM_BYTES,
  })
  ends = []
  begin = async () => {}
  app = fastify().decorate('environment', systemEnvironment())
  app.addContentTypeParser('*', (_request, _body, done) => done(null))
  app.post('/', async (request) => {
    request.principal = GUEST
    await begin(request)
    const reading = openForm({ bodies, limits: { stallMsMax: 60_000 } }, request, { message: 'bad' })
    ends.push(reading.catch((error: unknown) => error))
    const form = await reading
    await form.dispose()
    return Array.from(form.files, ([field, files]) => [field, files.map(({ size }) => size)])
  })
  url = await app.listen({ port: 0 })
})
afterEach(() => app.close())

async function upload(...bytes: number[]): Promise<[status: number, text: string]> {
  const form = new FormData()
  for (const [n, length] of bytes.entries()) form.append(`f${n % 2}`, new Blob([new Uint8Array(length)]), 'a.bin')
  const answer = await fetch(url, { method: 'POST', body: form })
  return [answer.status, await answer.text()]
}

test('clients that leave amid a file take no room from others', async () => {
  const { hostname, port } = new URL(url)
  const start = '--x\r\ncontent-disposition: form-data; name="f"; filename="a"\r\n\r\n'
  for (let n = 0; n < 5; n++) {
    const socket = connect(Number(port), hostname).on('error', () => {})
    socket.write(
      `POST / HTTP/1.1\r\nhost: x\r\ncontent-type: multipart/form-data; boundary=x\r\ncontent-length: 9999999\r\n\r\n`,
    )
    socket.write(start + 'y'.repeat(FILE_BYTES))
    await expect.poll(() => ends.length).toBe(n + 1)
    for (let turns = 0; turns < n * 20; turns++) await turn()
    socket.resetAndDestroy()
    expect(await ends[n]).toBeInstanceOf(Error)
  }
  expect(await upload(FILE_BYTES)).toEqual([200, `[["f0",[${FILE_BYTES}]]]`])
})

test.each(['identity', 'gzip'])('a body in %s ends that was cut off before anybody read it', async (encoding) => {
  const { hostname, port } = new URL(url)
  const began = Promise.withResolvers<void>()
  begin = (request) =>
    new Promise((resolve) => {
      request.raw.once('close', () => setImmediate(resolve))
      began.resolve()
    })
  const socket = connect(Number(port), hostname).on('error', () => {})
  const headers = `content-encoding: ${encoding}\r\ncontent-type: multipart/form-data; boundary=x\r\ncontent-length: 99`
  socket.write(`POST / HTTP/1.1\r\nhost: x\r\n${headers}\r\n\r\n--x`)
  await began.promise
  socket.resetAndDestroy()
  await expect.poll(() => ends.length).toBe(1)
  expect(await ends[0]).toBeInstanceOf(Error)
})

test('a file without room is answered with 503, and the next one has room', async () => {
  for (const files of [[2 * ROOM_BYTES], [10, 2 * ROOM_BYTES, 10], [FILE_BYTES, FILE_BYTES]]) {
    const [status, text] = await upload(...files)
    expect([status, text]).toEqual([503, expect.stringContaining('Too much is being uploaded at once')])
    expect(await upload(FILE_BYTES)).toEqual([200, `[["f0",[${FILE_BYTES}]]]`])
  }
})

test('files of a field have the order of the form, whichever is kept first', async () => {
  const bytes = [400_000, 10, 5, 300_000, 6, 20]
  expect(await upload(...bytes)).toEqual([200, '[["f0",[400000,5,6]],["f1",[10,300000,20]]]'])
})

test('values of a form are held as JSON is, until they are answered; its files are not', async () => {
  const [held, released]: [number[], number[]] = [[], []]
  const hold = vi.spyOn(heldBodies, 'hold').mockImplementation(() => ({
    to: (bytes) => void held.push(bytes),
    release: () => void released.push(held.at(-1) ?? 0),
  }))
  const form = new FormData()
  form.append('@jsonPayload', JSON.stringify({ text: 'x'.repeat(300_000) }))
  form.append('file', new Blob([new Uint8Array(FILE_BYTES)]), 'a.bin')
  expect((await fetch(url, { method: 'POST', body: form })).status).toBe(200)
  expect(released).toHaveLength(1)
  expect(released[0]).toBeGreaterThan(300_000)
  expect(released[0]).toBeLessThan(310_000)
  hold.mockRestore()
})
