/** Goal: a delete takes along, changes or is refused by the documents that refer to it, all of it or nothing. */
import { expect, test } from 'vitest'
import { open, type Database } from '../../src/index.ts'
import { memory } from '../../src/memory.ts'
import { slow } from '../../testing/slow-storage.ts'
import type { DatabaseStorage } from '../../src/storage/page-store.ts'

type Fields = Record<string, unknown>

const blog = (storage: DatabaseStorage = memory()): Promise<Database> =>
  open('followed', {
    storage,
    collections: {
      organizations: {},
      tags: {},
      users: {
        relations: {
          organization: { to: 'organizations', onDelete: 'cascade' },
          boss: { to: 'users', onDelete: 'unset' },
          friend: { to: 'users', onDelete: 'cascade' },
        },
      },
      posts: {
        relations: {
          author: { to: 'users', onDelete: 'cascade' },
          tags: { to: 'tags', many: true, onDelete: 'unset' },
          editor: { to: 'users', onDelete: 'restrict' },
          reader: 'users',
        },
      },
    },
  }) as Promise<Database>

async function ids(db: Database, collection: string): Promise<string[]> {
  return (await db.collection<Fields>(collection).find().toArray()).map(({ _id }) => _id)
}

for (const [where, storage] of [
  ['memory', () => memory()],
  ['a slow storage', () => slow(memory(), 5)],
] as const)
  test(`cascades continue, ids are removed, what nothing is said of stays, on ${where}`, async () => {
    const db = await blog(storage())
    await db.collection('organizations').insert([{ _id: 'o1' }, { _id: 'o2' }])
    await db.collection('tags').insert([{ _id: 't1' }, { _id: 't2' }])
    await db.collection<Fields>('users').insert([
      { _id: 'u1', organization: 'o1' },
      { _id: 'u2', organization: 'o2', boss: 'u1' },
      { _id: 'u3', organization: 'o2', friend: 'u1' },
      { _id: 'u4', organization: 'o1', friend: 'u4', boss: 'u4' },
    ])
    await db.collection<Fields>('posts').insert([
      { _id: 'p1', author: 'u1', tags: ['t1'] },
      { _id: 'p2', author: 'u2', tags: ['t1', 't2', 't1'], reader: 'u1' },
      { _id: 'p3', author: 'u3', tags: 't1' },
    ])
    await db.flush()
    await db.collection('organizations').delete('o1')
    expect(await ids(db, 'users')).toEqual(['u2'])
    expect(await ids(db, 'posts')).toEqual(['p2'])
    expect(await db.collection<Fields>('users').get('u2')).not.toHaveProperty('boss')
    expect(await db.collection<Fields>('posts').get('p2')).toMatchObject({ reader: 'u1', tags: ['t1', 't2', 't1'] })
    await db.collection<Fields>('tags').put({ ...(await db.collection<Fields>('tags').get('t1'))!, _deleted: true })
    expect(await db.collection<Fields>('posts').get('p2')).toMatchObject({ tags: ['t2'] })
    const gone = (await db.collection('posts').changes().toArray()).filter(({ deleted }) => deleted)
    expect(gone.map(({ id, changes }) => [id, changes[0]!.rev.slice(0, 2)])).toEqual([
      ['p1', '2-'],
      ['p3', '2-'],
    ])
    expect((await db.check()).ok).toBe(true)
    await db.close()
  })

test('restrict refuses the delete and all of its batch, unless what refers goes with it', async () => {
  const db = await blog()
  const [users, posts] = [db.collection<Fields>('users'), db.collection<Fields>('posts')]
  await db.collection('organizations').insert({ _id: 'o' })
  await users.insert(['a', 'b', 'c'].map((_id) => ({ _id, organization: 'o' })))
  await posts.insert([
    { _id: 'p1', author: 'a', editor: 'b' },
    { _id: 'p2', author: 'a', editor: 'b' },
  ])
  const refusal = {
    code: 'PANNIER_RELATION_BROKEN',
    details: { id: 'b', relation: 'posts_via_editor', referring: 'p1', count: 2 },
  }
  await expect(users.delete(['c', 'b'])).rejects.toMatchObject(refusal)
  await expect(users.upsert({ _id: 'b', _deleted: true })).rejects.toMatchObject(refusal)
  await expect(users.update('b', (user) => ({ ...user, _deleted: true }))).rejects.toMatchObject(refusal)
  expect(await ids(db, 'users')).toEqual(['a', 'b', 'c'])
  const outcomes = await users.delete(['c', 'b', 'missing'], { atomic: false })
  expect(outcomes).toMatchObject([{ id: 'c' }, { id: 'b', error: refusal }, undefined])
  const put = await users.upsert([{ _id: 'd' }, { _id: 'b', _deleted: true }, { _id: 'd', _deleted: true }], {
    atomic: false,
  })
  expect(put).toMatchObject([{ id: 'd' }, { id: 'b', error: refusal }, { id: 'd' }])
  expect(await ids(db, 'users')).toEqual(['a', 'b'])
  await db.collection('organizations').delete('o')
  expect([...(await ids(db, 'users')), ...(await ids(db, 'posts'))]).toEqual([])
  await db.close()
})

test('inside a transaction it is a step like others, and is undone with it', async () => {
  const db = await blog()
  const users = db.collection<Fields>('users')
  await users.insert([{ _id: 'a' }, { _id: 'b', friend: 'a' }])
  await db.collection<Fields>('posts').insert({ _id: 'p', author: 'b' })
  const failing = db.transaction(async (tx) => {
    await tx.collection('users').delete('a')
    expect(await tx.collection('posts').find().count()).toBe(0)
    throw new Error('no')
  })
  await expect(failing).rejects.toThrow('no')
  expect(await ids(db, 'posts')).toEqual(['p'])
  await db.transaction(async (tx) => {
    await tx.collection<Fields>('posts').insert({ _id: 'q', editor: 'a' })
    await expect(tx.collection('users').delete('a')).rejects.toMatchObject({ code: 'PANNIER_RELATION_BROKEN' })
    await tx.collection('posts').delete('q')
    await tx.collection('users').delete('a')
  })
  expect([...(await ids(db, 'users')), ...(await ids(db, 'posts'))]).toEqual([])
  await db.close()
})

test('deletes wait for the index of a relation, and for a migration of what refers', async () => {
  const storage = memory()
  const before = await open('followed', { storage })
  await before.collection<Fields>('users').insert({ _id: 'ann' })
  await before.collection<Fields>('users').insert({ _id: 'bob' })
  const posts = Array.from({ length: 3000 }, (_, n) => ({ _id: `p${n}`, author: n % 2 === 0 ? 'ann' : 'bob' }))
  await before.collection<Fields>('posts').insert(posts)
  await before.close()
  const collections = {
    users: {},
    posts: {
      version: 2,
      migrations: { 2: (post: object) => ({ ...post, migrated: true }) },
      relations: { author: { to: 'users', onDelete: 'cascade' } },
    },
  } as const
  const db = (await open('followed', { storage, collections })) as unknown as Database
  await db.collection('users').delete('ann')
  expect(await db.collection('posts').find().count()).toBe(1500)
  await db.transaction((tx) => tx.collection('users').delete('bob'))
  expect(await db.collection('posts').find().count()).toBe(0)
  await db.close()
})

test('replicated deletes have no further consequences', async () => {
  const db = await blog()
  const users = db.collection<Fields>('users')
  await users.insert([{ _id: 'a' }, { _id: 'b', friend: 'a' }])
  const { _rev } = (await users.get('a'))!
  await users.put(
    { _id: 'a', _rev: '2-x', _revisions: { start: 2, ids: ['x', _rev.slice(2)] }, _deleted: true },
    { newEdits: false },
  )
  expect(await ids(db, 'users')).toEqual(['b'])
  await db.close()
})

test('of a document with conflicts each leaf goes that wins and refers', async () => {
  const db = await blog()
  const users = db.collection<Fields>('users')
  await users.insert(['a', 'b'].map((_id) => ({ _id })))
  await users.put(
    [
      { _id: 'c', _rev: '1-a', friend: 'a' },
      { _id: 'c', _rev: '1-b', friend: 'b' },
      { _id: 'c', _rev: '1-c', friend: 'a' },
    ],
    { newEdits: false },
  )
  await users.delete('a')
  expect(await users.get('c')).toMatchObject({ friend: 'b' })
  await users.insert({ _id: 'a' })
  await users.delete(['a', 'b'])
  expect(await ids(db, 'users')).toEqual([])
  await db.close()
})

test('a delete of many documents is whole, and others see nothing of its middle', async () => {
  const db = await blog()
  await db.collection('organizations').insert([{ _id: 'o' }, { _id: 'other' }])
  const userIds = Array.from({ length: 40 }, (_, n) => `u${n}`)
  await db.collection<Fields>('users').insert(userIds.map((_id) => ({ _id, organization: 'o' })))
  const posts = db.collection<Fields>('posts')
  await posts.insert(Array.from({ length: 4000 }, (_, n) => ({ _id: `p${n}`, author: userIds[n % 40] })))
  const deleting = db.collection('organizations').delete('o')
  const seen = new Set<number>()
  let isOver = false
  void deleting.then(() => (isOver = true))
  while (!isOver) {
    seen.add(await posts.find().count())
    await new Promise((resolve) => setImmediate(resolve))
  }
  await deleting
  seen.add(await posts.find().count())
  expect([...seen]).toEqual([4000, 0])
  await posts.insert({ _id: 'q', editor: 'u' })
  await db.collection<Fields>('users').insert({ _id: 'u', organization: 'other' })
  await posts.insert(Array.from({ length: 600 }, (_, n) => ({ _id: `p${n}`, author: 'u' })))
  await expect(db.collection('organizations').delete('other')).rejects.toMatchObject({
    details: { relation: 'posts_via_editor', count: 1 },
  })
  expect(await posts.find().count()).toBe(601)
  expect((await db.check()).ok).toBe(true)
  await db.close()
})
