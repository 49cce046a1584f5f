/**
 * Goal: a body that will be refused is not asked for, and no cache gives one user's answer to another.
 * Method: requests as bytes, with `Expect: 100-continue`.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ADMIN, send, sendRaw, startServer, STRANGER } from '../test-server.ts'
import type { TestServer } from '../test-server.ts'

const CONTINUE = 'HTTP/1.1 100 Continue'
const CORS = 'https://app.example.org'

let running: TestServer
let url: string

beforeAll(async () => {
  running = await startServer({ http: { corsOrigins: [CORS] } })
  url = running.url
  await send(url, 'PUT /db')
})
afterAll(() => running.close())

function expecting(request: string, length: number, ...more: readonly string[]): string {
  const lines = [`Content-Length: ${length}`, 'Content-Type: application/json', 'Expect: 100-continue', ...more]
  return `${request} HTTP/1.1\r\nHost: localhost\r\n${lines.join('\r\n')}\r\n\r\n`
}

const MINE = `Authorization: ${ADMIN}`

test.each([
  ['from nobody', 401, expecting('PUT /db/a', 100)],
  ['from nobody, who closes', 401, expecting('PUT /db/a', 100, 'Connection: close')],
  ['into no database', 404, expecting('PUT /none/a/b', 100, MINE)],
  ['of another site', 403, expecting('PUT /db/a', 100, MINE, 'Origin: https://evil.example')],
  ['that is too long', 413, expecting('POST /db/_find', 100_000_000, MINE)],
  ['that is too long for an attachment', 413, expecting('PUT /db/a/b', 2 ** 40, MINE)],
  ['of an unknown encoding', 415, expecting('PUT /db/a', 100_000, MINE, 'Content-Encoding: br')],
  ['to a malformed URL', 400, expecting('PUT /db/%zz', 100, MINE)],
  ['that nobody reads', 200, expecting('GET /', 100, MINE)],
])('a body %s is not asked for, and the connection closes', async (_, status, bytes) => {
  const answer = await sendRaw(url, bytes)
  expect(answer.slice(0, 12)).toBe(`HTTP/1.1 ${status}`)
  expect(answer).toMatch(/^connection: close\r$/im)
})

test.each([10, 200_000])(
  'a body of %i bytes is asked for when it is read, and the connection goes on',
  async (length) => {
    const body = `{"s":"${'x'.repeat(length)}"}`
    const next = `GET /_up HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`
    const answer = await sendRaw(url, [expecting(`PUT /db/of${length}`, body.length, MINE), body, next])
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual([CONTINUE.slice(0, 12), 'HTTP/1.1 201', 'HTTP/1.1 200'])
  },
)

test('an answer says that it is private, and what it depends on', async () => {
  await send(url, 'PUT /db/private', { n: 1 })
  for (const [request, headers] of [
    ['GET /db/private', {}],
    ['GET /db/_all_docs', {}],
    ['GET /db/none', {}],
    ['GET /db/private', STRANGER],
  ] as const) {
    const answer = await send(url, request, undefined, headers)
    expect(answer.headers.get('cache-control')).toBe('private, must-revalidate')
    expect(answer.headers.get('vary')).toBe('Origin, Accept, Authorization, Cookie')
  }
  expect((await send(url, 'GET /_session')).headers.get('cache-control')).toBe('no-store')
  const own = await startServer()
  expect((await send(own.url, 'GET /')).headers.get('vary')).toBe('Accept, Authorization, Cookie')
  await own.close()
})
