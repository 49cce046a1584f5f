/**
 * Goal: what holds for a write of a record holds at every door that records are written by.
 * Method: a table of doors; each check writes a record by each of them, by real requests, and looks at what is stored. A route that may
 * write, and that is no door of the table, needs a reason in `OTHER_ROUTES`.
 */
import type { FastifyInstance } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { ServiceError, SYSTEM, type WriteGuard } from '@pannier/backend'
import type { BoundHook, HookEvents, HookHandler } from '@pannier/backend/internal'
import { migrationApp } from '@pannier/backend/internal'
import { basic, send, type Answer } from '../test-server.ts'
import { DEVICE } from './push-server.ts'
import { EMAIL, ITSELF, PASSWORD, startRest, tokenFor, type RestServer } from './rest-server.ts'

interface Written {
  readonly id: string
  readonly title: string
}

interface World {
  readonly rest: RestServer
  /** The token of an account. */
  readonly ann: string
}

interface Door {
  /** Makes a record. */
  create?(world: World, record: Written): Promise<unknown>
  update?(world: World, record: Written): Promise<unknown>
  delete?(world: World, id: string): Promise<unknown>
  /** Who writes is nobody whom a rule concerns. */
  readonly isForSuperusers?: true
  /** No request of its own. */
  readonly isInside?: true
  /** No hook runs, as the documents say. */
  readonly isWithoutHooks?: true
  /** Values that fields refuse are taken and counted, as the documents say. */
  readonly takesUnfit?: true
}

const ROOT = { authorization: basic(`${EMAIL}:${PASSWORD}`) }
const RECORDS = '/collections/posts/records'

const asRoot = ({ rest }: World, request: string, body?: unknown): Promise<Answer> =>
  send(rest.url, request, body, ROOT)
const byAnn = ({ rest, ann }: World, request: string, body?: unknown): Promise<Answer> => rest.call(request, body, ann)

async function revOf({ rest }: World, id: string): Promise<unknown> {
  return (await stored(rest, id))?.['_rev']
}

let transactions = 0
const push = (world: World, write: object): Promise<unknown> =>
  byAnn(world, 'POST /sync/push', {
    device: DEVICE,
    transactions: [{ n: ++transactions, writes: [{ collection: 'posts', ...write }] }],
  })
const batch = (world: World, request: object): Promise<unknown> => byAnn(world, 'POST /batch', { requests: [request] })
const couch = async (world: World, id: string, changes: object): Promise<unknown> => {
  const rev = await revOf(world, id)
  return asRoot(world, `PUT /posts/${id}`, { ...(rev !== undefined && { _rev: rev }), ...changes })
}
const couchOf = async (world: World, id: string, changes: object): Promise<unknown> => {
  const rev = await revOf(world, id)
  const body = { ...(rev !== undefined && { _rev: rev }), ...changes }
  return send(world.rest.url, `PUT /posts/${id}`, body, { authorization: `Bearer ${world.ann}` })
}
/** A hook of another collection writes. */
const byHook = async (world: World, text: object): Promise<unknown> =>
  world.rest.call('POST /collections/jobs/records', { text: JSON.stringify(text) })

const DOORS: Readonly<Record<string, Door>> = {
  REST: {
    create: (world, record) => byAnn(world, `POST ${RECORDS}`, record),
    update: (world, { id, title }) => byAnn(world, `PATCH ${RECORDS}/${id}`, { title }),
    delete: (world, id) => byAnn(world, `DELETE ${RECORDS}/${id}`),
  },
  'a batch': {
    create: (world, body) => batch(world, { method: 'POST', url: `/api${RECORDS}`, body }),
    update: (world, { id, title }) => batch(world, { method: 'PATCH', url: `/api${RECORDS}/${id}`, body: { title } }),
    delete: (world, id) => batch(world, { method: 'DELETE', url: `/api${RECORDS}/${id}` }),
  },
  'an upsert of a batch': {
    create: (world, body) => batch(world, { method: 'PUT', url: `/api${RECORDS}`, body }),
    update: (world, body) => batch(world, { method: 'PUT', url: `/api${RECORDS}`, body }),
  },
  'a push of a device': {
    create: (world, { id, title }) => push(world, { action: 'create', id, values: { title } }),
    update: (world, { id, title }) => push(world, { action: 'update', id, base: null, values: { title } }),
    delete: (world, id) => push(world, { action: 'delete', id, base: null }),
  },
  "CouchDB's door": {
    create: (world, { id, title }) => couch(world, id, { title }),
    update: (world, { id, title }) => couch(world, id, { title }),
    delete: (world, id) => couch(world, id, { _deleted: true }),
    isForSuperusers: true,
  },
  "CouchDB's door, by an account": {
    create: (world, { id, title }) => couchOf(world, id, { title }),
    update: (world, { id, title }) => couchOf(world, id, { title }),
    delete: (world, id) => couchOf(world, id, { _deleted: true }),
  },
  _bulk_docs: {
    create: (world, { id, title }) => asRoot(world, 'POST /posts/_bulk_docs', { docs: [{ _id: id, title }] }),
    isForSuperusers: true,
  },
  'revisions of elsewhere': {
    create: (world, { id, title }) =>
      asRoot(world, 'POST /posts/_bulk_docs', { new_edits: false, docs: [{ _id: id, _rev: '1-abc', title }] }),
    isForSuperusers: true,
  },
  'the replicator': {
    create: async (world, { id, title }) => {
      await asRoot(world, `PUT /plain/${id}`, { title })
      return asRoot(world, 'POST /_replicate', { source: 'plain', target: 'posts', doc_ids: [id] })
    },
    isForSuperusers: true,
  },
  'the SQL console': {
    create: ({ rest }, { id, title }) =>
      rest.call('POST /sql', { query: `INSERT INTO posts (id, title) VALUES ('${id}', '${title}')` }),
    update: ({ rest }, { id, title }) =>
      rest.call('POST /sql', { query: `UPDATE posts SET title = '${title}' WHERE id = '${id}'` }),
    delete: ({ rest }, id) => rest.call('POST /sql', { query: `DELETE FROM posts WHERE id = '${id}'` }),
    isForSuperusers: true,
    isWithoutHooks: true,
  },
  'an import': {
    create: ({ rest }, record) => rest.call('POST /imports/posts/rows', { rows: [record] }),
    update: ({ rest }, record) => rest.call('POST /imports/posts/rows', { rows: [record] }),
    isForSuperusers: true,
    isWithoutHooks: true,
    takesUnfit: true,
  },
  'an import with checks': {
    create: ({ rest }, record) => rest.call('POST /imports/posts/records', { rows: [record] }),
    update: ({ rest }, record) => rest.call('POST /imports/posts/records', { rows: [record], upsert: true }),
    isForSuperusers: true,
  },
  'a hook': {
    create: (world, record) => byHook(world, { create: record }),
    update: (world, record) => byHook(world, { update: record }),
    delete: (world, id) => byHook(world, { delete: id }),
    isForSuperusers: true,
  },
  'a transaction of a hook': {
    create: (world, record) => byHook(world, { within: true, create: record }),
    update: (world, record) => byHook(world, { within: true, update: record }),
    delete: (world, id) => byHook(world, { within: true, delete: id }),
    isForSuperusers: true,
  },
  'a migration': {
    create: async ({ rest }, record) => {
      const app = migrationApp(rest.server.backend)
      await app.save(app.newRecord('posts', { ...record })).catch(() => {})
    },
    isForSuperusers: true,
    isInside: true,
  },
}

/** What the operator's guard does now. */
let guard: WriteGuard = {}
const GUARD: WriteGuard = {
  prepare: (write) => guard.prepare?.(write) ?? write.documents,
  decide: (write) => guard.decide?.(write),
  written: (write, documents) => guard.written?.(write, documents),
}

let world: World
beforeAll(async () => (world = await openWorld({ guards: [GUARD] })))
afterEach(() => {
  guard = {}
  world.rest.server.backend.hooks.replace([JOB])
})
afterAll(() => world.rest.close())

/** Writes as the record says. */
const JOB = bound('onRecordCreate', 'jobs', async (e) => {
  const wanted = JSON.parse(e.record.getString('text')) as {
    readonly within?: boolean
    readonly create?: Written
    readonly update?: Written
    readonly delete?: string
  }
  const run = async (app: typeof e.app): Promise<void> => {
    if (wanted.create !== undefined) await app.save(app.newRecord('posts', { ...wanted.create }))
    const { update } = wanted
    if (update !== undefined) {
      const record = await app.findRecordById('posts', update.id)
      record.set('title', update.title)
      await app.save(record)
    }
    if (wanted.delete !== undefined) await app.delete(await app.findRecordById('posts', wanted.delete))
  }
  await (wanted.within === true ? e.app.runInTransaction(run) : run(e.app))
  await e.next()
})

async function openWorld(options: Parameters<typeof startRest>[0]): Promise<World> {
  const rest = await startRest(options)
  const { records, definitions, settings, hooks } = rest.server.backend
  const ann = { email: 'ann@example.com', password: PASSWORD, passwordConfirm: PASSWORD }
  await records.create(ITSELF, 'users', ann)
  const rule = 'title != "forbidden"'
  const rules = {
    listRule: '',
    viewRule: '',
    createRule: '@request.body.title != "forbidden"',
    updateRule: '@request.body.title != "forbidden"',
  }
  const posts = await definitions.create(SYSTEM, {
    name: 'posts',
    type: 'base',
    ...rules,
    deleteRule: rule,
    fields: [{ name: 'title', type: 'text', required: true, max: 100_000, pattern: '^[^!]*$' }],
    // SQLite makes their keys.
    indexes: [
      "CREATE UNIQUE INDEX one ON posts (lower(title)) WHERE title LIKE 'unique%'",
      "CREATE UNIQUE INDEX json ON posts (json_extract(title, '$')) WHERE title LIKE '{%'",
    ],
  })
  await definitions.create(SYSTEM, {
    name: 'jobs',
    type: 'base',
    fields: [{ name: 'text', type: 'text', max: 200_000 }],
  })
  const post = { type: 'relation', name: 'post', collectionId: posts.id, cascadeDelete: true }
  await definitions.create(SYSTEM, { name: 'comments', type: 'base', fields: [post] })
  await settings.update(SYSTEM, { batch: { enabled: true } })
  hooks.replace([JOB])
  await send(rest.url, 'PUT /plain', undefined, ROOT)
  return { rest, ann: await tokenFor(rest.url, 'users', 'ann@example.com', PASSWORD) }
}

function bound<Name extends keyof HookEvents>(
  name: Name,
  tag: string,
  handler: HookHandler<HookEvents[Name]>,
): BoundHook {
  return { name, handler, tags: [tag], source: 'hooks/test.ts:1' } as BoundHook
}

async function stored({ server }: RestServer, id: string): Promise<Record<string, unknown> | undefined> {
  const { definitions } = server.backend
  return definitions.records(definitions.get('posts')).get(id)
}

let ids = 0
const newId = (): string => `record${String(++ids).padStart(9, '0')}`

type Writing = 'create' | 'update' | 'delete'
/** Each door, with each kind of write that it has. */
const WAYS = Object.entries(DOORS).flatMap(([name, door]) =>
  (['create', 'update', 'delete'] as const).flatMap((kind) =>
    door[kind] === undefined ? [] : [[kind, name, door] as const],
  ),
)

/** What is stored before and after a write. */
async function write(
  kind: Writing,
  door: Door,
  title: string,
  { rest, ...others }: World = world,
): Promise<{ readonly before: unknown; readonly after: unknown; readonly id: string; readonly answer: unknown }> {
  const id = newId()
  const all = { rest, ...others }
  const whole = guard
  guard = {}
  if (kind !== 'create') await rest.server.backend.records.create(ITSELF, 'posts', { id, title: 'before' })
  guard = whole
  const before = (await stored(rest, id))?.['title']
  const answer = await (kind === 'delete' ? door.delete!(all, id) : door[kind]!(all, { id, title }))
  return { before, after: (await stored(rest, id))?.['title'], id, answer }
}

const REFUSED = new ServiceError('FORBIDDEN', 'The guard says no.')

describe.each(WAYS)('%s by %s', (kind, _name, door) => {
  const after = kind === 'delete' ? undefined : 'after'

  test('it is written, and the guard hears of it', async () => {
    const heard: unknown[] = []
    guard = { written: ({ database }, documents) => documents.forEach(({ _id }) => heard.push([database, _id])) }
    const { id, ...written } = await write(kind, door, 'after')
    expect(written).toMatchObject({ after })
    expect(heard).toContainEqual(['posts', id])
  })

  test('a guard refuses it before the transaction', async () => {
    guard = { prepare: ({ documents, database }) => (database === 'posts' ? documents.map(() => REFUSED) : documents) }
    const { before, after: now } = await write(kind, door, 'after')
    expect(now).toBe(before)
  })

  test('a guard refuses it in the transaction, by what is stored and what will be', async () => {
    const seen: unknown[] = []
    guard = {
      decide: ({ database }) =>
        database !== 'posts'
          ? undefined
          : ({ old, document }) => {
              seen.push([old?.['title'], document['_deleted'] === true ? undefined : document['title']])
              return REFUSED
            },
    }
    const { before, after: now } = await write(kind, door, 'after')
    expect(now).toBe(before)
    expect(seen).toContainEqual([before, after])
  })

  if (kind !== 'delete')
    test('a guard changes it, and fields judge what the guard has made', async () => {
      const changing = (title: string): WriteGuard => ({
        prepare: ({ documents, database }) =>
          database === 'posts' ? documents.map((document) => ({ ...document, title })) : documents,
      })
      guard = changing('by the guard')
      expect((await write(kind, door, 'after')).after).toBe('by the guard')
      guard = changing('wrong!')
      const { before, after: now } = await write(kind, door, 'after')
      if (door.takesUnfit !== true) expect(now).toBe(before)
    })

  if (door.isWithoutHooks !== true)
    test('hooks run around it, and can refuse it', async () => {
      const events = { create: 'onRecordCreate', update: 'onRecordUpdate', delete: 'onRecordDelete' } as const
      const seen: string[] = []
      const refusing = bound(events[kind], 'posts', async (e) => {
        seen.push(e.record.id)
        throw REFUSED
      })
      world.rest.server.backend.hooks.replace([JOB, refusing])
      const { id, before, after: now } = await write(kind, door, 'after')
      expect(now).toBe(before)
      expect(seen).toEqual([id])
    })

  if (door.isForSuperusers !== true && kind !== 'delete')
    test('the rule refuses it', async () => {
      const { before, after: now } = await write(kind, door, 'forbidden')
      expect(now).toBe(before)
    })

  if (door.takesUnfit !== true && kind !== 'delete')
    test('a field refuses its value', async () => {
      const { before, after: now } = await write(kind, door, 'wrong!')
      expect(now).toBe(before)
    })
})

test.each(WAYS.filter(([kind]) => kind !== 'delete'))(
  '%s by %s: a unique index on an expression refuses it, also one whose key can not be made',
  async (kind, _name, door) => {
    const { records } = world.rest.server.backend
    const name = newId()
    await records.create(ITSELF, 'posts', { title: `UNIQUE ${name}` })
    const { before, after } = await write(kind, door, `unique ${name}`)
    expect(after).toBe(before)
    const bad = await write(kind, door, '{')
    expect(bad.after).toBe(bad.before)
    expect((await write(kind, door, `unique ${newId()}`)).after).toMatch(/^unique/)
  },
)

test('what a replication brings is refused by a unique index on its own, as forbidden', async () => {
  const name = newId()
  const { records } = world.rest.server.backend
  await records.create(ITSELF, 'posts', { title: `unique ${name}` })
  const titles = [`UNIQUE ${name}`, '{', 'after', `Unique of two ${name}`, `unique of TWO ${name}`]
  const docs = titles.map((title) => ({ _id: newId(), _rev: '1-abc', title }))
  const { json } = await asRoot(world, 'POST /posts/_bulk_docs', { new_edits: false, docs })
  const refused = [0, 1, 4].map((at) => expect.objectContaining({ id: docs[at]!._id, error: 'forbidden' }))
  expect(json).toEqual(refused)
  expect(await Promise.all(docs.map(async ({ _id }) => (await stored(world.rest, _id)) !== undefined))).toEqual(
    titles.map((_, at) => ![0, 1, 4].includes(at)),
  )
})

test('an error of a unique index names its columns, and none of an expression', async () => {
  const { definitions } = world.rest.server.backend
  const indexes = [
    'CREATE UNIQUE INDEX two_a ON two (a, b) WHERE length(a) > 1',
    'CREATE UNIQUE INDEX two_c ON two (lower(c))',
  ]
  const fields = ['a', 'b', 'c'].map((name) => ({ name, type: 'text' }))
  await definitions.create(SYSTEM, { name: 'two', type: 'base', createRule: '', fields, indexes })
  const create = (body: object): Promise<Answer> => world.rest.call('POST /collections/two/records', body)
  await create({ a: 'xx', b: 'y', c: 'Z' })
  const error = { code: 'validation_not_unique', message: 'Value must be unique.' }
  const message = 'Failed to create record.'
  expect((await create({ a: 'xx', b: 'y' })).json).toEqual({ data: { a: error, b: error }, message, status: 400 })
  expect((await create({ a: 'x', b: 'y', c: 'z' })).json).toEqual({ data: {}, message, status: 400 })
})

test('a cascade that makes two keys equal is refused', async () => {
  const { definitions, records } = world.rest.server.backend
  const post = { type: 'relation', name: 'post', collectionId: definitions.get('posts').id }
  const indexes = ["CREATE UNIQUE INDEX loose_one ON loose (coalesce(nullif(post, ''), 'none'))"]
  await definitions.create(SYSTEM, { name: 'loose', type: 'base', fields: [post], indexes })
  const { id } = await records.create(ITSELF, 'posts', { title: 'of two' })
  await records.create(ITSELF, 'loose', { post: id })
  await records.create(ITSELF, 'loose', {})
  const { status, json } = await world.rest.call(`DELETE /collections/posts/records/${String(id)}`)
  expect([status, json['data']]).toEqual([400, {}])
  expect(await stored(world.rest, String(id))).toBeDefined()
})

/** Doors of accounts, with the tag that a limit of the settings has for the write. */
const LIMITED = WAYS.filter(([, , door]) => door.isForSuperusers !== true)

test.each(LIMITED)('%s by %s: a limit in a time refuses it', async (kind, name, door) => {
  const { settings } = world.rest.server.backend
  const label = name === 'an upsert of a batch' ? 'posts:create' : `posts:${kind}`
  const rules = [{ label, audience: '@auth', duration: 600, maxRequests: 1 }]
  await settings.update(SYSTEM, { rateLimits: { enabled: true, rules, excludedIPs: [] } })
  try {
    const first = await write(kind, door, 'after')
    expect(first.after).toBe(kind === 'delete' ? undefined : 'after')
    const { before, after } = await write(kind, door, 'after')
    expect(after).toBe(before)
  } finally {
    await settings.update(SYSTEM, { rateLimits: { enabled: false, rules: [] } })
  }
})

test.each(WAYS.filter(([, , door]) => door.isInside !== true))(
  '%s by %s: the request is in the log',
  async (kind, _name, door) => {
    const { logs } = world.rest.server.backend
    await logs.truncate()
    await write(kind, door, 'after')
    await new Promise((resolve) => setImmediate(resolve))
    await logs.flush()
    const { json } = await world.rest.call('GET /logs?perPage=100')
    const items = json['items'] as readonly { readonly message: string; readonly data: { readonly status: number } }[]
    expect(
      items.filter(({ message, data }) => /^(?:POST|PUT|PATCH|DELETE) /.test(message) && data.status < 300),
    ).not.toEqual([])
  },
)

test.each(WAYS.filter(([kind]) => kind === 'delete'))(
  '%s by %s: a guard refuses what it takes along',
  async (_, _name, door) => {
    const { records } = world.rest.server.backend
    const id = newId()
    await records.create(ITSELF, 'posts', { id, title: 'before' })
    const comment = await records.create(ITSELF, 'comments', { post: id })
    guard = { decide: ({ database }) => (database === 'comments' ? () => REFUSED : undefined) }
    await door.delete!(world, id)
    expect(await stored(world.rest, id)).toBeDefined()
    guard = {}
    await door.delete!(world, id)
    expect(await stored(world.rest, id)).toBeUndefined()
    const { definitions } = world.rest.server.backend
    expect(await definitions.records(definitions.get('comments')).get(String(comment['id']))).toBeUndefined()
  },
)

test('a guard is asked again if the record was changed after it was asked', async () => {
  const { records } = world.rest.server.backend
  const id = newId()
  await records.create(ITSELF, 'posts', { id, title: 'before' })
  const revs: unknown[] = []
  guard = {
    prepare: async ({ documents, database, principal }) => {
      if (database !== 'posts' || principal.isAdmin) return documents
      revs.push(documents[0]!['_rev'])
      if (revs.length === 1) await records.update(ITSELF, 'posts', id, { title: 'between' })
      return documents
    },
  }
  await DOORS['REST']!.update!(world, { id, title: 'after' })
  expect(revs.map((rev) => String(rev).split('-')[0])).toEqual(['1', '2'])
  expect((await stored(world.rest, id))?.['title']).toBe('after')
})

test('a full collection takes no more by any door, and deletes work', async () => {
  const full = await openWorld({ limits: { databaseBytesMax: 300_000 } })
  try {
    const { records } = full.rest.server.backend
    const made: string[] = []
    const fill = async (): Promise<void> => {
      for (let n = 0; n < 100; n++) {
        const { id } = await records.create(ITSELF, 'posts', { title: String(n % 10).repeat(30_000) })
        made.push(String(id))
      }
    }
    expect(await fill().catch((error: unknown) => error)).toMatchObject({ code: 'QUOTA_EXCEEDED' })
    const wrong: string[] = []
    for (const [kind, name, door] of WAYS) {
      if (kind !== 'create') continue
      const { after } = await write(kind, door, 'after', full)
      if (after !== undefined) wrong.push(name)
    }
    expect(wrong).toEqual([])
    expect((await full.rest.call(`DELETE ${RECORDS}/${made[0]!}`)).status).toBe(204)
  } finally {
    await full.rest.close()
  }
})

/** Routes that write documents: each is of a door of the table. */
const WRITING =
  /^(?:(?:POST|PATCH|DELETE) \/api\/collections\/:collection\/records(?:\/:id)?|POST \/api\/(?:batch|sql|sync\/push|imports\/:collection\/(?:rows|records))|POST \/:db(?:\/_bulk_docs)?|(?:PUT|DELETE|COPY) \/:db\/:id(?:\/\*)?|POST \/_replicate)$/
/** Routes that write no record that somebody sends, and why. */
const OTHERS: readonly (readonly [why: string, route: RegExp])[] = [
  ['not offered', /^[A-Z]+ \/:db\/_design\/:ddoc\/_(?:show|list|update|rewrite)(?:\/.*)?$/],
  ['design documents are no records', /^[A-Z]+ \/:db\/_design\/:id(?:\/\*)?$/],
  ['_local documents are no records, and cost room', /^[A-Z]+ \/:db\/_local\//],
  [
    'settings of a database',
    /^[A-Z]+ \/:db(?:\/_(?:revs_limit|security|index.*|compact.*|view_cleanup|pannier\/history))?$/,
  ],
  ['superusers forget revisions', /^POST \/:db\/_(?:purge|ensure_full_commit)$/],
  [
    'reads',
    /^POST \/:db\/_(?:changes|all_docs|design_docs|local_docs|revs_diff|missing_revs|bulk_get|find|explain|temp_view|design\/:ddoc\/_view)(?:\/.*)?$/,
  ],
  ['the server itself', /^[A-Z]+ \/_(?:db_updates|dbs_info|session|node\/.*|pannier\/wait)$/],
  [
    'the server writes of an account what it has asked for',
    /^[A-Z]+ \/api\/collections\/:collection\/(?:auth-|request-|confirm-|impersonate\/|records\/:id\/(?:sessions|passkeys)).*$/,
  ],
  ['definitions', /^[A-Z]+ \/api\/collections(?:\/(?:import|meta\/.*|:collection(?:\/(?:truncate|check|preview))?))?$/],
  [
    'operations and reads',
    /^[A-Z]+ \/api\/(?:settings|oauth2-redirect|tokens|reports|realtime|crons|files|backups|check|logs|sync\/(?:pull|lease)|imports\/(?:check|:collection\/lacking))(?:\/.*)?$/,
  ],
  ['routes of the operator', /^[A-Z]+ \/api(?:\/\*)?$/],
]

test('each route that may write is of a door, or has a reason', async () => {
  const routes: string[] = []
  const plugin = fastifyPlugin(async (app: FastifyInstance) => {
    app.addHook('onRoute', ({ method, url, config }) => {
      // The answers to methods that a URL does not have.
      if (config?.contentTypes?.includes('*') === true) return
      for (const one of [method].flat()) if (!['GET', 'HEAD', 'OPTIONS'].includes(one)) routes.push(`${one} ${url}`)
    })
  })
  const { close } = await startRest({ http: { plugins: [plugin] } })
  await close()
  expect(routes.filter((route) => WRITING.test(route)).length).toBeGreaterThan(10)
  const unknown = routes.filter((route) => !WRITING.test(route) && !OTHERS.some(([, other]) => other.test(route)))
  expect(unknown).toEqual([])
})
