/** Goal: a column says of a snapshot what its documents say, or nothing. */
import { describe, expect, test } from 'vitest'
import { open } from '../../src/database/lifecycle/open.ts'
import type { Database } from '../../src/database/database.ts'
import type { Collection } from '../../src/database/collection/collection.ts'
import { ColumnStore } from '../../src/query/columns/column-store.ts'
import { foldText } from '../../src/query/match.ts'
import type { QuerySource } from '../../src/query/query-source.ts'
import { NumberSet } from '../../src/query/sets/number-set.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import { seededRandom, type Random } from '../../testing/random.ts'
import { seedsOf } from '../../../../tools/test/seeds.ts'
import { slow } from '../../testing/slow-storage.ts'

interface Post {
  readonly title?: unknown
  readonly kind?: unknown
  readonly author?: unknown
  readonly editors?: unknown
}

const STEPS = 40
const MIB = 2 ** 20
const nothing = (): void => {}

describe('columns', () => {
  for (const seed of seedsOf('race', 5)) {
    test(`seed ${seed}: they agree with the documents while others write`, async () => {
      const random = seededRandom(seed)
      const storage = memory()
      await using db = await open('columns', {
        storage: random.chance(0.5) ? storage : slow(storage, random),
        cacheBytesMax: MIB,
        collections: {
          users: {},
          posts: { relations: { author: 'users', editors: ['users'] } },
        },
      })
      const users = db.collection<{ name?: string }>('users')
      const posts = db.collection<Post>('posts')
      const columns = new ColumnStore(random.chance(0.2) ? 2000 : 16 * MIB)
      const answered = { true: 0, false: 0 }
      for (let step = 0; step < STEPS; step++) {
        const source = sourceOf(posts)
        const target = sourceOf(users)
        const own = random.fork()
        const check = async (): Promise<void> => {
          try {
            for (const isAnswered of await compare(columns, source, target, own)) answered[`${isAnswered}`]++
          } finally {
            source.release()
            target.release()
          }
        }
        const works = [
          check(),
          ...Array.from({ length: random.below(3) }, () => write(db, users, posts, random.fork())),
        ]
        await Promise.all(random.chance(0.7) ? works : works.toReversed())
      }
      expect(answered.true).toBeGreaterThan(answered.false)
    })
  }

  test('a column that takes too much memory is forgotten', async () => {
    await using db = await open('memory', { storage: memory(), collections: { posts: {} } })
    const posts = db.collection<Post>('posts')
    await posts.insert(Array.from({ length: 5000 }, (_, at) => ({ title: `post ${at}`, kind: `kind ${at % 5}` })))
    using source = disposable(sourceOf(posts))
    const columns = new ColumnStore(50_000)
    await columns.select(source, 'kind', nothing)
    expect(columns.bytes).toBeGreaterThan(20_000)
    await columns.text(source, 'title', nothing)
    const rows = await columns.rows(source, nothing)
    const text = await columns.text(source, 'title', nothing)
    const { collection } = source.documents
    expect(columns.bytesOf(collection)).toBe(rows!.bytes + text!.bytes)
    columns.forget(collection)
    expect(columns.bytes).toBe(0)
  })

  test('a select column takes at most eight bytes a row, and so does one of a relation', async () => {
    await using db = await open('bytes', {
      storage: memory(),
      collections: { users: {}, posts: { relations: { author: 'users' } } },
    })
    const [users, posts] = [db.collection('users'), db.collection<Post>('posts')]
    await users.insert(Array.from({ length: 100 }, (_, at) => ({ _id: `u${at}` })))
    await posts.insert(Array.from({ length: 10_000 }, (_, at) => ({ author: `u${at % 110}`, kind: at % 7 })))
    using source = disposable(sourceOf(posts))
    using target = disposable(sourceOf(users))
    const columns = new ColumnStore(16 * MIB)
    const index = source.indexes[0]!
    expect((await columns.select(source, 'kind', nothing))!.bytes).toBeLessThanOrEqual(8 * 10_000)
    expect((await columns.relation({ source, target, index }, nothing))!.bytes).toBeLessThanOrEqual(8 * 10_000)
  })

  test('a field with many values has no select column', async () => {
    await using db = await open('many', { storage: memory(), collections: { posts: {} } })
    const posts = db.collection<Post>('posts')
    await posts.insert(Array.from({ length: 100 }, (_, at) => ({ kind: at })))
    using source = disposable(sourceOf(posts))
    const columns = new ColumnStore(16 * MIB)
    expect(await columns.select(source, 'kind', nothing)).toBeUndefined()
    expect(await columns.select(source, 'kind', nothing)).toBeUndefined()
  })

  test('a field without an index is answered by its select column, also as it changes', async () => {
    await using db = await open('unindexed', { storage: memory(), collections: { posts: {} } })
    const posts = db.collection<{ _id: string; public?: boolean | null; n: number }>('posts')
    const rows = Array.from({ length: 3000 }, (_, n) => ({ _id: `p${n}`, n, public: [true, false, null][n % 3] }))
    await posts.insert(rows.map((row) => (row.n < 9 ? { _id: row._id, n: row.n } : { ...row, public: row.public! })))
    const query = posts.find({ public: true })
    expect(await query.count()).toBe(997)
    const { plan } = await query.sort('n').explain()
    expect(JSON.stringify(plan)).toContain('"column":"public"')
    await posts.upsert({ _id: 'p10', n: 10, public: true })
    await posts.delete('p9')
    await posts.insert({ _id: 'new', n: 1, public: true })
    expect(await query.count()).toBe(998)
    expect(await posts.find({ public: { $exists: false } }).count()).toBe(9)
    expect(await posts.find({ public: { $ne: true } }).count()).toBe(1993)
    // What may end early is tested row by row.
    expect(JSON.stringify((await query.limit(3).explain()).plan)).toContain('"full scan"')
  })

  test('ids that are too long for the index make no column, and it is tried once', async () => {
    await using db = await open('long', {
      storage: memory(),
      collections: { users: {}, posts: { relations: { author: 'users' } } },
    })
    const posts = db.collection<Post>('posts')
    await posts.insert({ author: 'x'.repeat(3000) })
    using source = disposable(sourceOf(posts))
    using target = disposable(sourceOf(db.collection('users')))
    const columns = new ColumnStore(16 * MIB)
    const index = source.indexes[0]!
    expect(await columns.relation({ source, target, index }, nothing)).toBeUndefined()
    const unread = { ...source, index: () => expect.unreachable('the index is not read again') }
    expect(await columns.relation({ source: unread, target, index }, nothing)).toBeUndefined()
  })

  test('a query that is cancelled while it makes a column does not fail the next one', async () => {
    await using db = await open('cancelled', { storage: slow(memory(), 1), collections: { posts: {} } })
    const posts = db.collection<Post>('posts')
    await posts.insert(Array.from({ length: 10_000 }, (_, at) => ({ title: `post ${at}` })))
    using source = disposable(sourceOf(posts))
    const columns = new ColumnStore(16 * MIB)
    let looks = 0
    const cancelled = columns.rows(source, () => {
      if (++looks === 2) throw new Error('cancelled')
    })
    const next = columns.rows(source, nothing)
    await expect(cancelled).rejects.toThrow('cancelled')
    expect((await next)!.length).toBe(10_000)
  })
})

/** At once, as there is no schema: two in a row are of one moment. */
function sourceOf<T extends object>(collection: Collection<T>): QuerySource {
  return (collection as unknown as { access: { openSource(): QuerySource } }).access.openSource()
}

function disposable(source: QuerySource): QuerySource & Disposable {
  return Object.assign(source, { [Symbol.dispose]: () => source.release() })
}

const TEXTS = ['Oslo', 'OSLO fjord', 'straße', 'ΟΔΟΣ', 'οδος', 'a\0b', 'é', 'fjords and oslo', '']
const KINDS = ['a', 'b', 'c', null, 5, true]

async function write(
  db: Pick<Database, 'dropCollection'>,
  users: Collection<{ name?: string }>,
  posts: Collection<Post>,
  random: Random,
): Promise<void> {
  const userId = (): string => `u${random.below(12)}`
  const postId = (): string => `p${random.below(80)}`
  const some = <T>(make: () => T): T[] => Array.from({ length: random.below(4) }, make)
  const kind = random.below(10)
  if (kind === 0) await users.delete(some(userId))
  else if (kind === 1) await posts.delete(some(postId))
  else if (kind === 2) await (random.chance(0.5) ? users.purge(userId()) : posts.purge(postId()))
  else if (kind === 3 && random.chance(0.2)) await db.dropCollection('posts')
  else if (kind < 6) await users.upsert([...new Set(some(userId))].map((_id) => ({ _id, name: random.pick(TEXTS) })))
  else {
    const count = random.chance(0.05) ? 600 : 1 + random.below(5)
    await posts.upsert(
      Array.from({ length: count }, (_, at) => ({
        _id: count === 600 ? `p${at}` : postId(),
        ...(random.chance(0.9) && { title: random.chance(0.1) ? some(() => random.pick(TEXTS)) : random.pick(TEXTS) }),
        ...(random.chance(0.9) && { kind: random.chance(0.5) ? some(() => random.pick(KINDS)) : random.pick(KINDS) }),
        ...(random.chance(0.9) && { author: random.chance(0.1) ? some(userId) : userId() }),
        ...(random.chance(0.9) && { editors: random.chance(0.1) ? userId() : some(userId) }),
      })),
    )
  }
}

/** For each column whether it gave an answer. */
async function compare(
  columns: ColumnStore,
  source: QuerySource,
  target: QuerySource,
  random: Random,
): Promise<boolean[]> {
  const documents = await all(source)
  const related = await all(target)
  const numbersOf = (test: (document: Post) => boolean): number[] =>
    documents.filter(({ document }) => test(document)).map(({ number }) => number)
  const answers: boolean[] = []
  const answer = async (work: () => Promise<boolean>): Promise<void> => void answers.push(await work())
  const works = [
    async () => {
      const rows = await columns.rows(source, nothing)
      if (rows === undefined) return false
      expect(numbers(rows.marked(rows.livingMarks()))).toEqual(numbersOf(() => true))
      return true
    },
    async () => {
      const text = random.pick(TEXTS.filter((one) => one !== '' && !one.includes('\0')))
      const column = await columns.text(source, 'title', nothing)
      if (column === undefined) return false
      const contains = (value: unknown): boolean =>
        typeof value === 'string' && foldText(value).includes(foldText(text))
      expect(numbers(column.containing(text))).toEqual(
        numbersOf(({ title }) => (Array.isArray(title) ? title.some(contains) : contains(title))),
      )
      return true
    },
    async () => {
      const column = await columns.select(source, 'kind', nothing)
      if (column === undefined) return false
      const found = column.where((kind) => kind !== undefined && (!Array.isArray(kind) || kind.includes('a')))
      expect(numbers(found)).toEqual(
        numbersOf(({ kind }) => kind !== undefined && (!Array.isArray(kind) || kind.includes('a'))),
      )
      return true
    },
    ...(['author', 'editors'] as const).map((field) => async () => {
      const index = source.indexes.find(({ fields }) => fields[0]!.path === field)
      if (index === undefined || index.builtTo !== undefined) return false
      const column = await columns.relation({ source, target, index }, nothing)
      if (column === undefined) return false
      const chosen = related.filter(() => random.chance(0.4))
      const ids = new Set(chosen.map(({ document }) => document._id))
      const leads = (value: unknown): boolean =>
        (field === 'editors' && Array.isArray(value) ? value : [value]).some((id) => ids.has(id as string))
      const leading = column.leadingTo(NumberSet.of(chosen.map(({ number }) => number)))
      expect(numbers(leading)).toEqual(numbersOf((document) => leads(document[field])))
      const own = documents.filter(() => random.chance(0.3))
      const named = new Set(own.flatMap(({ document }) => document[field]))
      const isNamed = ({ document: { _id } }: (typeof related)[number]): boolean =>
        own.some(({ document }) => (field === 'author' ? document.author === _id : false)) ||
        (field === 'editors' && named.has(_id))
      expect(numbers(column.leadingFrom(NumberSet.of(own.map(({ number }) => number))))).toEqual(
        related.filter(isNamed).map(({ number }) => number),
      )
      return true
    }),
  ]
  await Promise.all(works.map(answer))
  return answers
}

function numbers(set: NumberSet): number[] {
  return [...set.values()]
}

/** The living documents in the order of their numbers. */
async function all(source: QuerySource) {
  const { documents } = source
  return (
    await source.attempt(() => {
      const found: { readonly number: number; readonly document: Post & { readonly _id: string } }[] = []
      const cursor = documents.scan()
      while (cursor.next()) found.push({ number: cursor.body.number, document: documents.decode(cursor.body) })
      return found
    })
  ).toSorted((left, right) => left.number - right.number)
}
