/** Goal: a column says of a snapshot what its documents say, or nothing. */
import { describe, expect, test, vi } from 'vitest'
import { open } from '../../src/database/lifecycle/open.ts'
import type { Database } from '../../src/database/database.ts'
import type { Collection } from '../../src/database/collection/collection.ts'
import { compareValues } from '../../src/codec/collation.ts'
import { ColumnStore } from '../../src/query/columns/column-store.ts'
import { NOCASE } from '../../src/codec/nocase.ts'
import { selectionQuery } from '../../src/database/records/selection-query.ts'
import { createQuery } from '../../src/query/query.ts'
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

  describe('the order of a sort without an index', () => {
    interface Row {
      readonly n: number
      readonly title?: string
      readonly rank?: number
    }
    const numbered = (from: number, count: number): (Row & { _id: string })[] =>
      Array.from({ length: count }, (_, at) => ({
        _id: `p${from + at}`,
        n: from + at,
        title: `t${((from + at) * 7) % 100}`,
      }))
    const pages = (posts: Collection<Row>) =>
      [posts.find().sort('title'), posts.find().sort('-title', 'n').skip(90)].map((query) => query.limit(30))
    /** What a transaction reads is not kept, so it sorts all. */
    async function expectSorted(db: Database, posts: Collection<Row>): Promise<void> {
      await db.transaction(async (tx) => {
        const sorted = pages(tx.collection('posts') as never)
        for (const [at, query] of pages(posts).entries()) {
          const right = await sorted[at]!.toArray()
          expect(await query.toArray()).toEqual(right)
          expect(await query.page()).toEqual({ rows: right, total: await posts.find().count() })
        }
      })
    }
    const keptBytes = (source: QuerySource): number =>
      source.kept!.columns.store?.bytesOf(source.documents.collection) ?? 0

    test('is kept from the second query on, and follows writes, deletes and purges', async () => {
      await using db = await open('order', { storage: memory(), collections: { posts: {} } })
      const posts = db.collection<Row>('posts')
      await posts.insert(numbered(0, 3000))
      using source = disposable(sourceOf(posts))
      await pages(posts)[0]!.toArray()
      expect(keptBytes(source)).toBe(0)
      await expectSorted(db, posts)
      expect(keptBytes(source)).toBeGreaterThan(2 * 3000 * 64)
      await posts.upsert(numbered(3000, 100))
      await posts.upsert(numbered(0, 700).map(({ _id, n }) => (n % 2 === 0 ? { _id, n } : { _id, n, title: 't5' })))
      await expectSorted(db, posts)
      await posts.delete(['p1', 'p2', 'p2999'])
      await expectSorted(db, posts)
      await posts.purge('p15')
      await expectSorted(db, posts)
      await posts.insert(numbered(1, 1))
      await expectSorted(db, posts)
      await db.dropCollection('posts')
      expect(keptBytes(source)).toBe(0)
    })

    test('leaves a snapshot behind it to sort by itself', async () => {
      await using db = await open('behind', { storage: memory(), collections: { posts: {} } })
      const posts = db.collection<Row>('posts')
      await posts.insert(numbered(0, 3000))
      const query = posts.find().sort('title').limit(5)
      const [before] = [await query.toArray(), await query.toArray()]
      using source = disposable(sourceOf(posts))
      await posts.upsert({ _id: 'p9', n: 9, title: 'a' })
      expect((await query.first())!.n).toBe(9)
      const behind = createQuery<Row>(() => ({ ...source, release: nothing }), {})
        .sort('title')
        .limit(5)
      expect(await behind.toArray()).toEqual(before)
    })

    test('reads the documents of the page alone', async () => {
      await using db = await open('reads', { storage: memory(), collections: { posts: {} } })
      const posts = db.collection<Row>('posts')
      await posts.insert(numbered(0, 3000))
      using source = disposable(sourceOf(posts))
      const scans = vi.spyOn(source.documents, 'scan')
      const query = createQuery<Row>(() => ({ ...source, release: nothing }), {})
        .sort('title')
        .skip(100)
        .limit(30)
      const rows = await query.toArray()
      expect(scans).toHaveBeenCalledTimes(1)
      expect(await query.toArray()).toEqual(rows)
      expect(await query.toArray()).toEqual(rows)
      expect(scans).toHaveBeenCalledTimes(1)
      // What takes a fifth of the collection is sorted as it is read.
      expect(await query.limit(601).toArray()).toHaveLength(601)
      expect(scans).toHaveBeenCalledTimes(2)
      // The suggestion of an index stays.
      expect(await posts.find().sort('title').limit(30).explain()).toMatchObject({ suggestion: ['title'] })
    })

    test('takes half of the memory of all columns at most, and is tried once', async () => {
      await using db = await open('large', { storage: memory(), collections: { posts: {} } })
      const posts = db.collection<Row>('posts')
      await posts.insert(numbered(0, 3000))
      using source = disposable(sourceOf(posts))
      const sort = [{ path: 'title', descending: false }]
      const columns = new ColumnStore(2 * 3000 * 66)
      await columns.order(source, { sort }, nothing)
      expect(await columns.order(source, { sort }, nothing)).toBeUndefined()
      const unread = { ...source, attempt: () => expect.unreachable('nothing is read again') }
      expect(await columns.order(unread, { sort }, nothing)).toBeUndefined()
      expect(columns.bytes).toBe((await columns.rows(source, nothing))!.bytes)
    })

    test('has a name of its own for each collation and each value of what is missing', async () => {
      await using db = await open('names', { storage: memory(), collections: { posts: {} } })
      const posts = db.collection<Row>('posts')
      await posts.insert(numbered(0, 3000).map((one) => (one.n < 3 ? one : { ...one, rank: one.n - 1500 })))
      const every = { kind: 'and', of: [] } as const
      const lastBy = async (empty: '' | 0): Promise<number> => {
        const options = { nameOf: (name: string) => name, empty: new Map([['rank', empty]]) }
        const page = selectionQuery(posts, every, options).sort('-rank').limit(5)
        const one = await page.toArray()
        expect(await page.toArray()).toEqual(one)
        return one[0]!['n'] as number
      }
      expect(await lastBy('')).toBe(0)
      expect(await lastBy(0)).toBe(2999)
      expect(await lastBy('')).toBe(0)
      await posts.upsert({ _id: 'A', n: -1, title: 'T0' })
      for (let round = 0; round < 3; round++) {
        for (const [meaning, first] of [
          [{}, -1],
          [{ dialect: 'couchdb', collation: NOCASE.name } as const, 0],
        ] as const)
          expect(await posts.find({}, meaning).sort('title').limit(1).toArray()).toMatchObject([{ n: first }])
      }
    })
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
    ...[['title'], ['-title'], ['-kind', 'title'], ['kind', '-$created']].map((fields) => async () => {
      const sort = fields.map((field) => ({ path: field.replace('-', ''), descending: field.startsWith('-') }))
      await columns.order(source, { sort }, nothing)
      const column = await columns.order(source, { sort: [...sort, { path: '$created', descending: false }] }, nothing)
      if (column === undefined || !columns.isTrue(column, source)) return false
      const [skip, limit] = [random.below(documents.length + 2), random.below(20)]
      const sorted = documents.toSorted((one, other) => {
        for (const { path, descending } of sort) {
          const [left, right] = [one, other].map(({ number, document }) =>
            path === '$created' ? number : document[path as keyof Post],
          )
          const order = compareValues(left, right)
          if (order !== 0) return descending ? -order : order
        }
        return one.number - other.number
      })
      expect(numbers(column.page(skip, limit))).toEqual(
        sorted
          .slice(skip, skip + limit)
          .map(({ number }) => number)
          .toSorted((one, other) => one - other),
      )
      return true
    }),
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
