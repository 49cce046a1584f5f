/** Relations on a storage: queries through them, populated rows, live queries, and deletes with consequences. */
import { open, type Database } from '../../src/index.ts'
import type { DatabaseStorage } from '../../src/storage/page-store.ts'
import { assertEqual, assertRejects, assertTrue } from '../check.ts'
import { counting } from '../counting-page-store.ts'
import { Follower } from '../live-rows.ts'
import type { SuiteContext } from '../suite.ts'

/** A small cache, so that pages are read again and again. */
const CACHE_BYTES_MAX = 1024 * 1024
/** Changes of a delete go to staged pages beyond 4 MiB: these documents make about 6. */
const MANY = 3000
const LONG_TEXT = 'x'.repeat(600)

interface Fields {
  readonly _id: string
  readonly [name: string]: unknown
}

interface Place {
  readonly storage: DatabaseStorage
  readonly name: string
}

function openBlog({ storage, name }: Place): Promise<Database> {
  const collections = {
    organizations: {},
    tags: {},
    users: { relations: { organization: { to: 'organizations', onDelete: 'cascade' } } },
    posts: {
      indexes: ['text'],
      relations: {
        author: { to: 'users', check: true, onDelete: 'cascade' },
        tags: { to: 'tags', many: true, onDelete: 'unset' },
        editor: { to: 'users', onDelete: 'restrict' },
      },
    },
  } as const
  return open(name, { storage, cacheBytesMax: CACHE_BYTES_MAX, collections }) as Promise<Database>
}

async function fill(db: Database): Promise<void> {
  await db.collection('organizations').insert([
    { _id: 'acme', name: 'Acme' },
    { _id: 'blue', name: 'Blue' },
  ])
  await db.collection('tags').insert([
    { _id: 'new', hot: true },
    { _id: 'old', hot: false },
  ])
  await db.collection('users').insert([
    { _id: 'ann', name: 'Ann', organization: 'acme' },
    { _id: 'bob', name: 'Bob', organization: 'blue' },
  ])
  await db.collection('posts').insert([
    { _id: '1', author: 'ann', tags: ['new', 'old'] },
    { _id: '2', author: 'ann', tags: [] },
    { _id: '3', author: 'bob', tags: ['old'] },
    { _id: '4', tags: ['gone'], editor: 'bob' },
  ])
}

export function relationSuite({ test, create }: SuiteContext<() => Place>): void {
  /** Each case ends with the integrity check. */
  const check = (name: string, body: (db: Database, place: Place) => Promise<void>): void =>
    test(name, async () => {
      const place = create()
      const db = await openBlog(place)
      try {
        await fill(db)
        await body(db, place)
        assertEqual((await db.check()).problems, [])
      } finally {
        await db.close()
      }
    })

  check('queries follow them, also those of a handle that has read nothing yet', async (db, place) => {
    await checkQueries(db)
    await db.flush()
    const again = await openBlog(place)
    await checkQueries(again)
    await again.close()
  })

  check('live queries follow them', async (db) => {
    const posts = db.collection<Fields>('posts')
    const query = posts
      .find({ 'author.organization.name': 'Acme' } as never)
      .sort('author.name' as never, '_id')
      .populate('author')
    const count = posts.find({ tags: { $some: { hot: true } } } as never).liveCount()
    const follower = new Follower(query.live())
    const agree = async (): Promise<void> => follower.reach(await query.toArray())
    await agree()
    assertEqual(follower.rows!.length, 2)
    await db.collection('organizations').upsert({ _id: 'blue', name: 'Acme' })
    await agree()
    assertEqual(follower.rows!.length, 3)
    await db.collection('users').upsert({ _id: 'bob', name: 'Aaron', organization: 'blue' })
    await agree()
    assertEqual((follower.rows![0] as Fields)['_id'], '3')
    await db.collection('tags').upsert({ _id: 'old', hot: true })
    for await (const now of count) if (now === 2) break
    await db.collection('users').delete('ann')
    await agree()
    for await (const now of count) if (now === 1) break
    count.close()
    follower.live.close()
  })

  check('what refers to nothing is refused', async (db) => {
    const error = await assertRejects(
      db.collection('posts').insert({ _id: '9', author: 'nobody' }),
      'PANNIER_RELATION_BROKEN',
    )
    assertEqual((error as { readonly details?: unknown }).details, { id: '9', relation: 'author', missing: ['nobody'] })
  })

  check('deletes cascade, unset and are refused', async (db) => {
    const posts = db.collection<Fields>('posts')
    await db.collection('organizations').delete('acme')
    assertEqual(await idsOf(db, 'users'), ['bob'])
    assertEqual(await idsOf(db, 'posts'), ['3', '4'])
    await db.collection('tags').delete('old')
    assertEqual((await posts.get('3'))!['tags'], [])
    await assertRejects(db.collection('organizations').delete('blue'), 'PANNIER_RELATION_BROKEN')
    assertEqual(await idsOf(db, 'posts'), ['3', '4'])
    await db.transaction(async (tx) => {
      await tx.collection('posts').delete('4')
      await tx.collection('organizations').delete('blue')
    })
    assertEqual([await idsOf(db, 'users'), await idsOf(db, 'posts')], [[], []])
  })

  test('a large delete stages its pages, and is whole or not at all', async () => {
    const { storage, name } = create()
    const counted = counting(storage)
    const place = { storage: counted, name }
    const db = await openBlog(place)
    await fill(db)
    const posts = db.collection<Fields>('posts')
    const post = (n: number): Fields => ({ _id: `p${n}`, author: 'ann', tags: ['new'], text: `${n} ${LONG_TEXT}` })
    await posts.insert(Array.from({ length: MANY }, (_, n) => post(n)))
    await db.flush()
    await posts.insert({ _id: 'q', author: 'bob', editor: 'ann' })
    counted.take()
    await assertRejects(db.collection('organizations').delete('acme'), 'PANNIER_RELATION_BROKEN')
    assertTrue(counted.take().stages > 0, 'pages are staged')
    assertEqual(await posts.find({ 'author.name': 'Ann' } as never).count(), MANY + 2)
    await posts.delete('q')
    const deleting = db.collection('organizations').delete('acme')
    const seen = new Set<number>()
    let isOver = false
    const over = deleting.finally(() => (isOver = true))
    while (!isOver) {
      seen.add(await posts.find({ tags: 'new' }).count())
      await new Promise((resolve) => setTimeout(resolve))
    }
    await over
    assertTrue(counted.take().stages > 0, 'pages are staged')
    assertTrue(
      [...seen].every((count) => count === MANY + 1 || count === 0),
      'others see nothing of its middle',
    )
    assertEqual((await db.check()).problems, [])
    await db.close()
    const again = await openBlog(place)
    assertEqual([await idsOf(again, 'users'), await idsOf(again, 'posts')], [['bob'], ['3', '4']])
    await again.close()
  })
}

async function checkQueries(db: Database): Promise<void> {
  const posts = db.collection<Fields>('posts')
  const found = async (collection: string, selector: object): Promise<string> =>
    (
      await db
        .collection<Fields>(collection)
        .find(selector as never)
        .sort('_id')
        .toArray()
    )
      .map(({ _id }) => _id)
      .join()
  assertEqual(await found('posts', { 'author.organization.name': 'Acme' }), '1,2')
  assertEqual(await found('posts', { 'author.name': { $ne: 'Ann' } }), '3')
  assertEqual(await found('posts', { 'tags.hot': true }), '1')
  assertEqual(await found('posts', { tags: { $every: { hot: false } } }), '3')
  assertEqual(await found('posts', { tags: { $none: {} } }), '2,4')
  assertEqual(await found('users', { 'posts_via_author.tags': 'old' }), 'ann,bob')
  assertEqual(
    await found('organizations', { users_via_organization: { $some: { 'posts_via_editor._id': '4' } } }),
    'blue',
  )
  const sorted = posts.find().sort('-author.name' as never, '_id')
  assertEqual((await sorted.toArray()).map(({ _id }) => _id).join(), '3,1,2,4')
  const [first] = await sorted.limit(1).populate('author.organization', 'tags').toArray()
  assertEqual((first!['author'] as Fields)['organization'], await db.collection('organizations').get('blue'))
  assertEqual(first!['tags'], [await db.collection('tags').get('old')])
  const { total, rows } = await posts
    .find({ 'author._id': 'ann' } as never)
    .limit(1)
    .page()
  assertEqual([total, rows.length], [2, 1])
}

async function idsOf(db: Database, collection: string): Promise<string[]> {
  return (await db.collection<Fields>(collection).find().sort('_id').toArray()).map(({ _id }) => _id)
}
