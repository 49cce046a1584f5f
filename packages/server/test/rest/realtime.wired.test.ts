/** The stream of `/api/realtime`, and subscriptions, as PocketBase has them. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { send, until } from '../test-server.ts'
import { EventClient, type StreamOptions } from './event-client.ts'
import { EMAIL, PASSWORD, startRest, tokenFor } from './rest-server.ts'
import type { RestServer } from './rest-server.ts'

let server: RestServer
const open: EventClient[] = []

beforeAll(async () => {
  server = await startRest()
})
afterAll(async () => {
  for (const client of open) client.close()
  await server.close()
})

async function connect(options?: StreamOptions): Promise<EventClient> {
  const client = await EventClient.open(server.url, options)
  open.push(client)
  return client
}

/** A person who has signed up, and the token. */
async function signUp(name: string): Promise<{ readonly id: string; readonly token: string }> {
  const account = { email: `${name}@example.com`, password: PASSWORD, passwordConfirm: PASSWORD }
  const { json } = await server.call('POST /collections/users/records', account)
  return { id: String(json['id']), token: await tokenFor(server.url, 'users', account.email, PASSWORD) }
}

test('a stream begins with the id of the client, byte for byte', async () => {
  const client = await connect()
  expect(client.status).toBe(200)
  expect(client.headers).toMatchObject({
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
    'x-content-type-options': 'nosniff',
  })
  expect(client.id).toMatch(/^[A-Za-z0-9]{40}$/)
  expect(client.text).toBe(`id:${client.id}\nevent:PB_CONNECT\ndata:{"clientId":"${client.id}"}\n\n`)
  expect(server.server.backend.realtime.size).toBe(1)
  client.close()
  await until(() => server.server.backend.realtime.size === 0)
})

const texts = (count: number): string[] => Array.from({ length: count }, (_, n) => String(n))

test.each([
  ['an unknown client', { clientId: 'missing', subscriptions: ['a'] }, 404, 'Missing or invalid client id.', {}],
  ['no data', {}, 400, '', { clientId: { code: 'validation_required', message: 'Cannot be blank.' } }],
  [
    'a long client id',
    { clientId: 'a'.repeat(256) },
    400,
    '',
    { clientId: { code: 'validation_length_out_of_range' } },
  ],
  ['1001 topics', { subscriptions: texts(1001) }, 400, '', { subscriptions: { code: 'validation_length_too_long' } }],
  [
    'a topic of 2501 bytes',
    { subscriptions: ['abc', 'a'.repeat(2501)] },
    400,
    '',
    { subscriptions: { 1: { code: 'validation_length_too_long' } } },
  ],
  ['no texts', { subscriptions: [1] }, 400, '', {}],
  ['an object', { subscriptions: { a: 1 } }, 400, '', {}],
])('%s is refused', async (_, body, status, message, data) => {
  const client = await connect()
  const isMissing = Object.keys(body).length === 0
  const answer = await server.call('POST /realtime', isMissing ? body : { clientId: client.id, ...body }, '')
  expect(answer.json).toMatchObject({
    status,
    message: message || 'Something went wrong while processing your request.',
    data,
  })
})

test('subscriptions are replaced, up to 1000 of up to 2500 bytes', async () => {
  const { realtime } = server.server.backend
  const client = await connect()
  const tell = (topic: string): boolean => realtime.deliver(client.id, topic, { topic }, { ip: '127.0.0.1' })
  expect(tell('1')).toBe(false)
  expect((await client.subscribe(['0'])).status).toBe(204)
  const long = 'a'.repeat(2500)
  const answer = await client.subscribe([...texts(999), long])
  expect([answer.status, answer.text]).toEqual([204, ''])
  expect([tell('0'), tell(long), tell('999')]).toEqual([true, true, false])
  await client.has(2)
  expect(client.messages).toEqual([
    { id: client.id, event: '0', data: { topic: '0' } },
    { id: client.id, event: long, data: { topic: long } },
  ])
  expect((await client.subscribe([])).status).toBe(204)
  expect(tell('0')).toBe(false)
})

test('a form subscribes, too', async () => {
  const client = await connect()
  const body = new URLSearchParams([
    ['clientId', client.id],
    ['subscriptions', 'a'],
    ['subscriptions', 'b'],
  ])
  const headers = { 'content-type': 'application/x-www-form-urlencoded', authorization: '' }
  expect((await send(server.url, 'POST /api/realtime', body.toString(), headers)).status).toBe(204)
  expect(server.server.backend.realtime.deliver(client.id, 'b', {}, { ip: '127.0.0.1' })).toBe(true)
})

test('a message that ends its subscription goes once, to a client at that address', async () => {
  const { realtime } = server.server.backend
  const client = await connect()
  await client.subscribe(['@oauth2', 'other'])
  const tell = (ip: string): boolean =>
    realtime.deliver(client.id, '@oauth2', { state: client.id, code: 'abc' }, { ip, once: true })
  expect([tell('127.0.0.2'), tell('127.0.0.1'), tell('127.0.0.1')]).toEqual([false, true, false])
  expect(realtime.deliver('missing', '@oauth2', {}, { ip: '127.0.0.1' })).toBe(false)
  await client.has(1)
  expect(client.text).toContain(`id:${client.id}\nevent:@oauth2\ndata:{"state":"${client.id}","code":"abc"}\n\n`)
  expect(realtime.deliver(client.id, 'other', {}, { ip: '127.0.0.1' })).toBe(true)
})

test('nobody subscribes for a client at another address', async () => {
  const client = await connect({ localAddress: '127.0.0.2' })
  expect((await client.subscribe(['a'])).json).toMatchObject({
    status: 400,
    message: 'Invalid realtime client.',
    data: {},
  })
})

test('a guest becomes an account or a superuser, and an account stays who it is', async () => {
  const [ann, bob] = [await signUp('ann'), await signUp('bob')]
  const client = await connect()
  const statuses: number[] = []
  for (const token of ['', ann.token, ann.token, bob.token, server.token, ''])
    statuses.push((await client.subscribe(['a'], token)).status)
  expect(statuses).toEqual([204, 204, 204, 403, 403, 403])
  expect((await client.subscribe(['a'])).json).toEqual({
    data: {},
    message: "The current and the previous request authorization don't match.",
    status: 403,
  })
  const other = await connect()
  expect((await other.subscribe(['a'], await tokenFor(server.url, '_superusers', EMAIL, PASSWORD))).status).toBe(204)
  expect((await other.subscribe(['a'], ann.token)).status).toBe(403)
})

test('a line break in a topic makes no line of its own', async () => {
  const client = await connect()
  await client.subscribe(['a\nid:x\r\n\nb'])
  server.server.backend.realtime.deliver(client.id, 'a\nid:x\r\n\nb', {}, { ip: '127.0.0.1' })
  await client.has(1)
  expect(client.messages).toEqual([{ id: client.id, event: 'a id:x   b', data: {} }])
})

test('a server that closes ends its streams at once', async () => {
  const other = await startRest()
  const client = await EventClient.open(other.url)
  await other.close()
  await until(() => client.isClosed)
})

test.each([
  ['when nothing comes', { realtimeIdleMsMax: 300 }],
  ['when it is old', { realtimeMsMax: 300 }],
])('a stream ends %s', async (_, limits) => {
  const other = await startRest({ limits })
  try {
    const client = await EventClient.open(other.url)
    await until(() => client.isClosed)
    await until(() => other.server.backend.realtime.size === 0)
  } finally {
    await other.close()
  }
})
