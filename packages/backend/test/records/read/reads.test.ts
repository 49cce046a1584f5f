import { environmentOf } from 'pannier/internal'
import { beforeAll, afterAll, describe, expect, test } from 'vitest'
import { ruleRecords } from '../../../src/access/rule-records.ts'
import { recordsName } from '../../../src/definitions/definition.ts'
import type { ListOptions } from '../../../src/records/record-types.ts'
import { actorOf, makeWorld, type World } from './read-world.ts'
import { accessOf } from '../world.ts'

const text = (name: string): object => ({ name, type: 'text' })
const relation = (name: string, to: string, maxSelect = 1, hidden = false): object => ({
  name,
  type: 'relation',
  collectionId: to,
  maxSelect,
  hidden,
})
const collection = (id: string, fields: object[], options: object = {}): object => ({
  id,
  name: id,
  type: 'base',
  listRule: '',
  viewRule: '',
  fields,
  ...options,
})

const SCORES = [text('name'), relation('author', 'authors'), { name: 'n', type: 'number' }]
const DEFINITIONS = [
  collection('authors', [text('name'), { name: 'score', type: 'number' }]),
  collection('posts', [text('title'), relation('author', 'authors'), relation('secret', 'authors', 1, true)]),
  collection('scores', SCORES),
  collection('stats', [text('id'), ...SCORES], { type: 'view', viewQuery: 'SELECT id, name, author, n FROM scores' }),
  collection('ruled', [text('title')], { listRule: "@collection.stats.name ?= title || title = 'x'" }),
  collection('indexed', [text('title')], { indexes: ['CREATE INDEX by_title ON indexed (title)'] }),
  collection('broken', [text('title')], { listRule: "nope = 'a'", viewRule: "nope = 'a'" }),
]
const RECORDS = {
  authors: [
    { id: 'a', name: 'Ann', score: 3 },
    { id: 'b', name: 'Bob', score: -1 },
  ],
  posts: [
    { id: 'p3', title: 'three', author: 'a', secret: 'b' },
    { id: 'p1', title: 'one', author: 'b' },
    { id: 'p2', title: 'two', author: 'gone' },
  ],
  ruled: ['x', 'one', 'two'].map((title, at) => ({ id: `r${at}`, title })),
  indexed: ['a', 'b', 'a', 'b', 'c'].map((title, at) => ({ id: `${title}${at}`, title })),
  broken: [{ id: 'k', title: 'a' }],
  scores: [
    { id: 's1', name: 'one', author: 'b', n: 2 },
    { id: 's2', name: 'four', author: 'a', n: 10 },
    { id: 's3', name: 'one', author: 'a', n: -1 },
  ],
}
const GUEST = actorOf('guest')
const SUPER = actorOf('super')

let world: World
beforeAll(async () => {
  world = await makeWorld(DEFINITIONS, RECORDS)
})
afterAll(() => world[Symbol.asyncDispose]())

async function ids(name: string, options: ListOptions = {}, actor = GUEST): Promise<unknown[]> {
  const { items, totalItems } = await world.reads.list(actor, name, options)
  expect(totalItems).toBe(items.length)
  return items.map((item) => item['id'])
}

describe('a view', () => {
  test('is listed as its rows come', async () => {
    expect(await ids('stats')).toEqual(['s1', 's2', 's3'])
  })

  test('is filtered and sorted', async () => {
    expect(await ids('stats', { sort: '-n' })).toEqual(['s2', 's1', 's3'])
    expect(await ids('stats', { sort: 'name,author.score' })).toEqual(['s2', 's1', 's3'])
    expect(await ids('stats', { filter: "author.name = 'Ann' && n > 0" })).toEqual(['s2'])
  })

  test('of thousands of rows is sorted as a whole: any page, with cursors', async () => {
    const numbers = (n: number): string =>
      `WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < ${n}) SELECT i AS id, (i * 37) % 101 AS n FROM c`
    await using large = await makeWorld(
      [collection('rows', [text('id'), { name: 'n', type: 'number' }], { type: 'view', viewQuery: numbers(3500) })],
      {},
    )
    const sorted = Array.from({ length: 3500 }, (_, at) => at + 1).toSorted(
      (a, b) => ((b * 37) % 101) - ((a * 37) % 101),
    )
    const idsOf = ({ items }: { items: readonly { id?: unknown }[] }): readonly number[] =>
      items.map(({ id }) => Number(id))
    for (const page of [1, 3, 7])
      expect(idsOf(await large.reads.list(GUEST, 'rows', { sort: '-n', perPage: 500, page }))).toEqual(
        sorted.slice((page - 1) * 500, page * 500),
      )
    const behind: number[] = []
    for (let after: string | null | undefined = ''; typeof after === 'string';) {
      const page = await large.reads.list(GUEST, 'rows', { sort: '-n', perPage: 700, after })
      behind.push(...idsOf(page))
      after = page.nextCursor
    }
    expect(new Set(behind)).toEqual(new Set(sorted))
    expect(behind.map((id) => (id * 37) % 101)).toEqual(sorted.map((id) => (id * 37) % 101))
  })

  test('has no order of creation', async () => {
    await expect(ids('stats', { sort: '@rowid' })).rejects.toMatchObject({ code: 'INVALID' })
  })

  test('that no longer fits its collections is INVALID', async () => {
    await using changed = await makeWorld(DEFINITIONS, RECORDS)
    changed.definitions.change('stats', { viewQuery: 'SELECT id, nope FROM scores' })
    await expect(changed.reads.list(GUEST, 'stats')).rejects.toMatchObject({ code: 'INVALID' })
  })

  test('is viewed by id', async () => {
    const record = await world.reads.view(GUEST, 'stats', 's2', { expand: 'author' })
    expect(record).toMatchObject({ id: 's2', collectionName: 'stats', n: 10, expand: { author: { name: 'Ann' } } })
    await expect(world.reads.view(GUEST, 'stats', 's9')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  test('is expanded by a back-relation', async () => {
    const { items } = await world.reads.list(GUEST, 'authors', {
      expand: 'stats_via_author',
      fields: 'expand.stats_via_author.id',
    })
    expect(items).toEqual([
      { expand: { stats_via_author: [{ id: 's2' }, { id: 's3' }] } },
      { expand: { stats_via_author: [{ id: 's1' }] } },
    ])
  })

  test('is read by rules, filters and sorts of others', async () => {
    expect(await ids('ruled')).toEqual(['r0', 'r1'])
    expect(await ids('authors', { filter: 'stats_via_author.n ?> 5' })).toEqual(['a'])
    expect(await ids('authors', { sort: 'stats_via_author.n' })).toEqual(['a', 'b'])
  })
})

describe('a sort by an index', () => {
  test('from its end has ties from the newest on, as PocketBase reads the index', async () => {
    expect(await ids('indexed', { sort: 'title' })).toEqual(['a0', 'a2', 'b1', 'b3', 'c4'])
    expect(await ids('indexed', { sort: '-title' })).toEqual(['c4', 'b3', 'b1', 'a2', 'a0'])
    expect(await ids('indexed', { sort: '-title', filter: "title != 'b'" })).toEqual(['c4', 'a2', 'a0'])
    expect(await ids('scores', { sort: '-name' })).toEqual(['s1', 's3', 's2'])
  })

  test('reads no more than the page', async () => {
    const { database, definitions, reads } = world
    await database.collection(recordsName(definitions.find('indexed')!), { indexes: ['title'] }).ready()
    for (const sort of ['title', '-title'])
      expect(await reads.explain(SUPER, 'indexed', { sort })).toMatchObject({ plan: { sortedByIndex: true } })
  })

  test('has cursors in both directions', async () => {
    for (const sort of ['title', '-title']) {
      const found: unknown[] = []
      for (let after: string | null | undefined = ''; typeof after === 'string';) {
        const page = await world.reads.list(GUEST, 'indexed', { sort, perPage: 2, after })
        found.push(...page.items.map(({ id }) => id))
        after = page.nextCursor
      }
      expect(found).toEqual(await ids('indexed', { sort }))
    }
  })
})

describe('a random order', () => {
  test('has every record once, and other orders at other times', async () => {
    const orders = new Set<string>()
    for (let i = 0; i < 40; i++) {
      const list = await ids('posts', { sort: '@random' })
      expect(new Set(list)).toEqual(new Set(['p1', 'p2', 'p3']))
      expect(list).toHaveLength(3)
      orders.add(list.join())
    }
    expect(orders.size).toBeGreaterThan(2)
  })

  test('after a field orders what agrees in it', async () => {
    for (let i = 0; i < 10; i++) expect((await ids('posts', { sort: '-author,@random' }))[0]).toBe('p2')
  })

  test('has pages', async () => {
    const { items, totalItems } = await world.reads.list(GUEST, 'posts', { sort: '@random', page: 2, perPage: 2 })
    expect([items.length, totalItems]).toEqual([1, 3])
  })
})

test('a hidden relation is expanded for superusers only', async () => {
  const shown = { expand: 'secret', fields: 'expand.secret.id', perPage: 1 }
  expect((await world.reads.list(GUEST, 'posts', shown)).items).toEqual([{}])
  expect((await world.reads.list(SUPER, 'posts', shown)).items).toEqual([{ expand: { secret: { id: 'b' } } }])
})

test('a back-relation gives at most 1,000 records', async () => {
  const many = Array.from({ length: 1001 }, (_, at) => ({ id: `m${at}`, title: 't', author: 'a' }))
  await using large = await makeWorld(DEFINITIONS, { ...RECORDS, posts: many })
  const record = await large.reads.view(GUEST, 'authors', 'a', { expand: 'posts_via_author' })
  expect((record['expand'] as { posts_via_author: unknown[] }).posts_via_author).toHaveLength(1000)
})

test('a filter that reads too many records for each record is INVALID', async () => {
  const many = Array.from({ length: 10_001 }, (_, at) => ({ id: `m${at}`, title: 't', author: 'a' }))
  await using large = await makeWorld(DEFINITIONS, { ...RECORDS, posts: many })
  const filter = 'posts_via_author.title ?= name && posts_via_author.id ?!= stats_via_author.name'
  await expect(large.reads.list(SUPER, 'authors', { filter })).rejects.toMatchObject({ code: 'INVALID' })
})

describe('a rule that names what is no longer there', () => {
  test('lists nothing and shows nothing', async () => {
    await expect(ids('broken')).rejects.toMatchObject({ code: 'INVALID', message: '' })
    await expect(world.reads.view(GUEST, 'broken', 'k')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect(await ids('broken', {}, SUPER)).toEqual(['k'])
  })

  test('allows nothing', async () => {
    const access = accessOf(world.definitions, environmentOf(world.database))
    const definition = world.definitions.find('broken')!
    const records = ruleRecords(world.definitions, { get: () => undefined, via: () => [], all: () => [] }, () => [])
    expect(access.allows(GUEST, definition, 'list', { id: 'k' }, { records })).toBe(false)
    expect(access.allows(SUPER, definition, 'list', { id: 'k' }, { records })).toBe(true)
    const document = { _id: 'k', title: 'a' }
    expect(await world.reads.admits(GUEST, definition, 'view', document)).toBe(false)
    expect(await world.reads.admits(SUPER, definition, 'view', document)).toBe(true)
  })
})

test('show asks no rule about the documents that it is given', async () => {
  const definition = world.definitions.find('broken')!
  expect(await world.reads.show(GUEST, definition, [{ _id: 'k', title: 'b' }])).toEqual([
    { collectionId: 'broken', collectionName: 'broken', id: 'k', title: 'b' },
  ])
})

test('the revision is shown if fields name it', async () => {
  const { _rev } = (await world.database.collection(recordsName({ id: 'posts' })).get('p1'))!
  expect(await world.reads.view(SUPER, 'posts', 'p1', { fields: 'id, _rev' })).toEqual({ _rev, id: 'p1' })
  const seen = await world.reads.view(GUEST, 'posts', 'p1', { fields: 'id, _rev' })
  // One who knows all fields but a hidden one can't check a guess of it.
  expect(seen).toEqual({ _rev: expect.stringMatching(/^1-[\da-f]{32}$/), id: 'p1' })
  expect(seen['_rev']).not.toBe(_rev)
  expect(await world.reads.view(GUEST, 'posts', 'p1', { fields: '*' })).not.toHaveProperty('_rev')
  expect(await world.reads.view(GUEST, 'stats', 's1', { fields: 'id,_rev' })).toEqual({ id: 's1' })
})

test('the keys of a record are sorted', async () => {
  const record = await world.reads.view(SUPER, 'posts', 'p3', { expand: 'author' })
  expect(Object.keys(record)).toEqual(Object.keys(record).toSorted())
})

describe('explain', () => {
  test('is for superusers', async () => {
    await expect(world.reads.explain(GUEST, 'posts')).rejects.toMatchObject({ code: 'FORBIDDEN' })
  })

  test('has the plan, the order, and whether each record is asked about', async () => {
    const asked = { filter: "author.name = 'Ann'", sort: '-title' }
    const { isExact, order, plan } = await world.reads.explain(SUPER, 'posts', asked)
    expect([isExact, order]).toEqual([true, ['-title', '$created']])
    expect(plan.related).toHaveLength(1)
    const crossed = { filter: 'author.posts_via_author.title ?= title', sort: 'title:lower' }
    expect(await world.reads.explain(SUPER, 'posts', crossed)).toMatchObject({ isExact: false, order: [] })
  })
})

test('a page has a cursor if a record follows it, and none if the last one fills it', async () => {
  for (const [perPage, next] of [
    [2, expect.any(String)],
    [3, null],
    [4, null],
  ])
    expect((await world.reads.list(GUEST, 'posts', { perPage: perPage as number, after: '' })).nextCursor).toEqual(next)
})

test('groups are of at most eight fields', async () => {
  const group = (count: number): string => Array.from({ length: count }, (_, n) => `f${n}`).join(',')
  await expect(world.reads.list(GUEST, 'posts', { group: group(9) })).rejects.toThrow('at most 8 parts, got 9')
})
