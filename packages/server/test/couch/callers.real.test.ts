/**
 * Goal: CouchDB's door serves a collection with rules to those who see all of it, and to nobody else, on every route. A refusal tells
 * nothing of what is in the collection. Writes are judged by the rules.
 * Method: the table of routes of a server, times every kind of caller.
 */
import fastifyPlugin from 'fastify-plugin'
import { PouchDB } from '../../testing/pouch.js'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { contextOf } from '../../src/couch/server-context.ts'
import { isRestUrl } from '../../src/http/declarations.ts'
import type { Needs } from '../../src/index.ts'
import { EMAIL, ITSELF, PASSWORD, startRest, tokenFor, type RestServer } from '../rest/rest-server.ts'
import { basic, send, STRANGER, until, type Answer } from '../test-server.ts'

interface Route {
  readonly method: string
  readonly url: string
  readonly needs: Needs | undefined
}

const CLIENT = '@pannier/client'
const routes: Route[] = []
const headers: Record<string, Readonly<Record<string, string>>> = { guest: STRANGER }
let server: RestServer

const FIELDS = [
  { name: 'title', type: 'text' },
  { name: 'author', type: 'text' },
  { name: 'file', type: 'file' },
]
const MINE = 'author = @request.auth.id'
const STAFF = '@request.auth.role = "staff"'
const NOTE_ID = 'aaaaaaaaaaaaaaa'

/** Collections, with the callers that see all of them. */
const COLLECTIONS: Readonly<Record<string, { readonly definition: object; readonly open: readonly string[] }>> = {
  mine: { definition: { listRule: MINE, viewRule: MINE }, open: [] },
  locked: { definition: {}, open: [] },
  unlisted: { definition: { viewRule: '' }, open: [] },
  unviewed: { definition: { listRule: '', viewRule: MINE }, open: [] },
  news: { definition: { listRule: '', viewRule: '' }, open: ['guest', 'ann', 'staff', 'other'] },
  staff: { definition: { listRule: STAFF, viewRule: STAFF }, open: ['staff'] },
  either: { definition: { listRule: `${STAFF} || ${MINE}`, viewRule: STAFF }, open: ['staff'] },
  timed: { definition: { listRule: '', viewRule: '@request.auth.id != "" && @now > "2000"' }, open: [] },
  asked: { definition: { listRule: '', viewRule: '@request.method = "GET"' }, open: [] },
  linked: { definition: { listRule: '', viewRule: '@request.auth.team.title = "a"' }, open: [] },
  joined: { definition: { listRule: '', viewRule: '@collection.news.title ?= "a"' }, open: [] },
  hiding: {
    definition: { listRule: '', viewRule: '', fields: [...FIELDS, { name: 'secret', type: 'text', hidden: true }] },
    open: [],
  },
  cut: {
    definition: { listRule: '', viewRule: '', fields: [...FIELDS, { name: 'pay', type: 'number', viewRule: MINE }] },
    open: [],
  },
  paid: {
    definition: { listRule: '', viewRule: '', fields: [...FIELDS, { name: 'pay', type: 'number', viewRule: STAFF }] },
    open: ['staff'],
  },
  users: { definition: {}, open: [] },
}
const CALLERS = ['guest', 'ann', 'staff', 'other']

beforeAll(async () => {
  const watch = fastifyPlugin(async (app) => {
    app.addHook('onRoute', ({ method, url, config }) => {
      if (isRestUrl(url) || !url.startsWith('/:db')) return
      for (const one of [method].flat()) routes.push({ method: one, url, needs: config?.needs })
    })
  })
  server = await startRest({ http: { plugins: [watch] } })
  const make = async (definition: object): Promise<void> => {
    const { status, text } = await server.call('POST /collections', { type: 'base', fields: FIELDS, ...definition })
    expect([status, text]).toEqual([200, expect.anything()])
  }
  await make({ name: 'news', ...COLLECTIONS['news']!.definition })
  const news = String((await server.call('GET /collections/news')).json['id'])
  const users = (await server.call('GET /collections/users')).json
  await server.call('PATCH /collections/users', {
    listRule: '',
    viewRule: '',
    fields: [
      ...(users['fields'] as object[]),
      { name: 'role', type: 'text' },
      { name: 'team', type: 'relation', collectionId: news, maxSelect: 1 },
    ],
  })
  await make({ name: 'others', type: 'auth', fields: [] })
  for (const [name, { definition }] of Object.entries(COLLECTIONS))
    if (name !== 'users' && name !== 'news') await make({ name, ...definition })
  const secret = { password: PASSWORD, passwordConfirm: PASSWORD }
  const { records } = server.server.backend
  await records.create(ITSELF, 'news', { id: 'teamteamteamtea', title: 'a' })
  const account = { ...secret, team: 'teamteamteamtea' }
  await records.create(ITSELF, 'users', { ...account, id: 'annannannannann', email: 'ann@example.com' })
  await records.create(ITSELF, 'users', {
    ...account,
    id: 'staffstaffstaff',
    email: 'staff@example.com',
    role: 'staff',
  })
  await records.create(ITSELF, 'others', { ...secret, email: 'other@example.com' })
  for (const [name, collection] of [
    ['ann', 'users'],
    ['staff', 'users'],
    ['other', 'others'],
  ] as const)
    headers[name] = {
      authorization: `Bearer ${await tokenFor(server.url, collection, `${name}@example.com`, PASSWORD)}`,
    }
  headers['superuser'] = { authorization: basic(`${EMAIL}:${PASSWORD}`) }
  for (const name of Object.keys(COLLECTIONS))
    if (name !== 'users') await records.create(ITSELF, name, { id: NOTE_ID, title: 'the secret', author: 'nobody' })
})
afterAll(() => server.close())

function as(caller: string, request: string, body?: unknown, more: object = {}): Promise<Answer> {
  return send(server.url, request, body, { ...headers[caller], ...more })
}

function ask(caller: string, { method, url }: Route, database: string, id: string, name = 'x'): Promise<Answer> {
  const path = url
    .replace(':db', database)
    .replace('_local/:id', '_local/x')
    .replace('_design/:id', `_design/${name}`)
    .replace(':id', id)
    .replace(/:\w+|\*/g, name)
  const body = ['POST', 'PUT', 'PATCH'].includes(method)
    ? { docs: [{ id }], keys: [id], [id]: ['1-a'], selector: {} }
    : undefined
  return as(caller, `${method} ${path}`, body, { destination: 'zzzzzzzzzzzzzzz' })
}

/** All of an answer but its time and its number. */
function wholeOf({ status, headers: sent, text }: Answer): unknown {
  return [status, text, [...sent].filter(([name]) => name !== 'date' && name !== 'x-couch-request-id')]
}

/** Routes that every collection is asked for. */
const SOME = ['/:db', '/:db/:id', '/:db/_all_docs', '/:db/_changes']
const RESTRICTED = Object.entries(COLLECTIONS).flatMap(([name, { open }]) =>
  CALLERS.filter((caller) => !open.includes(caller)).map((caller) => [caller, name] as const),
)

test('the routes are known, and are for members or admins', () => {
  expect(routes.length).toBeGreaterThan(150)
  expect(new Set(routes.map(({ needs }) => needs))).toEqual(new Set(['member', 'database-admin', 'server-admin']))
})

test.for(RESTRICTED)('%s sees part of %s: a refusal at every route, whatever is there', async ([caller, name]) => {
  // All routes are asked of one collection, as what refuses is the same for all.
  const asked = name === 'mine' ? routes : routes.filter(({ method, url }) => method === 'GET' && SOME.includes(url))
  for (const route of asked) {
    const answer = await ask(caller, route, name, NOTE_ID)
    const place = [route.method, route.url]
    expect([...place, answer.status]).toEqual([
      ...place,
      caller === 'guest' || route.needs === 'server-admin' ? 401 : 403,
    ])
    expect(wholeOf(await ask(caller, route, name, 'missingmissingm')), place.join(' ')).toEqual(wholeOf(answer))
    if (route.method === 'HEAD' || route.needs !== 'member') continue
    expect(answer.text.includes(CLIENT), place.join(' ')).toBe(caller !== 'guest')
  }
})

test('a guest learns of no collection with rules', async () => {
  for (const route of routes) {
    const answer = wholeOf(await ask('guest', route, 'mine', NOTE_ID))
    expect(wholeOf(await ask('guest', route, 'nowhere', NOTE_ID)), `${route.method} ${route.url}`).toEqual(answer)
  }
})

const READS = [
  '',
  '/_all_docs?include_docs=true',
  '/_changes?include_docs=true',
  `/${NOTE_ID}`,
  '/_security',
  '/_revs_limit',
  '/_index',
  '/_design_docs',
  '/_pannier/snapshot',
]

test.for(Object.entries(COLLECTIONS).flatMap(([name, { open }]) => open.map((caller) => [caller, name] as const)))(
  '%s sees all of %s, and reads it',
  async ([caller, name]) => {
    for (const path of READS) expect([path, (await as(caller, `GET /${name}${path}`)).status]).toEqual([path, 200])
    const read = await as(caller, `POST /${name}/_find`, { selector: { title: 'the secret' } })
    expect(read.json['docs']).toMatchObject([{ _id: NOTE_ID }])
    const bulk = await as(caller, `POST /${name}/_bulk_get`, { docs: [{ id: NOTE_ID }] })
    expect(bulk.text).toContain('the secret')
    for (const [request, body] of [
      [`POST /${name}/_index`, { index: { fields: ['title'] } }],
      [`PUT /${name}/_security`, {}],
      [`POST /${name}/_purge`, { [NOTE_ID]: ['1-a'] }],
      [`GET /${name}/_local_docs`],
      [`PUT /${name}/_design/x`, { views: {} }],
      [`DELETE /${name}`],
    ] as const)
      expect([request, [401, 403].includes((await as(caller, request, body)).status)]).toEqual([request, true])
  },
)

test('counts and names of all databases are for admins', async () => {
  for (const caller of CALLERS)
    for (const request of ['GET /_all_dbs', 'GET /_dbs_info', 'GET /_db_updates', 'GET /_active_tasks'])
      expect([caller, request, (await as(caller, request)).status]).toEqual([caller, request, 401])
  for (const caller of CALLERS) {
    const wait = (name: string) => as(caller, 'POST /_pannier/wait', { databases: [{ name, since: '9' }] })
    expect((await wait('mine')).json).toEqual({ changed: ['mine'] })
    expect((await wait('nowhere')).json).toEqual({ changed: ['nowhere'] })
  }
})

test('a hook that decides what requests see closes the door to all but superusers', async () => {
  const { hooks } = server.server.backend
  const bind = (tag: string) =>
    hooks.replace([
      { name: 'onRecordEnrich', tags: [tag], source: 'hooks/x.ts:1', handler: (e: { next(): unknown }) => e.next() },
    ])
  bind('news')
  expect((await as('ann', 'GET /news/_all_docs')).status).toBe(403)
  expect((await as('superuser', 'GET /news/_all_docs')).status).toBe(200)
  bind('mine')
  expect((await as('ann', 'GET /news/_all_docs')).status).toBe(200)
  hooks.replace([])
})

describe('writes', () => {
  const rules = { createRule: '@request.auth.id != ""', updateRule: MINE, deleteRule: null }
  const own = 'ownownownownown'
  beforeEach(async () => {
    await server.call('PATCH /collections/news', rules)
    await server.server.backend.records.delete(ITSELF, 'news', own).catch(() => {})
  })

  test('the rules judge edits of those who see all', async () => {
    const made = await as('ann', `PUT /news/${own}`, { title: 'mine', author: 'annannannannann' })
    expect(made.status).toBe(201)
    const rev = made.json['rev'] as string
    const other = await as('ann', `GET /news/${NOTE_ID}`)
    const refused: readonly (readonly [string, string, unknown?])[] = [
      ['guest', 'PUT /news/bbbbbbbbbbbbbbb', { title: 'x' }],
      ['ann', `PUT /news/${NOTE_ID}`, { ...other.json, title: 'x' }],
      ['staff', `PUT /news/${own}`, { _rev: rev, title: 'x', author: 'staffstaffstaff' }],
      ['ann', `DELETE /news/${own}?rev=${rev}`],
      ['ann', 'PUT /news/ccccccccccccccc?new_edits=false', { _rev: '1-abc', title: 'x' }],
    ]
    for (const [caller, request, body] of refused) {
      const answer = await as(caller, request, body)
      expect([request, answer.status, answer.json['error']]).toEqual([request, 403, 'forbidden'])
    }
    // No field of the record names such a file.
    const file = await as('ann', `PUT /news/${NOTE_ID}/file.txt?rev=${String(other.json['_rev'])}`, 'x')
    expect([file.status, file.json['error']]).toEqual([400, 'bad_request'])
    const bulk = {
      docs: [
        { _id: own, _rev: rev, title: 'again', author: 'annannannannann' },
        { ...other.json, title: 'x' },
      ],
    }
    expect((await as('ann', 'POST /news/_bulk_docs', bulk)).json).toMatchObject([
      { ok: true, id: own },
      { id: NOTE_ID, error: 'forbidden', reason: expect.stringContaining('updateRule') },
    ])
    const pushed = {
      new_edits: false,
      docs: [{ _id: own, _rev: `9-${'a'.repeat(32)}`, title: 'x', author: 'annannannannann' }],
    }
    expect((await as('ann', 'POST /news/_bulk_docs', pushed)).json).toMatchObject([
      { id: own, error: 'forbidden', reason: expect.stringContaining(CLIENT) },
    ])
    expect((await as('ann', `GET /news/${own}`)).json).toMatchObject({ title: 'again' })
  })

  test('nobody but superusers extends a branch beside the winner', async () => {
    const author = 'annannannannann'
    await as('ann', `PUT /news/${own}`, { title: 'mine', author })
    const losing = `1-${'0'.repeat(32)}`
    const branch = { new_edits: false, docs: [{ _id: own, _rev: losing, title: 'beside', author }] }
    expect((await as('superuser', 'POST /news/_bulk_docs', branch)).status).toBe(201)
    expect((await as('ann', `PUT /news/${own}`, { _rev: losing, title: 'x', author })).status).toBe(409)
  })
})

test('a feed ends when its reader may not see all any more: by a role, by a rule', async () => {
  const { feeds } = contextOf(server.server.http)
  const watch = (caller: string, name: string): Promise<Answer> =>
    as(caller, `GET /${name}/_changes?feed=continuous&since=now&heartbeat=100`)
  const feed = watch('staff', 'staff')
  const others = [watch('ann', 'news'), watch('guest', 'news')]
  await until(() => feeds.count === 3)
  await server.call('PATCH /collections/users/records/staffstaffstaff', { role: '' })
  expect((await feed).text).toContain('"last_seq"')
  expect(feeds.count).toBe(2)
  expect((await as('staff', 'GET /staff')).status).toBe(403)
  await server.call('PATCH /collections/users/records/staffstaffstaff', { role: 'staff' })
  await server.call('PATCH /collections/news', { viewRule: MINE })
  for (const one of others) expect((await one).text).toContain('"last_seq"')
  expect(feeds.count).toBe(0)
  expect((await as('ann', 'GET /news')).status).toBe(403)
  await server.call('PATCH /collections/news', { viewRule: '' })
})

test.each(['ann', 'guest'])(
  'PouchDB pulls a collection that %s sees all of, and goes on where it was',
  async (caller) => {
    const fetchAs: typeof fetch = (url, init) => {
      const sent = new Headers(init?.headers)
      if (headers[caller]!['authorization'] !== '') sent.set('authorization', headers[caller]!['authorization']!)
      return fetch(url, { ...init, headers: sent })
    }
    const remote = new PouchDB(`${server.url}/news`, { fetch: fetchAs, skip_setup: true } as object)
    const local = new PouchDB(`pulled-${caller}`, { adapter: 'memory' })
    const first = await local.replicate.from(remote)
    expect(first.docs_written).toBeGreaterThan(1)
    const { id } = await server.server.backend.records.create(ITSELF, 'news', { title: 'later' })
    expect((await local.replicate.from(remote)).docs_written).toBe(1)
    expect(await local.get(String(id))).toMatchObject({ title: 'later' })
    await local.destroy()
  },
)
