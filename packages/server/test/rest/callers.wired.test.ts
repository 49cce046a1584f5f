/**
 * Goal: each route of PocketBase's API admits whom it is for, and nobody else. A route that is new has to be entered here.
 * Method: the table of routes of a server, times every kind of caller. Tokens that are forged, foreign or of another type are guests.
 */
import fastifyPlugin from 'fastify-plugin'
import { SignJWT, UnsecuredJWT } from 'jose'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { EMAIL, ITSELF, PASSWORD, startRest, tokenFor, type RestServer } from './rest-server.ts'

/** The callers that a route is for. `anyone`: rules or the body decide. `account`: an account of any collection. `itself`: one of the collection. */
type For = 'anyone' | 'account' | 'itself' | 'superusers'

/** With every scope that there is. */
const API_TOKEN = 'API token of a user'
const SCOPED = ['list', 'view', 'create', 'update', 'delete']
const COLLECTION = '/api/collections/:collection'
const ROUTES: Readonly<Record<string, For>> = {
  'GET /api/health': 'anyone',
  'GET /api/settings': 'superusers',
  'PATCH /api/settings': 'superusers',
  'POST /api/settings/apple/generate-client-secret': 'superusers',
  'GET /api/collections': 'superusers',
  'POST /api/collections': 'superusers',
  'PUT /api/collections/import': 'superusers',
  [`GET ${COLLECTION}`]: 'superusers',
  [`PATCH ${COLLECTION}`]: 'superusers',
  [`DELETE ${COLLECTION}`]: 'superusers',
  [`DELETE ${COLLECTION}/truncate`]: 'superusers',
  'GET /api/collections/meta/scaffolds': 'superusers',
  'GET /api/collections/meta/oauth2-providers': 'superusers',
  'POST /api/collections/meta/dry-run-view': 'superusers',
  [`GET ${COLLECTION}/records`]: 'anyone',
  [`POST ${COLLECTION}/records`]: 'anyone',
  [`GET ${COLLECTION}/records/:id`]: 'anyone',
  [`PATCH ${COLLECTION}/records/:id`]: 'anyone',
  [`DELETE ${COLLECTION}/records/:id`]: 'anyone',
  'POST /api/batch': 'anyone',
  'POST /api/sync/pull': 'anyone',
  'POST /api/sync/push': 'anyone',
  'POST /api/sync/lease': 'account',
  'GET /api/realtime': 'anyone',
  'POST /api/realtime': 'anyone',
  'GET /api/oauth2-redirect': 'anyone',
  'POST /api/oauth2-redirect': 'anyone',
  [`GET ${COLLECTION}/auth-methods`]: 'anyone',
  [`POST ${COLLECTION}/auth-with-password`]: 'anyone',
  [`POST ${COLLECTION}/auth-with-oauth2`]: 'anyone',
  [`POST ${COLLECTION}/auth-with-otp`]: 'anyone',
  [`POST ${COLLECTION}/request-otp`]: 'anyone',
  [`POST ${COLLECTION}/request-password-reset`]: 'anyone',
  [`POST ${COLLECTION}/confirm-password-reset`]: 'anyone',
  [`POST ${COLLECTION}/request-verification`]: 'anyone',
  [`POST ${COLLECTION}/confirm-verification`]: 'anyone',
  [`POST ${COLLECTION}/request-email-change`]: 'itself',
  [`POST ${COLLECTION}/confirm-email-change`]: 'anyone',
  [`POST ${COLLECTION}/auth-refresh`]: 'itself',
  [`POST ${COLLECTION}/impersonate/:id`]: 'superusers',
  [`POST ${COLLECTION}/request-passkey`]: 'anyone',
  [`POST ${COLLECTION}/auth-with-passkey`]: 'anyone',
  [`GET ${COLLECTION}/records/:id/passkeys`]: 'itself',
  [`POST ${COLLECTION}/records/:id/passkeys`]: 'itself',
  [`POST ${COLLECTION}/records/:id/passkeys/options`]: 'itself',
  [`PATCH ${COLLECTION}/records/:id/passkeys/:passkey`]: 'itself',
  [`DELETE ${COLLECTION}/records/:id/passkeys/:passkey`]: 'itself',
  [`GET ${COLLECTION}/records/:id/sessions`]: 'itself',
  [`DELETE ${COLLECTION}/records/:id/sessions`]: 'itself',
  [`DELETE ${COLLECTION}/records/:id/sessions/:session`]: 'itself',
  [`GET ${COLLECTION}/explain`]: 'superusers',
  [`GET ${COLLECTION}/rules`]: 'superusers',
  [`POST ${COLLECTION}/check`]: 'superusers',
  [`POST ${COLLECTION}/preview`]: 'superusers',
  'GET /api/tokens': 'superusers',
  'POST /api/tokens': 'superusers',
  'DELETE /api/tokens/:id': 'superusers',
  'GET /api/files/:collection/:record/:name': 'anyone',
  'POST /api/files/token': 'account',
  'POST /api/settings/test/email': 'superusers',
  'POST /api/settings/test/s3': 'superusers',
  'GET /api/logs': 'superusers',
  'GET /api/logs/:id': 'superusers',
  'GET /api/logs/stats': 'superusers',
  'DELETE /api/logs': 'superusers',
  'GET /api/crons': 'superusers',
  'POST /api/crons/:id': 'superusers',
  'GET /api/backups': 'superusers',
  'POST /api/backups': 'superusers',
  'POST /api/backups/upload': 'superusers',
  'GET /api/backups/:key': 'anyone',
  'DELETE /api/backups/:key': 'superusers',
  'POST /api/backups/:key/restore': 'superusers',
  'GET /api/check': 'superusers',
  'POST /api/check': 'superusers',
  'DELETE /api/check': 'superusers',
  'POST /api/sql': 'superusers',
  'GET /api/reports': 'superusers',
  'POST /api/reports': 'superusers',
  'POST /api/reports/preview': 'superusers',
  'GET /api/reports/:name': 'anyone',
  'PATCH /api/reports/:name': 'superusers',
  'DELETE /api/reports/:name': 'superusers',
  'GET /api/types.d.ts': 'superusers',
  'POST /api/imports/check': 'superusers',
  'POST /api/imports/:collection/rows': 'superusers',
  'POST /api/imports/:collection/records': 'superusers',
  'POST /api/imports/:collection/lacking': 'superusers',
}

let server: RestServer
const found = new Set<string>()
const tokens: Record<string, string> = {}

beforeAll(async () => {
  const watch = fastifyPlugin(async (app) => {
    app.addHook('onRoute', ({ method, url }) => {
      if (!url.startsWith('/api/') || url === '/api/*') return
      for (const one of [method].flat()) if (one !== 'HEAD') found.add(`${one} ${url}`)
    })
  })
  server = await startRest({ http: { plugins: [watch] } })
  const { records, definitions, accounts } = server.server.backend
  await server.call('POST /collections', { name: 'others', type: 'auth' })
  for (const collection of ['users', 'others'])
    await records.create(ITSELF, collection, {
      id: `${collection}12345678910`.slice(0, 15),
      email: EMAIL,
      password: PASSWORD,
      passwordConfirm: PASSWORD,
    })
  tokens['superuser'] = server.token
  tokens['user'] = await tokenFor(server.url, 'users', EMAIL, PASSWORD)
  tokens['account of another collection'] = await tokenFor(server.url, 'others', EMAIL, PASSWORD)
  const [head, claims, signature] = server.token.split('.') as [string, string, string]
  const values = JSON.parse(Buffer.from(claims, 'base64url').toString()) as Record<string, unknown>
  tokens['guest'] = ''
  tokens['garbage'] = 'garbage'
  tokens['cut signature'] = `${head}.${claims}.${signature.slice(0, -2)}`
  tokens['no signature'] = `${head}.${claims}.`
  tokens['algorithm none'] = new UnsecuredJWT(values).encode()
  tokens['key of another'] = await new SignJWT(values)
    .setProtectedHeader({ alg: 'HS256' })
    .sign(Buffer.from('guess'.repeat(10)))
  const user = tokens['user'].split('.') as [string, string, string]
  tokens['claims of a superuser, signature of a user'] = `${user[0]}.${claims}.${user[2]}`
  tokens['file token of a superuser'] = await fileToken()
  const scopes = Object.fromEntries(definitions.all().map(({ name }) => [name, SCOPED]))
  const made = { name: 'all', collection: 'users', record: 'users1234567891', scopes }
  tokens[API_TOKEN] = String((await server.call('POST /tokens', made)).json['token'])
  tokens['cut API token'] = tokens[API_TOKEN].slice(0, -1)
  expect(definitions.find('others')).toBeDefined()
  expect(accounts).toBeDefined()
})
afterAll(() => server.close())

async function fileToken(): Promise<string> {
  const { json } = await server.call('POST /files/token')
  return String(json['token'])
}

const STRANGERS = [
  'guest',
  'garbage',
  'cut signature',
  'no signature',
  'algorithm none',
  'key of another',
  'claims of a superuser, signature of a user',
  'file token of a superuser',
  'cut API token',
]
const ACCOUNTS = ['user', 'account of another collection', API_TOKEN]

test('the table names every route, and no other', () => {
  expect([...found].sort()).toEqual(Object.keys(ROUTES).sort())
})

/** Where routes of the same method take the same path, one of them with a word in place of the collection's name. */
function collisions(routes: readonly string[]): readonly string[] {
  const split = routes.map((route) => route.split('/'))
  return split.flatMap((path) => {
    const at = path.indexOf(':collection')
    const meets = (other: readonly string[]): boolean =>
      other.length === path.length &&
      !other[at]!.startsWith(':') &&
      other.every((word, i) => i === at || word === path[i] || (i > 0 && (word[0] === ':' || path[i]![0] === ':')))
    return at === -1 ? [] : split.filter(meets).map((other) => `${path.join('/')} and ${other.join('/')}`)
  })
}

test('no route takes the path of a collection with a certain name', () => {
  expect(collisions(['POST /api/imports/:collection', 'POST /api/imports/check'])).toHaveLength(1)
  expect(collisions([...found])).toEqual([])
})

test('collections with the names of routes are read, changed, filled by an import and deleted', async () => {
  for (const name of [
    'check',
    'preview',
    'import',
    'meta',
    'scaffolds',
    'truncate',
    'records',
    'rows',
    'token',
    'lacking',
  ]) {
    const fields = [{ name: 'title', type: 'text' }]
    const statuses = [
      await server.call('POST /collections', { name, type: 'base', fields }),
      await server.call(`POST /imports/${name}/rows`, { rows: [{ id: 'a'.repeat(15), title: 'here' }] }),
      await server.call(`GET /collections/${name}/records/${'a'.repeat(15)}`),
      await server.call(`PATCH /collections/${name}`, { listRule: '' }),
      await server.call(`GET /collections/${name}/rules`),
      await server.call(`DELETE /collections/${name}/truncate`),
      await server.call(`DELETE /collections/${name}`),
    ].map(({ status }) => status)
    expect([name, ...statuses]).toEqual([name, 200, 200, 200, 200, 200, 204, 204])
  }
})

/** Nothing that is there, so that a superuser breaks nothing. */
function urlOf(route: string): string {
  return route.replace('/api', '').replace(':collection', 'users').replace(/:\w+/g, 'nope')
}

test.for(Object.entries(ROUTES).filter(([, whom]) => whom === 'superusers'))(
  '%s is for superusers',
  async ([route]) => {
    const url = urlOf(route)
    for (const name of STRANGERS)
      expect([name, (await server.call(url, bodyOf(route), tokens[name])).status]).toEqual([name, 401])
    for (const name of ACCOUNTS)
      expect([name, (await server.call(url, bodyOf(route), tokens[name])).status]).toEqual([name, 403])
  },
)

test.for(Object.entries(ROUTES).filter(([, whom]) => whom === 'account' || whom === 'itself'))(
  '%s is for accounts',
  async ([route, whom]) => {
    const url = urlOf(route)
    const statusFor = async (name: string): Promise<number> =>
      (await server.call(url, bodyOf(route), tokens[name])).status
    for (const name of STRANGERS) expect([name, await statusFor(name)]).toEqual([name, 401])
    expect((await statusFor('account of another collection')) === 403).toBe(whom === 'itself')
    expect(await statusFor(API_TOKEN)).toBe(403)
    expect([401, 403]).not.toContain(await statusFor('user'))
  },
)

test.for(Object.entries(ROUTES).filter(([, whom]) => whom === 'anyone'))('%s takes an API token', async ([route]) => {
  if (route === 'GET /api/realtime') return
  const { status } = await server.call(urlOf(route), bodyOf(route), tokens[API_TOKEN])
  expect([401, 500]).not.toContain(status)
})

test('a locked collection is closed to all but superusers, for each way to its records', async () => {
  await server.call('POST /collections', { name: 'locked', type: 'base', fields: [{ name: 'title', type: 'text' }] })
  const { json } = await server.call('POST /collections/locked/records', { title: 'secret' })
  const id = String(json['id'])
  const ways = [
    ['GET /collections/locked/records'],
    ['POST /collections/locked/records', { title: 'x' }],
    [`GET /collections/locked/records/${id}`],
    [`PATCH /collections/locked/records/${id}`, { title: 'x' }],
    [`DELETE /collections/locked/records/${id}`],
  ] as const
  for (const [request, body] of ways)
    for (const name of [...STRANGERS, ...ACCOUNTS]) {
      const answer = await server.call(request, body, tokens[name])
      expect([name, request, answer.status]).toEqual([name, request, 403])
      expect(answer.text).not.toContain('secret')
    }
})

function bodyOf(route: string): unknown {
  return route.startsWith('GET') ? undefined : {}
}
