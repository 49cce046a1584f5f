/** Goal: `check: true` refuses what leads nowhere, and nothing else. */
import { expect, test } from 'vitest'
import { open, type Database } from '../../src/index.ts'
import { memory } from '../../src/memory.ts'
import { slow } from '../../testing/slow-storage.ts'
import type { DatabaseStorage } from '../../src/storage/page-store.ts'

type Fields = Record<string, unknown>

const opened = (storage: DatabaseStorage = memory()): Promise<Database> =>
  open('checked', {
    storage,
    collections: {
      tags: {},
      users: { relations: { boss: { to: 'users', check: true } }, indexes: [{ on: 'email', unique: true }] },
      posts: {
        relations: {
          author: { to: 'users', check: true },
          tags: { to: 'tags', many: true, check: true },
          free: 'users',
        },
      },
    },
  }) as Promise<Database>

const leadsNowhere = (id: string, relation: string, ...missing: string[]): object => ({
  code: 'PANNIER_RELATION_BROKEN',
  details: { id, relation, missing },
})

for (const [where, storage] of [
  ['memory', memory()],
  ['a slow storage', slow(memory(), 3)],
] as const)
  test(`single and many, on ${where}`, async () => {
    const db = await opened(storage)
    const [users, posts, tags] = [db.collection<Fields>('users'), db.collection<Fields>('posts'), db.collection('tags')]
    await expect(posts.insert({ _id: 'p', author: 'ann' })).rejects.toMatchObject(leadsNowhere('p', 'author', 'ann'))
    await users.insert({ _id: 'ann' })
    await tags.insert([{ _id: 'a' }, { _id: 'b' }])
    await db.flush()
    await posts.insert({ _id: 'p', author: 'ann', tags: ['a', 'b'], free: 'nobody' })
    await posts.insert([
      { _id: 'none' },
      { _id: 'null', author: null, tags: [] },
      { _id: 'number', author: 5, tags: 7 },
    ])
    await expect(posts.insert({ author: '', _id: 'q' })).rejects.toMatchObject(leadsNowhere('q', 'author', ''))
    const long = 'x'.repeat(5000)
    await expect(posts.upsert({ _id: 'q', author: long })).rejects.toMatchObject(leadsNowhere('q', 'author', long))
    await expect(posts.update('p', { tags: ['a', 'x', 'y'] })).rejects.toMatchObject(
      leadsNowhere('p', 'tags', 'x', 'y'),
    )
    await expect(posts.update('p', { tags: 'z' })).rejects.toMatchObject(leadsNowhere('p', 'tags', 'z'))
    expect(await posts.get('p')).toMatchObject({ tags: ['a', 'b'] })
    await db.close()
  })

test('what a document referred to before may stay, whatever became of it', async () => {
  const db = await opened()
  const [users, posts] = [db.collection<Fields>('users'), db.collection<Fields>('posts')]
  await users.insert({ _id: 'ann' })
  await posts.insert({ _id: 'p', author: 'ann' })
  await users.delete('ann')
  await posts.update('p', { title: 'changed' })
  await expect(posts.insert({ _id: 'q', author: 'ann' })).rejects.toMatchObject(leadsNowhere('q', 'author', 'ann'))
  await posts.delete('p')
  await expect(posts.upsert({ _id: 'p', author: 'ann' })).rejects.toMatchObject(leadsNowhere('p', 'author', 'ann'))
  await db.close()
})

test('replicated documents are never refused', async () => {
  const db = await opened()
  const posts = db.collection<Fields>('posts')
  await posts.put({ _id: 'p', _rev: '1-a', author: 'ann' }, { newEdits: false })
  expect(await posts.get('p')).toMatchObject({ author: 'ann' })
  await db.close()
})

test('documents of a batch count in their own collection, unless they are refused or deleted', async () => {
  const db = await opened()
  const users = db.collection<Fields>('users')
  await users.insert([
    { _id: 'a', boss: 'b' },
    { _id: 'b', boss: 'a', email: 'b@x' },
    { _id: 'c', boss: 'c' },
  ])
  const outcomes = await users.upsert(
    [
      { _id: 'd', boss: 'e' },
      { _id: 'e', boss: 'f' },
      { _id: 'f', boss: 'nobody' },
      { _id: 'g', boss: 'b' },
      { _id: 'h', boss: 'i' },
      { _id: 'i', email: 'b@x' },
      { _id: 'j', boss: 'c' },
      { _id: 'c', _deleted: true },
    ],
    { atomic: false },
  )
  expect(outcomes.map((one) => ('error' in one ? [one.id, one.error.code] : one.id))).toEqual([
    ['d', 'PANNIER_RELATION_BROKEN'],
    ['e', 'PANNIER_RELATION_BROKEN'],
    ['f', 'PANNIER_RELATION_BROKEN'],
    'g',
    ['h', 'PANNIER_RELATION_BROKEN'],
    ['i', 'PANNIER_NOT_UNIQUE'],
    ['j', 'PANNIER_RELATION_BROKEN'],
    'c',
  ])
  await db.close()
})

test('a refused document keeps its key in a unique index', async () => {
  const db = await opened()
  const users = db.collection<Fields>('users')
  await users.insert({ _id: 'a', email: 'a@x' })
  const outcomes = await users.upsert(
    [
      { _id: 'a', email: 'new@x', boss: 'nobody' },
      { _id: 'b', email: 'a@x' },
    ],
    { atomic: false },
  )
  expect(outcomes).toMatchObject([
    { error: { code: 'PANNIER_RELATION_BROKEN' } },
    { error: { code: 'PANNIER_NOT_UNIQUE' } },
  ])
  await db.close()
})

test('a transaction sees what its steps have written; nothing of a refused batch is', async () => {
  const db = await opened()
  await db.transaction(async (tx) => {
    await tx.collection<Fields>('users').insert({ _id: 'ann' })
    await tx.collection<Fields>('posts').insert({ _id: 'p', author: 'ann' })
    const refused = tx.collection<Fields>('posts').insert([{ _id: 'q' }, { _id: 'r', author: 'bob' }])
    await expect(refused).rejects.toMatchObject(leadsNowhere('r', 'author', 'bob'))
  })
  expect(await db.collection('posts').find().count()).toBe(1)
  await db.close()
})
