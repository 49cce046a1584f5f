/**
 * Goal: the server as it is put together lets in only whom it should. A stranger gets 401 from every route: the table is
 * made of the routes that the server has, so it has new ones too. Users get what `_security` grants. Feeds end with the rights of their
 * reader.
 * Method: real servers over real HTTP.
 */
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fastifyPlugin from 'fastify-plugin'
import { open } from 'pannier'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { contextOf } from '../src/couch/server-context.ts'
import { isRestUrl } from '../src/http/declarations.ts'
import { createServer, type ServerOptions } from '../src/index.ts'
import type { Needs } from '../src/index.ts'
import { ADMIN_PASSWORD, basic, send, sendRaw, startServer, STRANGER, until } from './test-server.ts'
import type { TestServer } from './test-server.ts'

interface Route {
  readonly method: string
  readonly url: string
  readonly needs: Needs | undefined
}

/** Without those of PocketBase's API: test/rest/callers.wired.test.ts has them. */
const routes: Route[] = []
const recordRoutes = fastifyPlugin(async (app) => {
  app.addHook('onRoute', ({ method, url, config }) => {
    if (isRestUrl(url)) return
    for (const one of [method].flat()) routes.push({ method: one, url, needs: config?.needs })
  })
})

const ANN = { authorization: basic('ann:password-of-ann') }
const BOB = { authorization: basic('bob:password-of-bob') }

let running: TestServer
let url: string

beforeAll(async () => {
  running = await startServer({ http: { plugins: [recordRoutes] } })
  url = running.url
  for (const name of ['ann', 'bob'])
    await send(url, `PUT /_users/org.couchdb.user:${name}`, {
      name,
      type: 'user',
      roles: [],
      password: `password-of-${name}`,
    })
  await send(url, 'PUT /db')
  await send(url, 'PUT /db/_security', { admins: { names: ['bob'] }, members: { names: ['ann'] } })
  await send(url, 'PUT /db/x', { secret: 'the secret' })
})
afterAll(() => running.close())

/** A path of a route, for a database. */
function pathOf(route: string, database: string): string {
  return route
    .replace(':db', database)
    .replace('_local/:id', '_local/x')
    .replace(/:\w+|\*/g, 'x')
}

function ask({ method, url: route }: Route, database: string, headers: Readonly<Record<string, string>>) {
  const body = method === 'POST' || method === 'PUT' ? {} : undefined
  return send(url, `${method} ${pathOf(route, database)}`, body, { destination: 'y', ...headers })
}

test('what anyone may ask is known', () => {
  expect(routes.length).toBeGreaterThan(60)
  const open = new Set(routes.filter(({ needs }) => needs === 'anyone').map(({ url: route }) => route))
  expect([...open].sort()).toEqual(['/', '/_/', '/_/:name', '/_pannier/wait', '/_session', '/_up', '/_uuids'])
})

test('a stranger gets 401 from all other routes, and learns no names', async () => {
  for (const route of routes.filter(({ needs }) => needs !== 'anyone')) {
    for (const database of ['db', '_users', 'nowhere']) {
      const { status, text } = await ask(route, database, STRANGER)
      expect([route.method, route.url, database, status]).toEqual([route.method, route.url, database, 401])
      expect(text).not.toContain('secret')
    }
  }
})

test('a user who is no member gets nothing of a database', async () => {
  await send(url, 'PUT /other')
  const guarded = routes.filter(({ needs, url: route }) => needs !== 'anyone' && needs !== 'user' && route !== '/:db')
  for (const route of guarded) {
    const { status } = await ask(route, 'other', ANN)
    expect([route.method, route.url, [401, 403].includes(status)]).toEqual([route.method, route.url, true])
  }
})

test('a new database is for server admins, _security opens it', async () => {
  await send(url, 'PUT /fresh')
  expect((await send(url, 'GET /fresh', undefined, ANN)).status).toBe(403)
  await send(url, 'PUT /fresh/_security', { members: { names: ['ann'] } })
  expect((await send(url, 'GET /fresh', undefined, ANN)).status).toBe(200)
  expect((await send(url, 'GET /fresh', undefined, BOB)).status).toBe(403)
  await send(url, 'PUT /fresh/_security', {})
  expect((await send(url, 'GET /fresh', undefined, STRANGER)).status).toBe(200)
  await send(url, 'DELETE /fresh')
  await send(url, 'PUT /fresh')
  expect((await send(url, 'GET /fresh', undefined, ANN)).status).toBe(403)
})

test('design documents are written by admins of the database only, in whatever way', async () => {
  const design = { _id: '_design/d', language: 'javascript' }
  const rev = '1-abc'
  const old = (await send(url, 'PUT /db/_design/old', {})).json['rev'] as string
  const ways: readonly (readonly [request: string, body?: unknown, headers?: Readonly<Record<string, string>>])[] = [
    ['PUT /db/_design/d', {}],
    ['PUT /db/_design%2Fd', {}],
    ['POST /db', design],
    ['PUT /db/_design/d?new_edits=false', { _rev: rev }],
    ['PUT /db/_design/d/a', 'x'],
    ['COPY /db/x', undefined, { destination: '_design/d' }],
    [`DELETE /db/_design/old?rev=${old}`],
    [`PUT /db/_design/old/a?rev=${old}`, 'x'],
    ['POST /db/_index', { index: { fields: ['a'] } }],
  ]
  for (const [request, body, headers] of ways) {
    const { status } = await send(url, request, body, { ...headers, ...ANN })
    expect([request, status]).toEqual([request, 403])
  }
  for (const bulk of [{ docs: [design] }, { docs: [{ ...design, _rev: rev }], new_edits: false }]) {
    const { json } = await send(url, 'POST /db/_bulk_docs', bulk, ANN)
    expect(json).toMatchObject([{ id: '_design/d', error: 'forbidden' }])
  }
  expect((await send(url, 'GET /db/_design/d')).status).toBe(404)
  expect((await send(url, 'PUT /db/_design/d', {}, BOB)).status).toBe(201)
  expect((await send(url, 'POST /db/_bulk_docs', { docs: [{ _id: 'of-ann' }] }, ANN)).json).toMatchObject([
    { ok: true },
  ])
})

test('row 44: feeds end when their reader may not read on, and only theirs', async () => {
  const feed = 'GET /db/_changes?feed=continuous&since=now&heartbeat=100'
  const isOpen = { ann: true, bob: true, admin: true }
  const watch = async (name: keyof typeof isOpen, headers?: Readonly<Record<string, string>>): Promise<string> => {
    const { text } = await send(url, feed, undefined, headers)
    isOpen[name] = false
    return text
  }
  const feeds = [watch('ann', ANN), watch('bob', BOB), watch('admin')]
  await until(() => contextOf(running.server.http).feeds.count === 3)
  await send(url, 'PUT /db/_security', { admins: { names: ['bob'] }, members: { names: ['somebody'] } })
  expect(await feeds[0]).toContain('"last_seq"')
  expect(isOpen).toEqual({ ann: false, bob: true, admin: true })
  const { _rev } = (await send(url, 'GET /_users/org.couchdb.user:bob')).json
  await send(url, `DELETE /_users/org.couchdb.user:bob?rev=${String(_rev)}`)
  await feeds[1]
  expect(isOpen.admin).toBe(true)
  const updates = send(url, 'GET /_db_updates?feed=continuous&since=now&heartbeat=100')
  await until(() => contextOf(running.server.http).feeds.count === 2)
  await contextOf(running.server.http).auth.accounts.setAdmin('admin', ADMIN_PASSWORD)
  await Promise.all([feeds[2], updates])
  await until(() => contextOf(running.server.http).feeds.count === 0)
})

test('a server without an admin is closed at both doors; the superuser that is made is the admin of both', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'pannier-server-'))
  const first = await createServer({ dir, logger: false })
  const firstUrl = await first.listen({ port: 0 })
  const all = 'GET /_all_dbs'
  const statusFor = async (at: string, credentials?: string): Promise<number> =>
    (await send(at, all, undefined, credentials === undefined ? STRANGER : { authorization: basic(credentials) }))
      .status
  expect(await statusFor(firstUrl)).toBe(401)
  const [email, password] = ['root@example.com', 'the first password']
  const superuser = { email, password, passwordConfirm: password }
  const make = 'POST /api/collections/_superusers/records'
  expect((await send(firstUrl, make, superuser, STRANGER)).status).toBe(403)
  const authorization = (await first.backend.accounts.firstSuperuser.offer())!
  expect((await send(firstUrl, make, superuser, { authorization })).status).toBe(200)
  expect(await statusFor(firstUrl, `${email}:${password}`)).toBe(200)
  await first.close()
  await rm(dir, { recursive: true })
})

type Given = Pick<ServerOptions, 'superuser' | 'couchAdmin'>

test('a given superuser and a given server admin log in; the same password keeps sessions', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'pannier-server-'))
  const given = async (options: Given, cookie?: string): Promise<[number, number, string]> => {
    const server = await createServer({ dir, logger: false, ...options })
    const at = await server.listen({ port: 0 })
    const [name, password] = (options.superuser ?? options.couchAdmin)!.split(':') as [string, string]
    const login = await send(at, 'POST /_session', { name, password }, STRANGER)
    const again =
      cookie === undefined ? 0 : (await send(at, 'GET /_all_dbs', undefined, { ...STRANGER, cookie })).status
    const isSuperuser = (await server.backend.accounts.superuser(name)) !== undefined
    expect(isSuperuser).toBe(options.superuser !== undefined)
    await server.close()
    return [login.status, again, login.headers.get('set-cookie')!.split(';', 1)[0]!]
  }
  for (const [option, name] of [
    ['couchAdmin', 'root'],
    ['superuser', 'root@example.com'],
  ] as const) {
    const [status, , cookie] = await given({ [option]: `${name}:a password` })
    const [same, kept] = await given({ [option]: `${name}:a password` }, cookie)
    const [other, ended] = await given({ [option]: `${name}:another password` }, cookie)
    expect([status, same, kept, other, ended], name).toEqual([200, 200, 200, 200, 401])
  }
  for (const [options, error] of [
    [{ couchAdmin: 'nonsense' }, { name: 'TypeError' }],
    [{ superuser: 'nonsense' }, { name: 'TypeError' }],
    [{ couchAdmin: 'a:short' }, { code: 'INVALID' }],
    [{ superuser: 'a@example.com:short' }, { code: 'INVALID' }],
    [{ superuser: 'root:a long password' }, { code: 'INVALID' }],
  ] as const)
    await expect(createServer({ dir, logger: false, ...options })).rejects.toMatchObject(error)
  // What could not start holds nothing.
  await (await open(join(dir, 'pannier.sqlite'))).close()
  await rm(dir, { recursive: true })
})

test('behind a proxy: its word counts only if it is trusted', async () => {
  const login = { name: 'admin', password: ADMIN_PASSWORD }
  const headers = {
    'x-forwarded-proto': 'https',
    'x-forwarded-host': 'db.example.org',
    origin: 'https://db.example.org',
  }
  const trusting = await startServer({ http: { trustProxy: true } })
  const inside = await send(trusting.url, 'POST /_session', login, { ...headers, ...STRANGER })
  expect([inside.status, inside.headers.get('set-cookie')]).toEqual([200, expect.stringContaining('Secure')])
  await trusting.close()
  expect((await send(url, 'POST /_session', login, { ...headers, ...STRANGER })).status).toBe(403)
  const plain = await send(url, 'POST /_session', login, STRANGER)
  expect(plain.headers.get('set-cookie')).not.toContain('Secure')
})

test('pages of origins that CORS allows may write, others may not', async () => {
  const origin = 'https://app.example.org'
  const other = await startServer({ http: { corsOrigins: [origin] } })
  expect((await send(other.url, 'PUT /db', undefined, { origin })).status).toBe(201)
  expect((await send(other.url, 'PUT /dc', undefined, { origin: 'https://evil.example.org' })).status).toBe(403)
  await other.close()
})

test('a method that a URL does not have is a 405 that names those it has', async () => {
  for (const [request, allow] of [
    ['GET /db/_find', 'POST'],
    ['PUT /db/_bulk_docs', 'POST'],
    ['POST /_all_dbs', 'GET,HEAD'],
    ['DELETE /db/_design/d/_view/v', 'GET,HEAD,POST'],
    ['PUT /', 'GET,HEAD'],
    ['POST /db/x/a', 'DELETE,GET,HEAD,PUT'],
    ['PUT /_session', 'DELETE,GET,HEAD,POST'],
  ] as const) {
    const { status, headers, json } = await send(url, request, request.startsWith('GET') ? undefined : {})
    expect([request, status, headers.get('allow'), json['error']]).toEqual([request, 405, allow, 'method_not_allowed'])
  }
})

test('settings are shown and not changed; admins are', async () => {
  const { json } = await send(url, 'GET /_node/_local/_config')
  expect(json).toMatchObject({ admins: { admin: '***' }, couchdb: { uuid: expect.stringMatching(/^[0-9a-f]{32}$/) } })
  expect(JSON.stringify(json)).not.toContain('argon2')
  expect((await send(url, 'GET /_node/nonode@nohost/_config/couchdb/uuid')).text).toMatch(/^"[0-9a-f]{32}"\n$/)
  expect((await send(url, 'GET /_node/_local/_config/constructor')).text).toBe('{}')
  for (const request of [
    'GET /_node/elsewhere/_config',
    'GET /_node/_local/_config/couchdb/nothing',
    'GET /_node/_local/_config/couchdb/constructor',
  ])
    expect([request, (await send(url, request)).status]).toEqual([request, 404])
  for (const key of ['query_servers/cmd', 'os_daemons/x', 'couchdb/database_dir', 'httpd/bind_address', 'log/file'])
    expect((await send(url, `PUT /_node/_local/_config/${key}`, '"/bin/sh"')).status).toBe(403)
  expect((await send(url, 'PUT /_node/_local/_config/admins/eve', '"short"')).status).toBe(400)
  expect((await send(url, 'PUT /_node/_local/_config/admins/eve', '"password-of-eve"')).text).toBe('""\n')
  const eve = { authorization: basic('eve:password-of-eve') }
  expect((await send(url, 'GET /_all_dbs', undefined, eve)).status).toBe(200)
  expect((await send(url, 'DELETE /_node/_local/_config/admins/eve')).status).toBe(200)
  expect((await send(url, 'GET /_all_dbs', undefined, eve)).status).toBe(401)
  expect((await send(url, 'DELETE /_node/_local/_config/admins/admin')).status).toBe(403)
})

test('pages of a folder at /_utils, and nothing beside them', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'pannier-pages-'))
  await mkdir(join(folder, 'pages/js'), { recursive: true })
  await writeFile(join(folder, 'pages/index.html'), '<h1>Pages</h1>')
  await writeFile(join(folder, 'pages/js/a.js'), 'run()')
  await writeFile(join(folder, 'secret'), 'the secret')
  await symlink(join(folder, 'secret'), join(folder, 'pages/link'))
  await symlink(folder, join(folder, 'pages/up'))
  const other = await startServer({ couch: { fauxton: join(folder, 'pages') } })
  const page = await send(other.url, 'GET /_utils/', undefined, STRANGER)
  expect([page.status, page.text]).toEqual([200, '<h1>Pages</h1>'])
  expect(page.headers.get('content-security-policy')).toContain("script-src 'self';")
  expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
  expect(page.headers.get('x-frame-options')).toBe('DENY')
  expect((await send(other.url, 'GET /_utils', undefined, STRANGER)).headers.get('location')).toBe('/_utils/')
  const script = await send(other.url, 'GET /_utils/js/a.js', undefined, STRANGER)
  expect([script.text, script.headers.get('content-type')]).toEqual(['run()', 'text/javascript; charset=utf-8'])
  for (const path of [
    'js',
    'js/',
    '..%2fsecret',
    '%2e%2e/secret',
    'js/..%2f..%2fsecret',
    'constructor',
    'js%2fa.js%00',
    'link',
    'up/secret',
  ])
    expect([path, (await send(other.url, `GET /_utils/${path}`, undefined, STRANGER)).text]).toEqual([
      path,
      expect.not.stringContaining('the secret'),
    ])
  expect(
    await sendRaw(other.url, 'GET /_utils/../secret HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'),
  ).not.toContain('the secret')
  await other.close()
  await expect(startServer({ couch: { fauxton: join(folder, 'none') } })).rejects.toThrow('ENOENT')
  await rm(folder, { recursive: true })
})

test('a snapshot has everything, and a replica loads it in one download', async () => {
  await send(url, 'PUT /snap')
  const docs = Array.from({ length: 2000 }, (_, at) => ({ _id: `d${at}`, at }))
  await send(url, 'POST /snap/_bulk_docs', { docs })
  await send(url, 'PUT /snap/files', { _attachments: { a: { content_type: 'text/plain', data: 'aGVsbG8=' } } })
  expect((await send(url, 'GET /')).json['features']).toContain('pannier-snapshot-2')
  const { text, headers } = await send(url, 'GET /snap/_pannier/snapshot')
  expect(headers.get('content-type')).toBe('application/x-ndjson')
  const lines = text.trim().split('\n')
  expect(JSON.parse(lines[0]!)).toMatchObject({ format: 'pannier-replica', documents: 2001 })
  expect(JSON.parse(lines.at(-1)!)).toMatchObject({ end: true, documents: 2001, revisions: 2001 })
  const folder = await mkdtemp(join(tmpdir(), 'pannier-replica-'))
  const db = await open(join(folder, 'db.sqlite'))
  const target = db.collection('snap')
  const result = await target.replicate({ from: `${running.adminUrl}/snap` })
  expect(result).toMatchObject({ ok: true, docsWritten: 2001 })
  expect(await (await target.getAttachment('files', 'a'))!.bytes()).toHaveLength(5)
  const log = (await send(url, 'GET /metrics')).text
  expect(log).toMatch(/route="\/:db\/_pannier\/snapshot",status="200"\} 2/)
  expect(log).not.toMatch(/route="\/:db\/_bulk_get",status="200"/)
  await db.close()
  await rm(folder, { recursive: true })
})

test('row 44: a snapshot whose reader may not read on is cut off, and has no last line', async () => {
  await send(url, 'PUT /cut')
  await send(url, 'PUT /cut/_security', { members: { names: ['ann'] } })
  for (let round = 0; round < 20; round++) {
    const docs = Array.from({ length: 100 }, (_, at) => ({ _id: `${round}-${at}`, text: 'x'.repeat(20_000) }))
    await send(url, 'POST /cut/_bulk_docs', { docs })
  }
  const { hostname, port } = new URL(url)
  const read = (afterFirst: () => Promise<void>): Promise<string> =>
    new Promise((resolve) => {
      let text = ''
      const socket = connect(Number(port), hostname, () => {
        const headers = `Host: localhost\r\nConnection: close\r\nAuthorization: ${ANN.authorization}\r\n`
        socket.write(`GET /cut/_pannier/snapshot HTTP/1.1\r\n${headers}\r\n`)
      })
      socket.setEncoding('utf8').on('close', () => resolve(text))
      socket.on('error', () => {})
      socket.once('data', () => {
        socket.pause()
        void afterFirst().then(() => socket.resume())
      })
      socket.on('data', (piece: string) => (text = (text + piece).slice(-1000)))
    })
  expect(await read(async () => {})).toContain('"end":true')
  expect(await read(async () => void (await send(url, 'PUT /cut/_security', {})))).toContain('"end":true')
  const cut = await read(async () => void (await send(url, 'PUT /cut/_security', { members: { names: ['bob'] } })))
  expect(cut).not.toContain('"end":true')
})
