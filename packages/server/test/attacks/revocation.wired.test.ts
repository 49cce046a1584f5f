/** Requests whose body is still under way when their sender loses the right to send it. */
import { connect, type Socket } from 'node:net'
import { virtualEnvironment } from 'pannier/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { basic, inTime, send, startServer, type TestServer } from '../test-server.ts'

const PASSWORD = 'battery staple'
const clock = virtualEnvironment()
let running: TestServer
let count = 0

beforeAll(async () => {
  running = await startServer({ environment: clock })
  await send(running.url, 'PUT /private')
})
afterAll(() => running.close())

async function member(): Promise<string> {
  const name = `member${++count}`
  const user = { name, type: 'user', roles: [], password: PASSWORD }
  expect((await send(running.url, `PUT /_users/org.couchdb.user:${name}`, user)).status).toBe(201)
  await allow([name])
  return name
}

const allow = (names: string[]) =>
  send(running.url, 'PUT /private/_security', { members: { names, roles: [] }, admins: { roles: ['_admin'] } })

async function change(name: string, fields: object): Promise<number> {
  const path = `/_users/org.couchdb.user:${name}`
  const { json } = await send(running.url, `GET ${path}`)
  return (await send(running.url, `PUT ${path}`, { ...json, ...fields })).status
}

const REVOCATIONS: readonly (readonly [how: string, revoke: (name: string) => Promise<unknown>])[] = [
  ['deleted', (name) => change(name, { _deleted: true })],
  ['taken out of _security', () => allow(['somebody'])],
  ['another password', (name) => change(name, { password: 'another one' })],
]

const HELD_CHARS = 8

/** All but the end is sent; then `during` happens; then the rest. */
async function heldBack(name: string, head: string, body: string, during: () => Promise<unknown>): Promise<Slow> {
  const held = Math.min(HELD_CHARS, body.length - 1)
  const socket = connect(Number(new URL(running.url).port), '127.0.0.1')
  const answer: Slow = { socket, text: '', isClosed: false }
  socket.setEncoding('utf8').on('data', (text: string) => (answer.text += text))
  socket.on('close', () => (answer.isClosed = true)).on('error', () => {})
  const headers = `Host: localhost\r\nAuthorization: ${basic(`${name}:${PASSWORD}`)}\r\nContent-Length: ${body.length}`
  socket.write(`${head} HTTP/1.1\r\n${headers}\r\n\r\n${body.slice(0, -held)}`)
  await clock.idle()
  expect(answer.text).toBe('')
  await during()
  socket.write(body.slice(-held))
  return answer
}

interface Slow {
  readonly socket: Socket
  text: string
  isClosed: boolean
}

const RELATED =
  '--b\r\nContent-Type: application/json\r\n\r\n{"_attachments":{"a":{"follows":true,"content_type":"text/plain","length":1}}}\r\n--b\r\n\r\nx\r\n--b--'
const FEED = 'POST /private/_changes?feed=continuous&include_docs=true&since=now'
const JSON_TYPE = '\r\nContent-Type: application/json'

describe.each(REVOCATIONS)('%s', (_how, revoke) => {
  test('a feed that began before tells nothing', async () => {
    const name = await member()
    const slow = await heldBack(name, `${FEED} HTTP/1.1${JSON_TYPE}\r\nX-Rest:`, '{}', () => revoke(name))
    await send(running.url, `PUT /private/secret${count}`, { secret: true })
    await clock.idle()
    expect(slow.text).not.toContain('secret')
    expect(slow.text).toMatch(/^HTTP\/1.1 40[13]/)
    slow.socket.destroy()
  })

  test.each([
    ['a document', '', '{"a":1}'],
    ['a large document', '', JSON.stringify({ a: 'x'.repeat(100_000) })],
    ['a document with attachments', '\r\nContent-Type: multipart/related; boundary="b"\r\nX-Rest:', RELATED],
  ])('%s is not written', async (_what, headers, body) => {
    const name = await member()
    const head = `PUT /private/late${count}${headers === '' ? '' : ` HTTP/1.1${headers}`}`
    const slow = await heldBack(name, head, body, () => revoke(name))
    await clock.idle()
    expect(slow.text).toMatch(/^HTTP\/1.1 40[13]/)
    expect((await send(running.url, `GET /private/late${count}`)).status).toBe(404)
    slow.socket.destroy()
  })
})

test('a slow body of somebody who is still allowed is taken', async () => {
  const name = await member()
  const slow = await heldBack(name, `PUT /private/late${count}`, '{"a":1}', () => Promise.resolve())
  await clock.idle()
  expect(slow.text).toMatch(/^HTTP\/1.1 201/)
  slow.socket.destroy()
})

test('one user has no more feeds than one may have', async () => {
  const small = await startServer({ environment: clock, limits: { feedsPerUserMax: 3 } })
  await send(small.url, 'PUT /db')
  const leaving = new AbortController()
  const ask = () =>
    fetch(`${small.url}/db/_changes?feed=continuous&heartbeat=true`, {
      headers: { authorization: basic('admin:the-password-of-tests') },
      signal: leaving.signal,
    })
  const open = [await ask(), await ask(), await ask()]
  expect(open.map(({ status }) => status)).toEqual([200, 200, 200])
  const refused = await ask()
  expect(refused.status).toBe(429)
  leaving.abort()
  await clock.idle()
  const again = await inTime(clock, send(small.url, 'GET /db/_changes?feed=longpoll&timeout=1'))
  expect(again.status).toBe(200)
  await small.close()
})
