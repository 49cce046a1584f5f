/** What is said in `X-Forwarded-…`, by a proxy that is trusted and by others; and who can log in while others guess. */
import { expect, onTestFinished, test } from 'vitest'
import { ADMIN, basic, send, startServer, STRANGER } from '../test-server.ts'
import type { TestServer } from '../test-server.ts'

const ANN = 'ann:a password of her own'

async function start(trustProxy: string[], loginLimits: object = {}): Promise<TestServer> {
  const running = await startServer({ trustProxy, auth: { loginLimits } })
  onTestFinished(() => running.close())
  const [name, password] = ANN.split(':')
  const user = { name, password, roles: [], type: 'user' }
  expect((await send(running.url, `PUT /_users/org.couchdb.user:${name}`, user)).status).toBe(201)
  return running
}

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
  const running = await start(['127.0.0.1'], { addressMax: 3 })
  const statuses: number[] = []
  for (let count = 1; count <= 4; count++) statuses.push(await logIn(running, forwarded(count), 'wrong'))
  expect(statuses).toEqual([401, 401, 401, 429])
  expect(await logIn(running, '198.51.100.1', PASSWORD)).toBe(200)
})

test('who is no trusted proxy says nothing: neither the address nor TLS', async () => {
  const running = await start(['192.0.2.1'], { addressMax: 2 })
  for (const count of [1, 2]) expect(await logIn(running, `203.0.113.${count}`, 'wrong')).toBe(401)
  expect(await logIn(running, '203.0.113.3', 'wrong')).toBe(429)
  const headers = { authorization: ADMIN, 'x-forwarded-proto': 'https' }
  const { headers: answered } = await send(running.url, 'DELETE /_session', undefined, headers)
  expect(answered.get('set-cookie')).not.toContain('Secure')
})

test('a trusted proxy that speaks TLS makes cookies Secure', async () => {
  const { url } = await start(['127.0.0.1'])
  const headers = { authorization: ADMIN, 'x-forwarded-proto': 'https' }
  expect((await send(url, 'DELETE /_session', undefined, headers)).headers.get('set-cookie')).toContain('; Secure')
})

test('while others guess at a name from many addresses, its user keeps working, and others log in', async () => {
  const running = await start(['127.0.0.1'], { nameMax: 4 })
  const { url } = running
  const session = await send(url, 'POST /_session', { name: 'ann', password: PASSWORD }, STRANGER)
  const cookie = { ...STRANGER, cookie: session.headers.get('set-cookie')!.split(';')[0]! }
  const remembered = { authorization: basic(ANN) }
  const whoAmI = async (headers: Readonly<Record<string, string>>): Promise<unknown> =>
    (await send(url, 'GET /_session', undefined, headers)).json['userCtx']
  const ann = { name: 'ann', roles: [] }
  expect(await whoAmI(remembered)).toEqual(ann)
  const guesses = Array.from({ length: 4 }, (_, count) => logIn(running, `203.0.113.${count}`, 'wrong'))
  expect(await Promise.all(guesses)).toEqual([401, 401, 401, 401])
  expect(await logIn(running, '198.51.100.1', PASSWORD)).toBe(429)
  expect([await whoAmI(cookie), await whoAmI(remembered)]).toEqual([ann, ann])
  expect((await send(url, 'GET /_session', undefined, { authorization: ADMIN })).status).toBe(200)
})

test('a server at IPv6 counts a client over IPv4 as the address that it has there', async () => {
  const running = await startServer({ trustProxy: ['127.0.0.1'], auth: { loginLimits: { addressMax: 1 } } })
  onTestFinished(() => running.close())
  expect(await logIn(running, '::ffff:203.0.113.7', 'wrong')).toBe(401)
  expect(await logIn(running, '203.0.113.7', 'wrong')).toBe(429)
})
