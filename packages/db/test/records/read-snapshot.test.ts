/** Goal: whatever is written meanwhile, all reads of one snapshot agree. */
import { expect, test } from 'vitest'
import { isPannierError, open, type Database } from '../../src/index.ts'
import { readSnapshot, relateRecords, selectionQuery, type SnapshotReader } from '../../src/internal.ts'
import { memory } from '../../src/memory.ts'
import { slow } from '../../testing/slow-storage.ts'
import { seededRandom } from '../../testing/random.ts'
import { seedsOf } from '../../../../tools/test/seeds.ts'

type Fields = Record<string, unknown>

const ALL = { kind: 'and', of: [] } as const

async function blog(storage = memory()): Promise<Database> {
  const db = (await open('snapshots', { storage })) as Database
  await relateRecords(db, { posts: { author: { to: 'users', many: false, cascade: true, required: false } } })
  return db
}

test('a list, its total, its related documents and what a rule reads are of one state', async () => {
  const db = await blog()
  const [users, posts] = [db.collection<Fields>('users'), db.collection<Fields>('posts')]
  await users.insert([{ _id: 'a', name: 'Ann' }])
  await posts.insert(['p1', 'p2', 'p3'].map((_id) => ({ _id, author: 'a' })))
  await readSnapshot(db, async (reader) => {
    const list = selectionQuery(reader.collection('posts'), ALL).sort('author.name', '_id').limit(2)
    const { rows, total } = await list.page()
    await users.delete('a')
    expect(await posts.find().count()).toBe(0)
    expect([rows.length, total, await list.count()]).toEqual([2, 3, 3])
    expect(await reader.collection('users').get('a')).toMatchObject({ name: 'Ann' })
    expect((await reader.collection('posts').find({ 'author.name': 'Ann' }).toArray()).length).toBe(3)
    expect((await reader.collection('posts').list().page()).total).toBe(3)
    const found = await reader.via('posts', 'author', ['a', 'b'], 2)
    expect([...found].map(([id, documents]) => [id, documents.map(({ _id }) => _id)])).toEqual([
      ['a', ['p1', 'p2']],
      ['b', []],
    ])
    expect(await reader.read((guard) => [guard.get('users', 'a')!['name'], guard.all('posts').length])).toEqual([
      'Ann',
      3,
    ])
  })
  await db.close()
})

test('a selection and its complement are answered without a walk, in the order of ids too', async () => {
  const db = await blog()
  const [users, posts] = [db.collection<Fields>('users'), db.collection<Fields>('posts')]
  await users.insert(Array.from({ length: 200 }, (_, at) => ({ _id: `u${at}`, age: at })))
  await posts.insert(Array.from({ length: 5000 }, (_, at) => ({ _id: `p${at}`, author: `u${at % 200}` })))
  const of = { kind: 'compare', field: 'age', isLength: false, operator: '>', value: -1 } as const
  const authors = { kind: 'related', step: 'to', collection: 'users', field: 'author', on: [], of } as const
  const none = { kind: 'and', of: [authors, { kind: 'not', of: authors }] } as const
  const query = selectionQuery(posts, none).sort('_id').limit(3)
  expect(await query.page()).toEqual({ rows: [], total: 0 })
  const { rows, plan } = await query.explain()
  expect(rows).toBe(0)
  expect(JSON.stringify(plan)).not.toContain('id scan')
  await db.close()
})

test('documents that refer to one come in the order of creation, with an index and without', async () => {
  for (const field of ['author', 'editor']) {
    const db = await blog()
    for (const _id of ['c', 'a', 'd', 'b']) await db.collection<Fields>('posts').insert({ _id, [field]: 'x' })
    await db.collection<Fields>('posts').update('c', { title: 'changed' })
    const ids = await readSnapshot(db, async (reader) => (await reader.via('posts', field, ['x'], 3)).get('x')!)
    expect(ids.map(({ _id }) => _id)).toEqual(['c', 'a', 'd'])
    await db.close()
  }
})

test('a snapshot can be read in its function alone, and not be written', async () => {
  const db = await blog()
  await db.collection('posts').insert({ _id: 'p' })
  const kept = await readSnapshot(db, async (reader: SnapshotReader) => {
    const posts = reader.collection('posts') as never as { insert(document: object): Promise<unknown> }
    await expect(posts.insert({})).rejects.toThrow('a snapshot is only read')
    return reader
  })
  const code = (error: unknown): boolean => isPannierError(error, 'PANNIER_TRANSACTION_ENDED')
  await expect(kept.collection('posts').get('p')).rejects.toSatisfy(code)
  await expect(kept.collection('posts').find().toArray()).rejects.toSatisfy(code)
  await expect(kept.via('posts', 'author', ['a'])).rejects.toSatisfy(code)
  await expect(readSnapshot(db, () => Promise.reject(new Error('mine')))).rejects.toThrow('mine')
  await db.close()
})

test('a collection that has to be migrated is migrated first', async () => {
  const storage = memory()
  const before = await open('snapshots', { storage })
  await before.collection('posts').insert([{ _id: 'p', title: 'a' }])
  await before.close()
  const db = (await open('snapshots', { storage })) as Database
  let migrations = 0
  db.collection('posts', {
    version: 2,
    migrations: {
      2: (document: object) => {
        migrations++
        return { ...document, isNew: true }
      },
    },
  })
  const found = await readSnapshot(db, (reader) => reader.collection('posts').find().toArray())
  expect(found).toMatchObject([{ _id: 'p', isNew: true }])
  expect(migrations).toBeGreaterThan(0)
  await db.close()
})

for (const seed of seedsOf('race', 2))
  test(`reads agree beside random writes, seed ${seed} (replay: SEED=${seed} SEEDS=1)`, async () => {
    const random = seededRandom(seed)
    const db = await blog(slow(memory(), 3) as never)
    const [users, posts] = [db.collection<Fields>('users'), db.collection<Fields>('posts')]
    await users.upsert([0, 1, 2].map((n) => ({ _id: `u${n}`, posts: 0 })))
    let isOver = false
    const write = async (): Promise<void> => {
      while (!isOver) {
        const author = `u${random.below(3)}`
        await db.transaction(async (tx) => {
          await tx.collection<Fields>('posts').insert({ author })
          await tx
            .collection<Fields>('users')
            .update(author, (user) => ({ ...user, posts: (user['posts'] as number) + 1 }))
        })
      }
    }
    const writing = write()
    for (let round = 0; round < 30; round++)
      await readSnapshot(db, async (reader) => {
        const authors = await reader.collection('users').find().sort('_id').toArray()
        const byAuthor = await reader.via(
          'posts',
          'author',
          authors.map(({ _id }) => _id),
        )
        let sum = 0
        for (const { _id, posts: count } of authors as unknown as { _id: string; posts: number }[]) {
          sum += count
          expect(byAuthor.get(_id)!.length).toBe(count)
          const of = { kind: 'compare', field: 'author', isLength: false, operator: '=', value: _id } as const
          expect(await selectionQuery(reader.collection('posts'), of).count()).toBe(count)
        }
        expect((await reader.collection('posts').info()).documents).toBe(sum)
        expect(await reader.read((guard) => guard.all('posts').length)).toBe(sum)
      })
    isOver = true
    await writing
    expect(await posts.find().count()).toBeGreaterThan(0)
    await db.close()
  })
