/** Goal: relations that are data come and go, and the library follows those of the moment. */
import { expect, test } from 'vitest'
import { isPannierError, open, type Collection } from '../../src/index.ts'
import { guarded, relateRecords, type RecordRelation } from '../../src/internal.ts'
import { memory } from '../../src/memory.ts'

type Fields = Record<string, unknown>

const ONE: RecordRelation = { to: 'users', many: false, cascade: false, required: false }
const MANY: RecordRelation = { ...ONE, many: true }

async function indexesOf(collection: Collection<Fields>): Promise<unknown[]> {
  return (await collection.indexes()).map(({ name, multi, ready }) => [name, multi, ready])
}

test('a relation has an index of its own as long as it is declared', async () => {
  const db = await open('relate', { storage: memory() })
  const posts = db.collection<Fields>('posts', { indexes: ['author'] })
  await posts.insert({ _id: 'p', author: 'u' })
  await posts.ready()
  await relateRecords(db, { posts: { author: ONE } })
  expect(await indexesOf(posts)).toEqual([
    ['author', false, true],
    ['relation author', false, true],
  ])
  await relateRecords(db, { posts: { author: MANY } })
  expect(await indexesOf(posts)).toContainEqual(['relation author', true, true])
  await relateRecords(db, {})
  expect(await indexesOf(posts)).toEqual([['author', false, true]])
  await db.close()
})

test('a relation of an earlier run loses its index if it is not declared again', async () => {
  const storage = memory()
  const first = await open('relate', { storage })
  await first.collection('posts').insert({ _id: 'p' })
  await relateRecords(first, { posts: { author: ONE } })
  await first.close()
  const second = await open('relate', { storage })
  await relateRecords(second, {})
  expect(await indexesOf(second.collection('posts'))).toEqual([])
  await second.close()
})

test('queries, sorts and populated rows follow the relations of the moment', async () => {
  const db = await open('relate', { storage: memory() })
  const [users, posts] = [db.collection<Fields>('users'), db.collection<Fields>('posts')]
  await users.insert([
    { _id: 'a', name: 'Ann' },
    { _id: 'b', name: 'Bob' },
  ])
  await posts.insert([
    { _id: 'p', author: 'b' },
    { _id: 'q', author: 'a' },
  ])
  await relateRecords(db, { posts: { author: ONE } })
  expect(await posts.find({ 'author.name': 'Ann' }).count()).toBe(1)
  const [first] = await posts.find().sort('author.name').populate('author').toArray()
  expect(first).toMatchObject({ _id: 'q', author: { name: 'Ann' } })
  await relateRecords(db, {})
  expect(await posts.find({ 'author.name': 'Ann' }).count()).toBe(0)
  await db.close()
})

test('more documents than one step takes lose an id, then go with the last one', async () => {
  const db = await open('relate', { storage: memory() })
  const [users, posts] = [db.collection<Fields>('users'), db.collection<Fields>('posts')]
  await relateRecords(db, { posts: { authors: { ...MANY, cascade: true } } })
  await users.insert([{ _id: 'a' }, { _id: 'b' }, { _id: 'c' }])
  const documents = Array.from({ length: 450 }, (_, n) => ({ _id: `p${n}`, authors: n % 3 === 0 ? ['a'] : ['a', 'b'] }))
  await posts.insert(documents)
  const writes = guarded(users, () => undefined)
  await writes.delete('a')
  expect(await posts.find().count()).toBe(300)
  expect(await posts.get('p1')).toMatchObject({ authors: ['b'] })
  await writes.delete(['b', 'c'])
  expect(await posts.find().count()).toBe(0)
  await db.close()
})

test('an id may be of one of several collections, and goes with its document', async () => {
  const db = await open('relate', { storage: memory() })
  const logins = db.collection<Fields>('logins')
  await relateRecords(db, { logins: { account: { ...ONE, to: ['users', 'clerks'], cascade: true } } })
  await db.collection('users').insert([{ _id: 'a' }, { _id: 'b' }])
  await db.collection('clerks').insert({ _id: 'c' })
  await logins.insert(['a', 'b', 'c'].map((account) => ({ _id: `of ${account}`, account })))
  await db.collection('clerks').delete('c')
  await db.collection('users').delete('a')
  expect((await logins.find().toArray()).map(({ _id }) => _id)).toEqual(['of b'])
  expect(await indexesOf(logins)).toEqual([['relation account', false, true]])
  await db.close()
})

test('a required relation refuses to lose its last id, whatever the batch', async () => {
  const db = await open('relate', { storage: memory() })
  const [users, posts] = [db.collection<Fields>('users'), db.collection<Fields>('posts')]
  await relateRecords(db, { posts: { authors: { ...MANY, required: true }, editor: { ...ONE, required: true } } })
  await users.insert(['a', 'b', 'c', 'd'].map((_id) => ({ _id })))
  await posts.insert({ _id: 'p', authors: ['a', 'b'], editor: 'd' })
  const refused = async (ids: string[]): Promise<unknown> =>
    users.delete(ids).then(
      () => 'deleted',
      (error: unknown) => isPannierError(error, 'PANNIER_RELATION_BROKEN') && error.details,
    )
  expect(await refused(['a', 'b'])).toMatchObject({ referring: 'p', relation: 'posts_via_authors' })
  expect(await refused(['d'])).toMatchObject({ id: 'd', referring: 'p', relation: 'posts_via_editor' })
  expect(await refused(['a'])).toBe('deleted')
  expect(await refused(['b'])).toMatchObject({ id: 'b', referring: 'p' })
  expect(await posts.get('p')).toMatchObject({ authors: ['b'], editor: 'd' })
  await db.close()
})

test('a delete that was asked for before its relation went is not held up by the index that is gone', async () => {
  const db = await open('relate', { storage: memory() })
  const [users, posts] = [db.collection<Fields>('users'), db.collection<Fields>('posts')]
  await relateRecords(db, { posts: { author: { ...ONE, cascade: true } } })
  await users.insert([{ _id: 'a' }, { _id: 'b' }])
  await posts.insert([
    { _id: 'p', author: 'a' },
    { _id: 'q', author: 'b' },
  ])
  const held = guarded(users, () => undefined)
  await Promise.all([relateRecords(db, {}), held.delete('a')])
  await held.delete('b')
  // Either comes first: the delete takes `p` along, or the relation has gone. Later nothing goes along.
  const kept = await posts.find().sort('_id').toArray()
  expect(kept.at(-1)).toMatchObject({ _id: 'q', author: 'b' })
  expect(kept.length === 1 || kept[0]!['author'] === 'a').toBe(true)
  expect(await users.find().toArray()).toEqual([])
  await db.close()
})
