/** Goal: views are read from the model as of the commit that the reader may see, once for all that wait, and again only when it must be. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { SqlRefusal } from '../../src/definitions/views/view-queries.ts'
import type { JsonObject } from '../../src/gateway/documents.ts'
import { GUEST, SYSTEM } from '../../src/gateway/principal.ts'
import { MemberLost, type Member } from '../../src/model/members.ts'
import type { FeedStep, ModelRequest } from '../../src/model/protocol.ts'
import { openTestBackend, type TestBackend } from '../test-backend.ts'
import { inThread } from '../test-model.ts'

let test_: TestBackend
const asked: ModelRequest['kind'][] = []
/** How many queries are not prepared in time. */
let refusals = 0
/** How many turns of the feed find no keeper. */
let losses = 0

/** What the keeper gets of a step. */
let falsify = (step: FeedStep): readonly FeedStep[] => [step]

/** Notes what the model is asked. */
function listening(): Member {
  const member = inThread()
  return {
    ...member,
    get isAlive() {
      return member.isAlive
    },
    ask: (request, options) => {
      asked.push(request.kind)
      if (losses > 0 && request.kind === 'feed') {
        losses--
        return Promise.reject(new MemberLost('It was killed.'))
      }
      if (refusals > 0 && request.kind === 'describe') {
        refusals--
        return Promise.reject(new SqlRefusal('the statements took more than 5000 ms, and were ended'))
      }
      const given = request as ModelRequest
      if (given.kind !== 'feed') return member.ask(request, options)
      return member.ask({ ...given, steps: given.steps.flatMap(falsify) } as unknown as typeof request, options)
    },
  }
}

beforeEach(async () => {
  test_ = await openTestBackend({ modelHome: { start: listening, isFile: false } })
  await made('posts', { title: { type: 'text' }, views: { type: 'number' }, open: { type: 'bool' } })
  asked.length = 0
})
afterEach(() => test_.close())

async function made(
  name: string,
  fields: Readonly<Record<string, object>>,
  indexes: readonly string[] = [],
): Promise<void> {
  const list = Object.entries(fields).map(([field, options]) => ({ name: field, ...options }))
  await test_.backend.definitions.create(SYSTEM, { name, fields: list, indexes })
}

async function view(name: string, viewQuery: string): Promise<void> {
  await test_.backend.definitions.create(SYSTEM, { name, type: 'view', viewQuery })
}

const ITSELF = { principal: SYSTEM, request: { context: 'default', method: 'GET', query: {}, headers: {} } }

async function rows(name: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const { items } = await test_.backend.records.list(ITSELF, name, { perPage: 100 })
  return items.map(({ collectionId: _, collectionName: __, ...item }) => item)
}

function add(name: string, input: JsonObject): Promise<unknown> {
  return test_.backend.records.create(ITSELF, name, input)
}

function times(kind: ModelRequest['kind']): number {
  return asked.filter((one) => one === kind).length
}

test('a view whose query was not prepared in time is prepared again for the next request', async () => {
  await view('all', 'SELECT id, title FROM posts')
  refusals = 1
  await expect(rows('all')).rejects.toMatchObject({ code: 'INVALID' })
  expect(await rows('all')).toEqual([])
})

test('a view shows what was written before it was asked: rows that come, change and go', async () => {
  await view('sums', 'SELECT open AS id, SUM(views) AS n, COUNT(*) AS c FROM posts GROUP BY open')
  expect(await rows('sums')).toEqual([])
  await add('posts', { id: 'one000000000000', views: 2.5 })
  await add('posts', { id: 'two000000000000', views: 3, open: true })
  expect(await rows('sums')).toEqual([
    { id: '0', n: 2.5, c: 1 },
    { id: '1', n: 3, c: 1 },
  ])
  await test_.backend.records.update(ITSELF, 'posts', 'one000000000000', { open: true })
  expect(await rows('sums')).toEqual([{ id: '1', n: 5.5, c: 2 }])
  await test_.backend.records.delete(ITSELF, 'posts', 'two000000000000')
  expect(await rows('sums')).toEqual([{ id: '1', n: 2.5, c: 1 }])
  await test_.backend.definitions.truncate(SYSTEM, 'posts')
  expect(await rows('sums')).toEqual([])
})

test('rows come in the order of creation, however often they were written', async () => {
  await view('all', 'SELECT id, title FROM posts')
  for (const id of ['ccc000000000000', 'aaa000000000000', 'bbb000000000000']) await add('posts', { id })
  await test_.backend.records.update(ITSELF, 'posts', 'ccc000000000000', { title: 'last' })
  const ids = async (): Promise<unknown> => (await rows('all')).map(({ id }) => String(id).charAt(0))
  expect(await ids()).toEqual(['c', 'a', 'b'])
  await test_.backend.records.update(ITSELF, 'posts', 'aaa000000000000', { title: 'now' })
  expect(await ids()).toEqual(['c', 'a', 'b'])
})

test('those who ask at the same time wait for one run, and a write to other columns keeps its rows', async () => {
  await view('titles', 'SELECT id, title FROM posts')
  await view('days', "SELECT id, date('now') AS day FROM posts")
  await add('posts', { id: 'one000000000000', title: 'one' })
  await Promise.all([rows('titles'), rows('titles'), rows('titles')])
  expect(times('rows')).toBe(3) // two samples
  await test_.backend.records.update(ITSELF, 'posts', 'one000000000000', { views: 7 })
  expect(await rows('titles')).toEqual([{ id: 'one000000000000', title: 'one' }])
  expect(times('rows')).toBe(3)
  await test_.backend.records.update(ITSELF, 'posts', 'one000000000000', { title: 'two' })
  expect(await rows('titles')).toEqual([{ id: 'one000000000000', title: 'two' }])
  expect(times('rows')).toBe(4)
  await rows('days')
  await rows('days')
  expect(times('rows')).toBe(6)
})

test('tables follow fields and names, when two swap them too', async () => {
  await made('notes', { title: { type: 'text' } })
  await add('posts', { id: 'post00000000000', title: 'a post', views: 1 })
  await add('notes', { id: 'note00000000000', title: 'a note' })
  await view('titles', 'SELECT id, title FROM posts')
  await view('others', 'SELECT id, title FROM notes')
  expect(await rows('titles')).toMatchObject([{ title: 'a post' }])
  const { definitions } = test_.backend
  await definitions.update(SYSTEM, 'posts', { name: 'spare' })
  await definitions.update(SYSTEM, 'notes', { name: 'posts' })
  await definitions.update(SYSTEM, 'spare', { name: 'notes' })
  expect(await rows('titles')).toMatchObject([{ title: 'a note' }])
  expect(await rows('others')).toMatchObject([{ title: 'a post' }])
  const { fields } = definitions.get('notes')
  const renamed = fields.map((field) => (field.name === 'views' ? { ...field, name: 'seen' } : field))
  await definitions.update(SYSTEM, 'notes', { fields: renamed })
  await definitions.update(SYSTEM, 'others', { viewQuery: 'SELECT id, seen FROM notes' })
  expect(await rows('others')).toEqual([{ id: 'post00000000000', seen: 1 }])
})

test('figures have the size of the model, how long the oldest change waits, and how many processes were lost', async () => {
  const { backend, environment } = test_
  expect(backend.modelFigures()).toEqual({ bytes: 0, lagMs: 0, ended: 0 })
  await view('titles', 'SELECT id, title FROM posts')
  await rows('titles')
  expect(backend.modelFigures()).toEqual({ bytes: expect.any(Number), lagMs: 0, ended: 0 })
  expect(backend.modelFigures().bytes).toBeGreaterThan(0)
  await add('posts', { title: 'one' })
  await environment.advance(50)
  expect(backend.modelFigures().lagMs).toBe(50)
  await environment.advance(60)
  expect(backend.modelFigures().lagMs).toBe(0)
  losses = 1
  await add('posts', { title: 'two' })
  expect(await rows('titles')).toHaveLength(2)
  expect(backend.modelFigures().ended).toBe(1)
})

test('a view of a view is computed of what the other one shows, and its ids are texts', async () => {
  await view('numbered', 'SELECT (ROW_NUMBER() OVER (ORDER BY title)) AS id, title FROM posts')
  await view('first', "SELECT id, (typeof(id)) AS kind, title FROM numbered WHERE id = '1'")
  await add('posts', { title: 'b' })
  await add('posts', { title: 'a' })
  expect(await rows('first')).toEqual([{ id: '1', kind: 'text', title: 'a' }])
})

test.each([
  ['SELECT name AS id FROM sqlite_schema', 'prohibited'],
  ['SELECT name AS id FROM pragma_table_info(1)', 'prohibited'],
  ["SELECT load_extension('x') AS id FROM posts", 'unsafe use of load_extension'],
  ["SELECT fts3_tokenizer('simple') AS id FROM posts", 'unsafe use of fts3_tokenizer'],
  ['SELECT id FROM "$model".posts', 'cannot reference objects in database'],
  ['DELETE FROM posts', 'syntax error'],
  ['SELECT id FROM posts; DELETE FROM posts', 'multiple statements'],
  ['SELECT 1 AS id) ; DROP TABLE posts; --', 'multiple statements'],
])('a view may not be %s', async (viewQuery, reason) => {
  const refused = test_.backend.definitions.create(SYSTEM, { name: 'wrong', type: 'view', viewQuery })
  const error = await refused.then(
    () => undefined,
    (reason_: { readonly data: object }) => JSON.stringify(reason_.data),
  )
  expect(error).toContain(reason)
})

test('a hidden field is hidden in what is computed of it, through other queries too', async () => {
  const { definitions } = test_.backend
  const secret = { name: 'secret', type: 'text', hidden: true }
  await definitions.update(SYSTEM, 'posts', { fields: [...definitions.get('posts').fields, secret] })
  const hidden = async (viewQuery: string): Promise<unknown> => {
    const { fields } = await definitions.create(SYSTEM, { name: 'seen', type: 'view', viewQuery })
    await definitions.delete(SYSTEM, 'seen')
    return fields.filter((field) => field.hidden).map(({ name }) => name)
  }
  expect(await hidden('SELECT id, secret, upper(secret) AS u, upper(title) AS t FROM posts')).toEqual(['secret', 'u'])
  expect(await hidden("SELECT id, title FROM posts WHERE secret = 'x'")).toEqual([])
  const other = 'JOIN (SELECT id AS i, secret AS title FROM posts) q ON q.i = posts.id'
  expect(await hidden(`SELECT posts.id, q.title FROM posts ${other}`)).toEqual(['title'])
  // A query that has the name of a collection.
  await made('notes', { title: { type: 'text' } })
  const named = 'WITH notes AS (SELECT id, secret AS title FROM posts) SELECT notes.id, notes.title FROM notes'
  expect(await hidden(named)).toEqual(['title'])
  for (const viewQuery of ['SELECT secret AS id FROM posts', 'SELECT q.id FROM (SELECT secret AS id FROM posts) q']) {
    const refused = definitions.create(SYSTEM, { name: 'seen', type: 'view', viewQuery })
    await expect(refused).rejects.toMatchObject({ code: 'INVALID' })
  }
})

test('a model that nobody asks ends, and is made again: for lists, and for the rule of a write', async () => {
  const { backend, environment } = test_
  await view('titles', 'SELECT id, title FROM posts')
  await made('notes', { title: { type: 'text' } })
  await backend.definitions.update(SYSTEM, 'notes', { createRule: '@collection.titles.title ?= @request.body.title' })
  const guest = { principal: GUEST, request: { ...ITSELF.request, method: 'POST' } }
  const note = (title: string): Promise<unknown> => backend.records.create(guest, 'notes', { title })
  await add('posts', { title: 'one' })
  await note('one')
  await environment.advance(10 * 60_000)
  for (let count = 0; count < 300; count++) await add('posts', { title: `post ${count}` })
  await expect(note('nobody wrote it')).rejects.toMatchObject({ code: 'INVALID' })
  await note('post 299')
  await environment.advance(10 * 60_000)
  await backend.records.create(ITSELF, 'posts', { title: 'two' })
  expect(await rows('titles')).toHaveLength(100)
  expect(times('open')).toBe(3)
})

test('indexes of all forms are in the model, and SQLite is asked once about each that the library does not make', async () => {
  const { definitions, sql } = test_.backend
  const indexes = [
    "CREATE UNIQUE INDEX one ON posts (lower(title)) WHERE title != ''",
    'CREATE INDEX two ON posts (views DESC, title COLLATE NOCASE)',
    'CREATE INDEX three ON posts (views)',
  ]
  await definitions.update(SYSTEM, 'posts', { indexes: indexes.slice(2) })
  expect(times('indexes')).toBe(0)
  await definitions.update(SYSTEM, 'posts', { indexes })
  await definitions.update(SYSTEM, 'posts', { listRule: '' })
  expect(times('indexes')).toBe(1)
  const { rows: listed } = await sql.run(SYSTEM, 'PRAGMA index_list(posts)')
  expect(listed.map((row) => String(row[1])).toSorted()).toEqual(['one', 'sqlite_autoindex_posts_1', 'three', 'two'])
  await definitions.update(SYSTEM, 'posts', { indexes: indexes.slice(0, 1) })
  expect(times('indexes')).toBe(1)
})

test('a collection may have the name of an index', async () => {
  await made('tags', {}, ['CREATE INDEX notes ON tags (id)'])
  await made('notes', {})
  await view('all', 'SELECT t.id FROM tags t LEFT JOIN notes n ON n.id = t.id')
  await add('tags', { id: 'one000000000000' })
  expect(await rows('all')).toEqual([{ id: 'one000000000000' }])
})

test('the check of the server compares the model with the records, while these change', async () => {
  const { backend, environment } = test_
  const idOf = (n: number): string => `post${String(n).padStart(11, '0')}`
  const problems = async (): Promise<readonly object[]> => {
    backend.check.start(SYSTEM)
    await environment.until(() => !backend.check.show(SYSTEM).running)
    expect(backend.check.show(SYSTEM).error).toBe('')
    return backend.check.show(SYSTEM).problems
  }
  expect(await problems()).toEqual([])
  expect(asked).toEqual([])
  for (let n = 0; n < 700; n++) await backend.records.create(ITSELF, 'posts', { id: idOf(n), views: n })
  await view('sums', 'SELECT p.id, p.views FROM posts p')
  const checked = problems()
  for (let n = 0; n < 50; n++) {
    await backend.records.update(ITSELF, 'posts', idOf(n * 13), { views: -n })
    if (n % 5 === 0) await backend.records.delete(ITSELF, 'posts', idOf(n * 13 + 1))
  }
  expect(await checked).toEqual([])
  await rows('sums')
  falsify = (step) => {
    if (step.kind === 'rows') return [{ ...step, rows: step.rows.map((row) => [row[0], ...row.slice(1, -1), 7]) }]
    return step.kind === 'gone' ? [] : [step]
  }
  await backend.records.update(ITSELF, 'posts', idOf(3), { views: 1 })
  await backend.records.delete(ITSELF, 'posts', idOf(4))
  await backend.records.list(ITSELF, 'sums', {})
  falsify = (step) => [step]
  expect(await problems()).toMatchObject([
    { code: 'MODEL_DIFFERS', where: 'collection "posts"', message: expect.stringContaining('2 rows') },
  ])
})

test('statements inside a transaction see what it has written, and are undone with it', async () => {
  const { app, sql } = test_.backend
  const titles = async (within?: typeof app): Promise<string> => {
    const { rows } = await sql.run(
      SYSTEM,
      'SELECT group_concat(title) FROM (SELECT title FROM posts WHERE views < 9 ORDER BY title)',
      {
        ...(within && { app: within }),
      },
    )
    return String(rows[0]![0])
  }
  for (const title of ['a', 'b', 'c']) await app.save(app.newRecord('posts', { title }))
  const b = await app.findFirstRecordByData('posts', 'title', 'b')
  const work = async (tx: typeof app): Promise<void> => {
    await tx.delete(b)
    // More than one read of the library has.
    for (let n = 0; n < 300; n++) await tx.save(tx.newRecord('posts', { title: 'n', views: 9 }))
    await tx.save(tx.newRecord('posts', { title: 'd' }))
    expect(await titles(tx)).toBe('a,c,d')
    expect((await sql.run(SYSTEM, 'SELECT count(*) FROM posts', { app: tx })).rows).toEqual([['303']])
    const updated = await sql.run(SYSTEM, "UPDATE posts SET title = 'D' WHERE title IN ('a', 'd')", { app: tx })
    expect([updated.affectedRows, await titles(tx)]).toEqual([2, 'D,D,c'])
    await sql.run(SYSTEM, "DELETE FROM posts WHERE title = 'n' OR title = 'c'", { app: tx })
    expect(await titles(tx)).toBe('D,D')
    expect(await tx.findRecordsByIds('posts', [b.id])).toEqual([])
  }
  await expect(
    app.runInTransaction(async (tx) => {
      await work(tx)
      throw new RangeError('undone')
    }),
  ).rejects.toThrow('undone')
  expect(await titles()).toBe('a,b,c')
  let ended: typeof app | undefined
  await app.runInTransaction((tx) => work((ended = tx)))
  expect([await titles(), await titles(ended)]).toEqual(['D,D', 'D,D'])
})

test('a statement that is refused when its rows are written ends the transaction, also if the error is caught', async () => {
  const { app, sql, definitions } = test_.backend
  await definitions.update(SYSTEM, 'posts', { indexes: ['CREATE UNIQUE INDEX `one` ON `posts` (`title`)'] })
  await app.save(app.newRecord('posts', { title: 'a' }))
  const ended = app.runInTransaction(async (tx) => {
    await tx.save(tx.newRecord('posts', { title: 'b' }))
    await expect(sql.run(SYSTEM, 'SELECT nothing FROM posts', { app: tx })).rejects.toMatchObject({ code: 'INVALID' })
    await expect(sql.run(SYSTEM, "UPDATE posts SET title = 'z'", { app: tx })).rejects.toMatchObject({
      code: 'INVALID',
    })
  })
  await expect(ended).rejects.toThrow('Failed to update the record')
  expect((await sql.run(SYSTEM, 'SELECT title FROM posts ORDER BY title')).rows).toEqual([['a']])
})
