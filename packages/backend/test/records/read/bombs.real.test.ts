/** Goal: no request holds up the others, whatever its filter, sort or expand multiplies. Method: counts of rows, and of turns that others get. */
import { setImmediate } from 'node:timers/promises'
import { open, preload } from 'pannier'
import { memory } from 'pannier/memory'
import { virtualEnvironment } from 'pannier/testing'
import type { Environment } from 'pannier/types'
import { beforeAll, expect, test } from 'vitest'
import { RequestBudget } from '../../../src/records/read/request-budget.ts'
import { actorOf, makeWorld, type World } from './read-world.ts'

const text = (name: string): object => ({ name, type: 'text' })
const relation = (name: string, collectionId: string): object => ({ name, type: 'relation', collectionId })
const collection = (name: string, fields: object[], options: object = {}): object => ({
  id: name,
  name,
  type: 'base',
  listRule: '',
  viewRule: '',
  fields,
  ...options,
})
const GUEST = actorOf('guest')
/** What a look at the clock takes: of work that looks at it for each row, and of work that looks at it for each record. */
const TICK_MS = { row: 0.01, record: 1 }

const DEFINITIONS = [
  collection('users', [text('name')]),
  collection('posts', [text('title'), relation('author', 'users')]),
  collection('comments', [text('text'), relation('post', 'posts')]),
  collection('pairs', [text('id')], {
    type: 'view',
    viewQuery: 'SELECT p.id FROM posts p JOIN posts q ON q.title < p.title JOIN posts r ON r.title < q.title',
  }),
]

interface WorldSize {
  readonly posts: number
  readonly comments: number
  readonly looksFor?: keyof typeof TICK_MS
}

/** `posts` of one author, the first with `comments`. */
function world({ posts, comments, looksFor = 'row' }: WorldSize): Promise<World> {
  const records = {
    users: [{ id: 'u', name: 'ann' }],
    posts: Array.from({ length: posts }, (_, at) => ({ id: `p${at}`, title: `title ${at}`, author: 'u' })),
    comments: Array.from({ length: comments }, (_, at) => ({ id: `c${at}`, text: `text ${at}`, post: `p${at % 30}` })),
  }
  return makeWorld(
    DEFINITIONS,
    records,
    open('world', { storage: memory(), environment: tickingEnvironment(TICK_MS[looksFor]) }),
  )
}

/** Each look at the clock takes a while: work that looks at it gives turns away, however fast the machine is. */
function tickingEnvironment(tickMs: number): Environment {
  let ms = 0
  return { ...virtualEnvironment(), now: () => (ms += tickMs) }
}

/** A module that is loaded gives turns away, too. */
beforeAll(() => preload())

/** How many turns others get while it runs, and what it is refused with. */
async function turnsDuring(run: Promise<unknown>): Promise<{ readonly turns: number; readonly refusal: unknown }> {
  let isOver = false
  const ended = run.then(
    () => undefined,
    (error: unknown) => error,
  )
  void ended.then(() => (isOver = true))
  let turns = 0
  for (; !isOver; turns++) await setImmediate()
  return { turns, refusal: await ended }
}

test.each([
  ['filter', { filter: 'author.posts_via_author.title ?= comments_via_post.text && id != ""' }],
  ['sort', { sort: 'comments_via_post.post.author.posts_via_author.title' }],
])('a %s that tries many rows for each of many records ends, and lets others have their turns', async (_, options) => {
  await using bombed = await world({ posts: 250, comments: 9000, looksFor: 'record' })
  const { turns, refusal } = await turnsDuring(bombed.reads.list(GUEST, 'posts', options))
  expect(refusal).toMatchObject({ code: 'INVALID', message: expect.stringContaining('Too many rows') as string })
  expect(turns).toBeGreaterThan(5)
})

test('expanded records that lead to each other end before they are written out', async () => {
  await using bombed = await world({ posts: 500, comments: 0 })
  const twice = 'author.posts_via_author.author.posts_via_author'
  const reading = bombed.reads.list(GUEST, 'posts', { expand: twice, perPage: 500 })
  await expect(reading).rejects.toMatchObject({
    code: 'INVALID',
    message: expect.stringContaining('More than 100000 records are expanded.'),
  })
  const { items } = await bombed.reads.list(GUEST, 'posts', { expand: 'author.posts_via_author', perPage: 100 })
  expect(items).toHaveLength(100)
})

test('many paths of one expand spend what one request may read', async () => {
  await using bombed = await world({ posts: 500, comments: 0 })
  // Each path reads 1,500 ids or more, and none continues another.
  const paths = Array.from({ length: 1500 }, (_, at) => `author.posts_via_author.author.posts_via_author.nope${at}`)
  const reading = bombed.reads.list(GUEST, 'posts', { expand: paths.join(','), perPage: 500 })
  await expect(reading).rejects.toMatchObject({ code: 'INVALID', message: expect.stringContaining('too many rows') })
})

test('a view of products ends, and lets others have their turns', async () => {
  await using bombed = await world({ posts: 400, comments: 0 })
  const { turns, refusal } = await turnsDuring(bombed.reads.list(GUEST, 'pairs'))
  expect(refusal).toMatchObject({ code: 'INVALID' })
  expect(turns).toBeGreaterThan(100)
})

test('those who ask for a view at the same time wait for the same rows', async () => {
  await using asked = await world({ posts: 60, comments: 0 })
  const alone = await turnsDuring(asked.reads.list(GUEST, 'pairs'))
  await asked.database.collection('$records_posts').delete('p0')
  const lists = Array.from({ length: 20 }, () => asked.reads.list(GUEST, 'pairs'))
  const together = await turnsDuring(Promise.all(lists))
  expect(together.refusal).toBeUndefined()
  expect(together.turns).toBeLessThan(5 * alone.turns)
})

test('a request has rows and time', async () => {
  const environment = virtualEnvironment()
  const budget = new RequestBudget(environment, 10)
  budget.spend(9)
  expect(() => budget.spend(1)).toThrow('too many rows')
  const slow = new RequestBudget(environment)
  await environment.advance(29_999)
  slow.check()
  await environment.advance(1)
  expect(() => slow.check()).toThrow('longer than 30 seconds')
})
