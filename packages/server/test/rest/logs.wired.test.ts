/** Goal: requests and what goes wrong are logged without secrets; superusers search, count and remove logs, also by the SDK. */
import PocketBase from 'pocketbase'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { LOG_LEVELS } from '@pannier/backend'
import { EMAIL, PASSWORD, startRest, tokenFor } from './rest-server.ts'
import type { RestServer } from './rest-server.ts'

interface Log {
  readonly id: string
  readonly created: string
  readonly level: number
  readonly message: string
  readonly data: Readonly<Record<string, unknown>>
}

let server: RestServer
let user: string

beforeAll(async () => {
  server = await startRest()
  const account = { email: 'ann@example.com', password: PASSWORD, passwordConfirm: PASSWORD }
  await server.call('POST /collections/users/records', account)
  user = await tokenFor(server.url, 'users', account.email, PASSWORD)
})
afterAll(() => server.close())
beforeEach(async () => {
  await server.call('PATCH /settings', { logs: { maxDays: 5, minLevel: 0, logIP: true, logAuthId: false } })
  await server.server.backend.logs.truncate()
})

/** What is stored, once a request has its answer. */
async function logs(query = ''): Promise<Log[]> {
  await new Promise((resolve) => setImmediate(resolve))
  await server.server.backend.logs.flush()
  const { json, text } = await server.call(`GET /logs${query}`)
  if (json['items'] === undefined) throw new Error(text)
  return json['items'] as Log[]
}

test.each(['GET /logs', 'GET /logs/stats', 'GET /logs/abc', 'DELETE /logs', 'GET /crons', 'POST /crons/abc'])(
  '%s is for superusers',
  async (request) => {
    expect((await server.call(request, undefined, '')).status).toBe(401)
    const forbidden = await server.call(request, undefined, user)
    expect([forbidden.status, forbidden.json['data']]).toEqual([403, {}])
  },
)

test('a request is logged with what PocketBase says of it, and in its order of keys', async () => {
  await server.call('GET /health', undefined, user)
  const all = await logs()
  expect(all).toEqual([
    {
      id: expect.stringMatching(/^[a-z0-9]{15}$/) as string,
      created: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}Z$/) as string,
      level: LOG_LEVELS.info,
      message: 'GET /api/health',
      data: {
        type: 'request',
        auth: 'users',
        execTime: expect.any(Number) as number,
        method: 'GET',
        referer: '',
        remoteIP: '127.0.0.1',
        status: 200,
        url: '/api/health',
        userAgent: 'node',
        userIP: '127.0.0.1',
      },
    },
  ])
  expect(Object.keys(all[0]!)).toEqual(['id', 'created', 'data', 'message', 'level'])
  expect(all[0]!.data['execTime']).toBeGreaterThan(0)
})

test('a request that fails is logged as an error, with its message and details', async () => {
  await server.call('GET /collections/users/records?filter=nope=1')
  await server.call('POST /collections/users/records', { email: 'x' })
  const [one, other] = await logs()
  expect([one!.level, one!.data['status'], one!.data['error']]).toEqual([
    LOG_LEVELS.error,
    400,
    'Something went wrong while processing your request.',
  ])
  expect(one!.data['details']).toContain('nope')
  expect(other!.data['details']).toMatchObject({ password: { code: 'validation_required' } })
})

test('no log has a token, a code or a password', async () => {
  const secrets = ['s3cret-token', 's3cret-code', 's3cret-password', 's3cret-encoded', user]
  await server.call(`GET /files/a/b/c?%74oken=${secrets[3]}&newPassword=${secrets[3]}&client_secret=${secrets[3]}`)
  await server.call(`GET /files/a/b/c?thumb=1x1&token=${secrets[0]}`)
  await server.call(`GET /oauth2-redirect?state=${secrets[1]}&code=${secrets[1]}`)
  await server.call('POST /collections/users/auth-with-password', { identity: 'a', password: secrets[2] }, user)
  const text = JSON.stringify(await logs())
  expect(text).toContain('thumb=1x1&token=***')
  for (const secret of secrets) expect(text).not.toContain(secret)
})

test('the settings say what is logged', async () => {
  const set = (settings: object) => server.call('PATCH /settings', { logs: settings })
  await set({ logIP: false, logAuthId: true })
  await server.server.backend.logs.truncate()
  await server.call('GET /health', undefined, user)
  const [log] = await logs()
  expect(['userIP', 'remoteIP', 'authId'].map((name) => log!.data[name])).toEqual([
    undefined,
    undefined,
    expect.stringMatching(/^[a-z0-9]{15}$/),
  ])
  await set({ minLevel: 8 })
  await server.call('GET /health')
  await server.call('GET /nope')
  expect((await logs()).map(({ message }) => message)).toEqual(['GET /api/nope'])
  await set({ maxDays: 0, minLevel: 0 })
  await server.call('GET /nope')
  expect(await logs()).toEqual([])
})

test('logs are filtered, sorted and paged by what they have, and nothing else', async () => {
  for (const path of ['health', 'nope', 'health']) await server.call(`GET /${path}`)
  expect((await logs('?filter=data.status>200')).map(({ message }) => message)).toEqual(['GET /api/nope'])
  expect((await logs('?sort=-data.status&perPage=1')).map(({ data }) => data['status'])).toEqual([404])
  expect(await logs("?filter=message~'health'&fields=level&skipTotal=1")).toEqual([{ level: 0 }, { level: 0 }])
  for (const query of ['filter=nope=1', 'sort=nope', 'filter=level', 'page=x'])
    expect((await server.call(`GET /logs?${query}`)).status).toBe(400)
  expect((await server.call('GET /logs/stats?filter=nope=1')).json['message']).toBe('Invalid filter format.')
  expect((await server.call('GET /logs/nope')).status).toBe(404)
})

test('an entry of the program is printed and stored, with its level', async () => {
  server.server.backend.logs.write({ level: LOG_LEVELS.warn, message: 'No mail server.', data: { to: 'a@b.c' } })
  expect(await logs()).toMatchObject([{ level: 4, message: 'No mail server.', data: { to: 'a@b.c' } }])
})

test('scheduled jobs are listed, own ones first, and started', async () => {
  const { schedules } = server.server.backend
  let runs = 0
  // Not in each minute: the next one may begin meanwhile.
  schedules.add('test', '0 0 1 1 *', () => void runs++)
  const { text } = await server.call('GET /crons')
  expect(text).toMatch(/^\[\{"id":"test","expression":"0 0 1 1 \*"\},/)
  expect(text).toContain('{"id":"__pbLogsCleanup__","expression":"0 */6 * * *"}')
  expect((await server.call('POST /crons/test')).status).toBe(204)
  expect(runs).toBe(1)
  const missing = await server.call('POST /crons/missing')
  expect([missing.status, missing.json['message']]).toEqual([404, 'Missing or invalid cron job.'])
  schedules.remove('test')
})

test('the SDK reads logs and jobs', async () => {
  const client = new PocketBase(server.url)
  client.autoCancellation(false)
  await client.collection('_superusers').authWithPassword(EMAIL, PASSWORD)
  await client.health.check()
  await server.server.backend.logs.flush()
  const { items, totalItems } = await client.logs.getList(1, 10, {
    filter: "data.url = '/api/health'",
    sort: '-created',
  })
  expect([totalItems, items.length]).toEqual([1, 1])
  expect(await client.logs.getOne(items[0]!.id)).toEqual(items[0])
  expect(await client.logs.getStats({ filter: "data.url = '/api/health'" })).toEqual([
    { date: `${items[0]!.created.slice(0, 13)}:00:00.000Z`, total: 1 },
  ])
  expect(await client.crons.run('__pbLogsCleanup__')).toBe(true)
  expect((await client.crons.getFullList()).map(({ id }) => id)).toContain('__pbLogsCleanup__')
  expect(await client.logs.truncate()).toBe(true)
  expect((await client.logs.getList()).totalItems).toBe(0)
})
