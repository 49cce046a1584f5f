/** What is said in `X-Forwarded-…`, by a proxy that is trusted and by others; and who can log in while others guess. */
import { virtualEnvironment } from 'pannier/testing'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { ADMIN, basic, send, startServer, STRANGER } from '../test-server.ts'
import type { TestServer } from '../test-server.ts'

const ANN = 'ann:a password of her own'

const LIMITS = { addressMax: 3, nameMax: 4 }
const clock = virtualEnvironment()
/** It trusts a proxy here, and one elsewhere. */
let near: TestServer
let far: TestServer

async function start(...trustProxy: string[]): Promise<TestServer> {
  const running = await startServer({ environment: clock, http: { trustProxy }, auth: { loginLimits: LIMITS } })
  const [name, password] = ANN.split(':')
  const user = { name, password, roles: [], type: 'user' }
  expect((await send(running.url, `PUT /_users/org.couchdb.user:${name}`, user)).status).toBe(201)
  return running
}

beforeAll(async () => {
  near = await start('127.0.0.1')
  far = await start('192.0.2.1')
})
// Nobody has failed for a while.
afterEach(() => clock.advance(60_000))
afterAll(async () => {
  await near.close()
  await far.close()
})

async function logIn({ url }: TestServer, forwarded: string, password: string): Promise<number> {
  const headers = { ...STRANGER, 'x-forwarded-for': forwarded }
  return (await send(url, 'POST /_session', { name: 'ann', password }, headers)).status
}

const PASSWORD = ANN.slice('ann:'.length)

test.each([
  ['what a client puts before the address that the proxy adds', (count: number) => `10.9.9.${count}, 203.0.113.7`],
  ['a port that some proxies add', (count: number) => `203.0.113.7:${40_000 + count}`],
  ['addresses of one IPv6 network', (count: number) => `2001:db8:1:2::${count}`],
  ['addresses of one IPv6 network with ports', (count: number) => `[2001:db8:1:2::${count}]:${count}`],
  ['what is no address', (count: number) => `client-${count}`],
])('%s opens no way around the limit of an address', async (_name, forwarded) => {
  const running = near
  const statuses: number[] = []
  for (let count = 1; count <= 4; count++) statuses.push(await logIn(running, forwarded(count), 'wrong'))
  expect(statuses).toEqual([401, 401, 401, 429])
  expect(await logIn(running, '198.51.100.1', PASSWORD)).toBe(200)
})

test('who is no trusted proxy says nothing: neither the address nor TLS', async () => {
  // Its password is remembered.
  expect((await send(far.url, 'GET /_session')).status).toBe(200)
  for (const count of [1, 2, 3]) expect(await logIn(far, `203.0.113.${count}`, 'wrong')).toBe(401)
  expect(await logIn(far, '203.0.113.4', 'wrong')).toBe(429)
  const headers = { authorization: ADMIN, 'x-forwarded-proto': 'https' }
  const { headers: answered } = await send(far.url, 'DELETE /_session', undefined, headers)
  expect(answered.get('set-cookie')).not.toContain('Secure')
})

test('a trusted proxy that speaks TLS makes cookies Secure', async () => {
  const { url } = near
  const headers = { authorization: ADMIN, 'x-forwarded-proto': 'https' }
  expect((await send(url, 'DELETE /_session', undefined, headers)).headers.get('set-cookie')).toContain('; Secure')
})

test('while others guess at a name from many addresses, its user keeps working, and others log in', async () => {
  const { url } = near
  const session = await send(url, 'POST /_session', { name: 'ann', password: PASSWORD }, STRANGER)
  const cookie = { ...STRANGER, cookie: session.headers.get('set-cookie')!.split(';')[0]! }
  const remembered = { authorization: basic(ANN) }
  const whoAmI = async (headers: Readonly<Record<string, string>>): Promise<unknown> =>
    (await send(url, 'GET /_session', undefined, headers)).json['userCtx']
  const ann = { name: 'ann', roles: [] }
  expect(await whoAmI(remembered)).toEqual(ann)
  const guesses = Array.from({ length: 4 }, (_, count) => logIn(near, `203.0.113.${count}`, 'wrong'))
  expect(await Promise.all(guesses)).toEqual([401, 401, 401, 401])
  expect(await logIn(near, '198.51.100.1', PASSWORD)).toBe(429)
  expect([await whoAmI(cookie), await whoAmI(remembered)]).toEqual([ann, ann])
  expect((await send(url, 'GET /_session', undefined, { authorization: ADMIN })).status).toBe(200)
})

test('a server at IPv6 counts a client over IPv4 as the address that it has there', async () => {
  for (let count = 1; count <= LIMITS.addressMax; count++)
    expect(await logIn(near, '::ffff:203.0.113.7', 'wrong')).toBe(401)
  expect(await logIn(near, '203.0.113.7', 'wrong')).toBe(429)
})
