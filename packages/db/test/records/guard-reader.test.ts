/** Goal: a guard reads all that a rule may ask for, as of its own write, and never without bounds. */
import { expect, test } from 'vitest'
import { open, PannierError, type Database } from '../../src/index.ts'
import { guarded, relateRecords, type DocumentGuard, type GuardReader } from '../../src/internal.ts'
import { memory } from '../../src/memory.ts'
import { slow } from '../../testing/slow-storage.ts'

type Fields = Record<string, unknown>

/** What a guard reads while a document is written into `posts`. */
async function readBy<T>(db: Database, read: (reader: GuardReader) => T): Promise<T> {
  let found: T
  const guard: DocumentGuard = ({ reader }) => {
    found = read(reader)
    return new PannierError('PANNIER_DOCUMENT_INVALID', 'It only reads.')
  }
  await guarded(db.collection<Fields>('posts'), guard)
    .insert({})
    .catch(() => {})
  return found!
}

for (const [what, isRelated] of [
  ['by an index', true],
  ['without one', false],
] as const)
  test(`documents are found by what they refer to, ${what}`, async () => {
    const db = await open('guards', { storage: slow(memory(), 3) })
    const relation = { to: 'users', cascade: false, required: false }
    if (isRelated)
      await relateRecords(db, { posts: { author: { ...relation, many: false }, editors: { ...relation, many: true } } })
    const posts = db.collection<Fields>('posts')
    await posts.insert([
      { _id: 'p1', author: 'a', editors: ['a', 'b'] },
      { _id: 'p2', author: 'b', editors: ['b', 'b'] },
      { _id: 'p3', author: '', editors: [] },
      { _id: 'p4' },
    ])
    await db.flush()
    const ids = (field: string, id: string) => (reader: GuardReader) =>
      reader
        .via('posts', field, id)
        .map(({ _id }) => _id)
        .sort()
    expect(await readBy(db, ids('author', 'a'))).toEqual(['p1'])
    expect(await readBy(db, ids('editors', 'b'))).toEqual(['p1', 'p2'])
    expect(await readBy(db, ids('editors', 'c'))).toEqual([])
    expect(await readBy(db, (reader) => reader.via('none', 'author', 'a'))).toEqual([])
    expect(await readBy(db, (reader) => reader.all('posts').map(({ _id }) => _id))).toEqual(['p1', 'p2', 'p3', 'p4'])
    expect(await readBy(db, (reader) => reader.all('none'))).toEqual([])
    await db.close()
  })

test('a guard sees what writes before it in its group have written', async () => {
  const db = await open('guards', { storage: memory() })
  await relateRecords(db, { posts: { author: { to: 'users', many: false, cascade: false, required: false } } })
  const posts = db.collection<Fields>('posts')
  const seen: number[][] = []
  const guard: DocumentGuard = ({ reader }) => {
    seen.push([reader.via('posts', 'author', 'a').length, reader.all('posts').length])
    return undefined
  }
  const writes = guarded(posts, guard)
  await Promise.all(['p1', 'p2', 'p3'].map((_id) => writes.insert({ _id, author: 'a' })))
  expect(seen).toEqual([
    [0, 0],
    [1, 1],
    [2, 2],
  ])
  await db.transaction(async (tx) => {
    const inside = guarded(tx.collection<Fields>('posts'), guard)
    await inside.update('p1', { author: 'b' })
    await inside.insert({ _id: 'p4', author: 'b' })
  })
  expect(seen.slice(3)).toEqual([
    [3, 3],
    [2, 3],
  ])
  await db.close()
})

test('a read of too many documents is an error that says what was read', async () => {
  const db = await open('guards', { storage: memory() })
  await relateRecords(db, { posts: { author: { to: 'users', many: false, cascade: false, required: false } } })
  await db.collection<Fields>('posts').insert(Array.from({ length: 10_001 }, () => ({ author: 'a' })))
  const errorOf = (read: (reader: GuardReader) => unknown) => (reader: GuardReader) => {
    try {
      return read(reader)
    } catch (error) {
      return (error as Error).message
    }
  }
  expect(
    await readBy(
      db,
      errorOf((reader) => reader.all('posts')),
    ),
  ).toBe("A rule reads 10001 documents at once, as all of 'posts' is read: at most 10000 are read.")
  expect(
    await readBy(
      db,
      errorOf((reader) => reader.via('posts', 'author', 'a')),
    ),
  ).toMatch(/^A rule reads 10001 documents at once, as the field 'author' of 'posts' leads to 'a'/)
  await db.close()
})

test('whether ids have documents is answered without a look at them', async () => {
  const db = await open('guards', { storage: slow(memory(), 3) })
  await db.collection<Fields>('posts').insert([{ _id: 'b' }, { _id: 'a', large: 'x'.repeat(100_000) }, { _id: 'c' }])
  await db.collection<Fields>('posts').delete('c')
  await db.flush()
  const asked = ['c', 'b', 'none', 'a']
  expect(await readBy(db, (reader) => reader.has('posts', asked))).toEqual([false, true, false, true])
  expect(await readBy(db, (reader) => reader.has('none', ['a']))).toEqual([false])
  await db.close()
})
