/** Goal: rows that are kept by their ids are those that the view has, after any change; and only views of the right form have them. */
import { expect, test } from 'vitest'
import { seededRandom } from '../../../db/testing/random.ts'
import { Engine } from '../../src/model/engine.ts'
import { keptPlan } from '../../src/model/kept-plan.ts'
import type { FeedStep, ModelAnswers, ModelReply, ModelRequest, ModelTable, Row } from '../../src/model/protocol.ts'
import { GUEST, SYSTEM } from '../../src/gateway/principal.ts'
import type { Member } from '../../src/model/members.ts'
import { openTestBackend, type TestBackend } from '../test-backend.ts'
import { inThread } from '../test-model.ts'
import { times } from '../../../../tools/test/seeds.ts'

const TEXT = "TEXT DEFAULT '' NOT NULL"
const ID = { name: 'id', declaration: 'TEXT PRIMARY KEY NOT NULL' }
const users: ModelTable = {
  name: 'users',
  columns: [{ name: 'city', declaration: TEXT }, ID, { name: 'name', declaration: TEXT }],
  indexes: ['CREATE INDEX "$model".uc ON users (city)'],
}
const posts: ModelTable = {
  name: 'posts',
  columns: [{ name: 'author', declaration: TEXT }, ID, { name: 'views', declaration: 'NUMERIC DEFAULT 0 NOT NULL' }],
  indexes: ['CREATE INDEX "$model".pa ON posts (author)'],
}
const comments: ModelTable = {
  name: 'comments',
  columns: [ID, { name: 'post', declaration: TEXT }, { name: 'score', declaration: 'NUMERIC DEFAULT 0 NOT NULL' }],
  indexes: ['CREATE INDEX "$model".cp ON comments (post)'],
}
const TABLES = [users, posts, comments]

const KEPT = [
  'SELECT p.author AS id, COUNT(*) AS n, MAX(p.views) AS top FROM posts p GROUP BY p.author',
  'SELECT u.id, u.name, SUM(p.views) AS views FROM users u JOIN posts p ON p.author = u.id GROUP BY u.id',
  `SELECT u.id AS id, u.name AS name, COUNT(p.id) AS posts, SUM(c.score) AS score FROM posts p
    JOIN users u ON u.id = p.author LEFT JOIN comments c ON c.post = p.id WHERE p.views > 1 GROUP BY u.id`,
  `SELECT u.id, 100.0 * SUM(p.views) / COUNT(p.id) AS mean FROM users u LEFT JOIN posts p ON p.author = u.id
    WHERE p.id IS NULL OR p.views < 4 GROUP BY u.id`,
  `SELECT p.author id, COUNT(c.id) AS n FROM posts p
    LEFT JOIN comments c ON c.post = p.id GROUP BY p.author HAVING COUNT(c.id) > 0`,
  "SELECT p.author AS id, COUNT(*) AS n FROM posts p WHERE p.author IN ('u1', 'u2', 'u3') GROUP BY p.author",
  "SELECT u.id, CASE WHEN COUNT(p.id) > 2 THEN 'many, and more' ELSE u.city END AS kind FROM users u, posts p WHERE p.author = u.id GROUP BY u.id",
]
const NOT_KEPT = [
  'SELECT id, title FROM posts',
  'SELECT p.author AS id, p.views FROM posts p GROUP BY p.author',
  'SELECT p.author AS id, views FROM posts p GROUP BY p.author',
  'SELECT p.author AS id, COUNT(*) AS n FROM posts p GROUP BY p.author, p.views',
  'SELECT p.author AS id, COUNT(*) AS n FROM posts p GROUP BY p.author ORDER BY n',
  'SELECT p.author AS id, COUNT(*) AS n FROM posts p GROUP BY p.author LIMIT 3',
  'SELECT p.author AS id, COUNT(DISTINCT p.views) AS n FROM posts p GROUP BY p.author',
  'SELECT p.author AS id, group_concat(p.views) AS n FROM posts p GROUP BY p.author',
  'SELECT p.author AS id, MAX(1, COUNT(*)) AS n FROM posts p GROUP BY p.author',
  'SELECT p.views AS id, COUNT(*) AS n FROM posts p GROUP BY p.views',
  'SELECT p.author AS id, COUNT(*) AS n FROM posts p GROUP BY p.author UNION SELECT u.id, 0 FROM users u',
  'SELECT p.author AS id, (SELECT COUNT(*) FROM users) AS n FROM posts p GROUP BY p.author',
  'SELECT p.author AS id, COUNT(*) AS n FROM posts p JOIN json_each(p.views) j GROUP BY p.author',
  'SELECT u.id, COUNT(*) AS n FROM posts p RIGHT JOIN users u ON u.id = p.author GROUP BY u.id',
  'SELECT s.id, COUNT(*) AS n FROM sums s GROUP BY s.id',
  'SELECT p.author AS id, COUNT(*) AS n FROM posts p WHERE p.author NOT IN users GROUP BY p.author',
  'SELECT p.author AS id, COUNT(*) AS n FROM posts p WHERE p.author IN"users" GROUP BY p.author',
  'WITH p AS (SELECT * FROM posts) SELECT p.author AS id, COUNT(*) AS n FROM p GROUP BY p.author',
]

test.for(KEPT)('rows are kept of %s', (query) => {
  expect(keptPlan({ name: 'v', query }, TABLES)).toBeDefined()
})

test.for(NOT_KEPT)('rows are not kept of %s', (query) => {
  expect(keptPlan({ name: 'v', query }, TABLES)).toBeUndefined()
})

/** A keeper that has the views. */
class Keeper {
  readonly #engine = new Engine()
  readonly views = KEPT.map((query, at) => keptPlan({ name: `v${at}`, query }, TABLES)!)

  constructor() {
    this.ask({ kind: 'open', role: 'keeper', file: undefined })
  }

  ask<K extends ModelRequest['kind']>(
    request: Extract<ModelRequest, { kind: K }>,
  ): { answer: ModelAnswers[K]; rows: unknown[] } {
    const replies: ModelReply[] = []
    this.#engine.handle(request, (reply) => replies.push(reply))
    const last = replies.pop()!
    if ('error' in last) throw new Error(last.error)
    if ('rows' in last) throw new Error('There is no answer.')
    return {
      answer: last.answer as ModelAnswers[K],
      rows: replies.flatMap((reply) => ('rows' in reply ? reply.rows : [])),
    }
  }

  feed(steps: readonly FeedStep[]): ModelAnswers['feed'] {
    return this.ask({ kind: 'feed', steps, isLast: true }).answer
  }

  kept(view: string): readonly unknown[] {
    return this.ask({ kind: 'page', view, order: [], skip: 0, limit: 1000, withTotal: true }).answer.rows
  }

  anew(name: string, query: string): readonly unknown[] {
    const from = { name, query }
    const { rows } = this.ask({ kind: 'rows', from, views: [], names: [name, 'users', 'posts', 'comments'] })
    return rows.toSorted(byId)
  }
}

function byId(one: unknown, other: unknown): number {
  const [left, right] = [one, other].map((row) => (row as readonly (string | null)[])[0] ?? '')
  return left! < right! ? -1 : 1
}

test('after each of random changes they are as the view is', () => {
  const random = seededRandom(1)
  const keeper = new Keeper()
  const whole = (n: number): number => Math.floor(random.next() * n)
  const id = (letter: string, n: number): string => `${letter}${n}`
  const rowOf: Readonly<Record<string, (n: number) => Row>> = {
    users: (n) => [`city ${whole(3)}`, id('u', n), `name ${whole(3)}`],
    posts: (n) => [whole(8) === 0 ? '' : id('u', whole(8)), id('p', n), whole(6)],
    comments: (n) => [id('c', n), id('p', whole(14)), whole(5)],
  }
  keeper.feed(TABLES.map((table) => ({ kind: 'table', table })))
  const { kept } = keeper.feed(keeper.views.map((view) => ({ kind: 'keep', view })))
  expect(kept).toHaveLength(KEPT.length)
  for (let turn = 0; turn < times(150); turn++) {
    const steps = Array.from({ length: 1 + whole(3) }, (): FeedStep => {
      const { name } = TABLES[whole(3)]!
      const number = 1 + whole(name === 'users' ? 8 : 14)
      if (whole(4) === 0) return { kind: 'gone', table: name, numbers: [number] }
      return { kind: 'rows', table: name, rows: [[number, ...rowOf[name]!(number)]] }
    })
    keeper.feed(steps)
    for (const { name, query } of keeper.views)
      expect(keeper.kept(name), `${query}\n${JSON.stringify(steps)}`).toEqual(keeper.anew(name, query))
  }
})

test('all rows are made again after many changes in one transaction', () => {
  const keeper = new Keeper()
  keeper.feed(TABLES.map((table) => ({ kind: 'table', table })))
  keeper.feed(keeper.views.map((view) => ({ kind: 'keep', view })))
  for (const views of [1, 2]) {
    const people = Array.from({ length: 400 }, (_, at) => [at + 1, 'city', `u${at}`, `name ${at}`] as const)
    const rows = Array.from({ length: 1500 }, (_, at) => [at + 1, `u${at % 400}`, `p${at}`, views] as const)
    keeper.feed([
      { kind: 'rows', table: 'users', rows: people },
      { kind: 'rows', table: 'posts', rows },
    ])
    for (const { name, query } of keeper.views)
      expect(keeper.kept(name), query).toEqual(keeper.anew(name, query).slice(0, 1000))
  }
})

test('pages are in the order that is asked, with an index for it and without one', () => {
  const keeper = new Keeper()
  keeper.feed(TABLES.map((table) => ({ kind: 'table', table })))
  const rows = Array.from({ length: 300 }, (_, at) => [at + 1, `u${(at * 7) % 90}`, `p${at}`, (at * 13) % 31] as const)
  keeper.feed([{ kind: 'rows', table: 'posts', rows }])
  keeper.feed([{ kind: 'keep', view: keeper.views[0]! }])
  const orders = ['top', 'n', 'id'].flatMap((name) =>
    (['number', 'json', 'text'] as const).flatMap((kind) =>
      [true, false].map((descending) => [{ name, kind, descending }]),
    ),
  )
  for (const order of orders) {
    const asked = { kind: 'page', view: 'v0', order, skip: 10, limit: 30, withTotal: false } as const
    const sorted = keeper.ask(asked).answer
    keeper.feed([{ kind: 'order', view: 'v0', order }])
    expect(keeper.ask(asked).answer).toEqual(sorted)
    keeper.feed([{ kind: 'rows', table: 'posts', rows: [[1, 'u1', 'p0', orders.indexOf(order)]] }])
  }
})

test('a view is not kept where one row needs a whole table, or when a table is made again', () => {
  const keeper = new Keeper()
  const bare = { ...posts, indexes: [] }
  keeper.feed([users, bare, comments].map((table) => ({ kind: 'table', table })))
  const [view] = keeper.views
  const keep: FeedStep = { kind: 'keep', view: view! }
  expect(keeper.feed([keep]).kept).toHaveLength(1)
  const query = 'SELECT p.author id, COUNT(*) AS n FROM users u LEFT JOIN posts p ON p.author = u.id GROUP BY p.author'
  expect(keeper.feed([{ kind: 'keep', view: keptPlan({ name: 'ids', query }, TABLES)! }]).kept).toHaveLength(1)
  keeper.feed([
    { kind: 'drop', table: 'posts' },
    { kind: 'table', table: posts },
  ])
  expect(keeper.feed([keep]).kept).toHaveLength(1)
  expect(keeper.feed([{ kind: 'table', table: { ...comments, name: 'others', indexes: [] } }]).kept).toEqual([])
  expect(() => keeper.kept('v0')).toThrow('no such table')
})

/** A backend with a view `totals` of sales, and how often a page of kept rows was read. `readMs`: what a read of all rows takes. */
async function openTotals(readMs: number): Promise<TestBackend & { readonly pages: () => number }> {
  let pages = 0
  const start = (): Member => {
    const member = inThread()
    return {
      ...member,
      ask: async (request, options) => {
        if (request.kind === 'page') pages++
        if (request.kind === 'rows') await opened.environment.advance(readMs)
        return member.ask(request, options)
      },
    }
  }
  const opened = await openTestBackend({ modelHome: { start, isFile: false } })
  await opened.backend.definitions.create(SYSTEM, {
    name: 'sales',
    fields: [
      { name: 'who', type: 'text' },
      { name: 'sum', type: 'number' },
    ],
    indexes: ['CREATE INDEX by_who ON sales (who)'],
  })
  const viewQuery = 'SELECT s.who AS id, SUM(s.sum) AS total, COUNT(*) AS n FROM sales s GROUP BY s.who'
  await opened.backend.definitions.create(SYSTEM, { name: 'totals', type: 'view', viewQuery, listRule: '' })
  return { ...opened, pages: () => pages }
}

const ITSELF = { principal: SYSTEM, request: { context: 'default', method: 'GET', query: {}, headers: {} } }
const SOMEBODY = { ...ITSELF, principal: GUEST }

test('lists of a view that is read while records change have its kept rows: page by page, sorted, with totals', async () => {
  const { backend, close, pages } = await openTotals(0)
  const { records } = backend
  const expected = new Map<string, { total: number; n: number }>()
  for (let at = 0; at < 60; at++) {
    const [who, sum] = [`w${at % 7}`, (at * 13) % 11]
    await records.create(ITSELF, 'sales', { who, sum })
    const { total, n } = expected.get(who) ?? { total: 0, n: 0 }
    expected.set(who, { total: total + sum, n: n + 1 })
    const all = Array.from(expected, ([key, values]) => ({ id: key, ...values }))
    const sorted = all.toSorted((one, other) => other.total - one.total || (one.id < other.id ? -1 : 1))
    const actor = at % 2 === 0 ? ITSELF : SOMEBODY
    const { items, totalItems } = await records.list(actor, 'totals', { sort: '-total', perPage: 2, page: 2 })
    expect(items).toMatchObject(sorted.slice(2, 4))
    expect(totalItems).toBe(all.length)
    expect((await records.list(actor, 'totals', { filter: 'n > 3', sort: 'id' })).items).toMatchObject(
      all.filter(({ n: count }) => count > 3).toSorted((one, other) => (one.id < other.id ? -1 : 1)),
    )
  }
  // The first reads are whole.
  expect(pages()).toBeGreaterThan(50)
  await close()
})

test('rows of a view that takes long to read are not kept', async () => {
  const { backend, close, pages } = await openTotals(6000)
  for (let at = 0; at < 12; at++) {
    await backend.records.create(ITSELF, 'sales', { who: `w${at}`, sum: at })
    expect((await backend.records.list(ITSELF, 'totals', {})).totalItems).toBe(at + 1)
  }
  expect(pages()).toBe(0)
  await close()
})
