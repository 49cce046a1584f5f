/**
 * Goal: what a commit costs a live query over relations depends on what it changes. Method: another handle writes, so each page that
 * this handle reads is read for the live query. Before each commit its small cache is filled with other pages.
 */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { open, type Database } from '../../src/index.ts'
import { memory } from '../../src/memory.ts'
import { counting, type CountingStorage } from '../../testing/counting-page-store.ts'
import { eventually, Follower } from '../../testing/live-rows.ts'

const POSTS = 4000
const AUTHORS = 200
const TEXT = 'Lorem ipsum dolor sit amet. '.repeat(100)
/** The document as it was takes these: its id, its body, and the root above that. */
const PAGES_BEFORE = 3
/** A count in an index takes its root and a leaf. */
const PAGES_INDEX = 2

interface User {
  readonly _id: string
  readonly name: string
  readonly organization?: string
  readonly text?: string
}

let counted: CountingStorage
let writer: Database
let reader: Database

beforeEach(async () => {
  const storage = memory()
  const options = {
    cacheBytesMax: 2 ** 20,
    collections: {
      organizations: {},
      users: { relations: { organization: 'organizations' } },
      posts: { relations: { author: 'users' } },
    },
  } as const
  writer = await open('live', { storage, ...options })
  counted = counting(storage)
  reader = await open('live', { storage: counted, ...options })
  const user = (n: number): User => ({ _id: `u${n}`, name: `user ${n}`, organization: `o${n % 10}`, text: TEXT })
  await writer.collection<User>('users').insert(Array.from({ length: 2 * AUTHORS }, (_, n) => user(n)))
  const post = (n: number): Record<string, unknown> => ({
    _id: `p${n}`,
    title: `title ${n}`,
    author: `u${n % AUTHORS}`,
    text: TEXT,
  })
  await writer.collection('posts').insert(Array.from({ length: POSTS }, (_, n) => post(n)))
  await writer.flush()
})

afterEach(async () => {
  await reader.close()
  await writer.close()
})

function change(id: string, changes: Partial<User>): Promise<unknown> {
  return writer.collection<User>('users').update(id, (user) => ({ ...user, ...changes }))
}

/** The pages that the commit takes here. */
async function pagesOf(commit: () => Promise<unknown>, rows: () => number | undefined, after: number): Promise<number> {
  await reader.collection('posts').find().toArray()
  counted.take()
  await commit()
  await reach(rows, after)
  // What changes nothing is over soon.
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
  return counted.take().pagesRead
}

test('a commit to a related collection costs what it changes', async () => {
  const names = { $in: ['user 5', 'user 300', 'new'] }
  using live = reader.collection('posts').find({ 'author.name': names }).live()
  await live.ready
  const perAuthor = POSTS / AUTHORS
  const rows = (): number => live.value!.length
  expect(rows()).toBe(perAuthor)
  expect(await pagesOf(() => change('u300', { name: 'none' }), rows, perAuthor), 'no row refers to it').toBe(
    PAGES_BEFORE + PAGES_INDEX,
  )
  expect(await pagesOf(() => change('u5', { text: 'short' }), rows, perAuthor), 'a field that is not read').toBe(
    PAGES_BEFORE,
  )
  expect(await pagesOf(() => change('u6', { organization: 'o7' }), rows, perAuthor), 'nor is that').toBe(PAGES_BEFORE)
  expect(await pagesOf(() => writer.collection('organizations').upsert({ _id: 'o1' }), rows, perAuthor)).toBe(0)
  // Each of the rows is in a page of its own. News is read in a later task, so one page may be of the commit before.
  expect(await pagesOf(() => change('u5', { name: 'none' }), rows, 0)).toBeLessThanOrEqual(perAuthor + 11)
  expect(await pagesOf(() => change('u7', { name: 'new' }), rows, perAuthor)).toBeLessThanOrEqual(perAuthor + 11)
  const post = { _id: 'p1', title: 'other', author: 'u7' }
  expect(await pagesOf(() => writer.collection('posts').upsert(post), rows, perAuthor + 1)).toBeLessThanOrEqual(6)
})

test('a count costs nothing where a commit changes nothing that it reads', async () => {
  using live = reader.collection('posts').find({ 'author.organization': 'o3' }).liveCount()
  await live.ready
  const count = (): number | undefined => live.value
  expect(count()).toBe(POSTS / 10)
  expect(await pagesOf(() => change('u5', { name: 'none' }), count, POSTS / 10)).toBe(PAGES_BEFORE)
  const retitle = (): Promise<unknown> => writer.collection('posts').upsert({ _id: 'p3', title: 'x', author: 'u3' })
  // The ids of posts fill two levels.
  expect(await pagesOf(retitle, count, POSTS / 10)).toBe(PAGES_BEFORE + 1)
  expect(await pagesOf(() => change('u5', { organization: 'o3' }), count, POSTS / 10 + 20)).toBeGreaterThan(
    PAGES_BEFORE,
  )
})

test('a row moves with the value of its related document', async () => {
  const users = writer.collection<User>('users')
  const query = reader.collection<User>('users').find({ _id: { $beginsWith: 'u1' } })
  const sorted = query.sort('-organization.name' as never, '_id').limit(5)
  const organizations = writer.collection('organizations')
  await organizations.insert(['o1', 'o2'].map((_id) => ({ _id, name: _id })))
  const follower = new Follower(sorted.live())
  await follower.reach(await sorted.toArray())
  await organizations.upsert({ _id: 'o2', name: 'o0' })
  await follower.reach(await sorted.toArray())
  expect(follower.rows!.map(({ organization }) => organization)).toEqual(Array.from({ length: 5 }, () => 'o1'))
  await users.delete(follower.rows![0]!._id)
  await follower.reach(await sorted.toArray())
  follower.live.close()
})

test('a populated row is a new one when its related document has changed, others stay the same objects', async () => {
  const query = reader.collection('posts').find({ _id: { $in: ['p5', 'p6'] } })
  using live = query.populate('author').live()
  await live.ready
  const [, other] = live.value!
  await change('u5', { name: 'new' })
  await eventually(() => (live.value![0]!['author'] as User).name === 'new')
  expect([live.value![0]!['author'], live.value![1]]).toEqual([expect.objectContaining({ name: 'new' }), other])
  expect(live.value![1]).toBe(other)
})

test('rows are right where a commit changes too many to read them one by one', async () => {
  const organizations = writer.collection('organizations')
  const query = reader.collection('posts').find({ 'author.organization.name': { $gt: '' } } as never)
  const sorted = query.sort('-author.organization.name' as never, '_id').limit(3)
  const deep = query.sort('_id').skip(1001).limit(3)
  const followers = [sorted, deep].map((one) => new Follower(one.live()))
  const count = query.liveCount()
  const agree = async (total: number): Promise<void> => {
    await followers[0]!.reach(await sorted.toArray())
    await followers[1]!.reach(await deep.toArray())
    await reach(() => count.value, total)
  }
  await agree(0)
  await writer.transaction(async (tx) => {
    for (let n = 0; n < 10; n++) await tx.collection('organizations').upsert({ _id: `o${n}`, name: `${n}` })
  })
  await reach(() => count.value, POSTS)
  await agree(POSTS)
  await organizations.delete('o9')
  await reach(() => count.value, (POSTS / 10) * 9)
  await agree((POSTS / 10) * 9)
  await writer.dropCollection('users')
  await reach(() => count.value, 0)
  await agree(0)
})

async function reach(shown: () => number | undefined, value: number): Promise<void> {
  await eventually(() => shown() === value)
  expect(shown()).toBe(value)
}
