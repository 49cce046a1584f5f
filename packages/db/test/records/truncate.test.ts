/** Goal: a collection is emptied with all that follows from it, or stays as it is. */
import { expect, test } from 'vitest'
import { isPannierError, open, type Database } from '../../src/index.ts'
import { relateRecords, truncate } from '../../src/internal.ts'
import { memory } from '../../src/memory.ts'
import { slow } from '../../testing/slow-storage.ts'

type Fields = Record<string, unknown>

const RELATION = { many: false, cascade: false, required: false }

async function filled(storage = memory()): Promise<Database> {
  const db = (await open('truncate', { storage })) as Database
  await db
    .collection<Fields>('users')
    .insert(Array.from({ length: 350 }, (_, n) => ({ _id: `u${n}`, boss: `u${n + 1}` })))
  await db
    .collection<Fields>('posts')
    .insert(Array.from({ length: 500 }, (_, n) => ({ _id: `p${n}`, author: `u${n % 400}`, editor: `u${n % 300}` })))
  return db
}

async function counts(db: Database): Promise<number[]> {
  return Promise.all(['users', 'posts'].map((name) => db.collection(name).find().count()))
}

test('all documents are deleted; an unknown collection has none', async () => {
  const db = await filled(slow(memory(), 2) as never)
  expect(await truncate(db, 'users')).toBe(350)
  expect(await counts(db)).toEqual([0, 500])
  expect(await truncate(db, 'users')).toBe(0)
  expect(await truncate(db, 'none')).toBe(0)
  expect((await db.check()).ok).toBe(true)
  await db.close()
})

test('what follows from it is done, and references inside the collection are no reason', async () => {
  const db = await filled()
  await relateRecords(db, {
    users: { boss: { ...RELATION, to: 'users', required: true } },
    posts: { author: { ...RELATION, to: 'users', cascade: true }, editor: { ...RELATION, to: 'users' } },
  })
  expect(await truncate(db, 'users')).toBe(350)
  expect(await counts(db)).toEqual([0, 50])
  expect(await db.collection('posts').get('p350')).toMatchObject({ author: 'u350', editor: '' })
  await db.close()
})

test('nothing is deleted if another document needs one, or if it is cancelled', async () => {
  const db = await filled()
  await relateRecords(db, { posts: { author: { ...RELATION, to: 'users', required: true } } })
  await expect(truncate(db, 'users')).rejects.toSatisfy((error) => isPannierError(error, 'PANNIER_RELATION_BROKEN'))
  expect(await counts(db)).toEqual([350, 500])
  await relateRecords(db, {})
  const controller = new AbortController()
  const cancelled = truncate(db, 'users', { signal: controller.signal })
  controller.abort()
  await expect(cancelled).rejects.toSatisfy((error) => isPannierError(error, 'PANNIER_ABORTED'))
  expect(await counts(db)).toEqual([350, 500])
  await db.close()
})

test('others read on and see all of it or nothing; writes wait', async () => {
  const db = await filled(slow(memory(), 1) as never)
  const emptying = truncate(db, 'users')
  const writing = db.collection<Fields>('users').insert({ _id: 'later' })
  const seen = new Set<number>()
  let isOver = false
  void emptying.then(() => (isOver = true))
  while (!isOver) {
    seen.add(await db.collection('users').find().count())
    await new Promise((resolve) => setTimeout(resolve))
  }
  await writing
  expect([...seen].filter((count) => ![350, 0, 1].includes(count))).toEqual([])
  expect(await counts(db)).toEqual([1, 500])
  await db.close()
})

test('it is refused inside a transaction, which it would wait for', async () => {
  const db = await filled()
  const inside = db.transaction(() => truncate(db, 'users'))
  await expect(inside).rejects.toSatisfy((error) => isPannierError(error, 'PANNIER_DEADLOCK'))
  await db.close()
})
