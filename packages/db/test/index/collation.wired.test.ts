/** Indexes in an order of strings that was registered: built, maintained, checked; and what a process does that does not know the order. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { importAgain } from '../../../../tools/test/mutants.ts'
import { open, registerCollation } from '../../src/index.ts'
import type * as pannier from '../../src/index.ts'
import { memory } from '../../src/memory.ts'
import { TEST_COLLATION } from '../../testing/query-cases.ts'

const meaning = { dialect: 'couchdb', collation: TEST_COLLATION.name } as const
const INDEX = { on: ['name', '_id'], name: 'by name', ...meaning } as const
const NAMES = ['bar', 'Äpfel', 'zoo', 'Zoo', 'apple', 'Bar', 7, ['b'], { b: 'A' }]

type Named = { readonly _id: string; readonly name: unknown }
const documents: Named[] = NAMES.map((name, at) => ({ _id: `d${at}`, name }))

test('built later, or kept in step with each write, it holds the same', async () => {
  await using db = await open('built', { storage: memory() })
  const before = db.collection<Named>('before', { indexes: [INDEX] })
  const after = db.collection<Named>('after')
  for (const collection of [before, after]) {
    await collection.insert(documents)
    await collection.update('d0', (old) => ({ ...old, name: 'BAR' }))
    await collection.delete('d2')
  }
  db.collection<Named>('after', { indexes: [INDEX] })
  await after.ready()
  for (const collection of [before, after]) {
    const query = collection.find({ name: { $gte: 'C' } }, meaning).sort('name', '_id')
    const { sortedByIndex } = await query.explain()
    expect(sortedByIndex).toBe(true)
    expect((await query.toArray()).map(({ _id }) => _id)).toEqual(['d0', 'd5', 'd4', 'd1', 'd7', 'd8'])
    expect(await collection.find({ name: 'bar' }, meaning).count()).toBe(2)
    expect(await collection.find({ name: 'bar' }).count()).toBe(0)
  }
  expect((await db.check()).problems).toEqual([])
})

test('an order that is not known is refused, and so is what does not go with it', async () => {
  await using db = await open('refused', { storage: memory() })
  const collection = db.collection<Named>('c')
  const unknown = { dialect: 'couchdb', collation: 'unknown 1' } as const
  expect(() => collection.find({}, unknown)).toThrow(TypeError)
  expect(() => collection.find({}, { collation: TEST_COLLATION.name })).toThrow(TypeError)
  expect(() => collection.find({}, { dialect: 'x' as 'couchdb' })).toThrow(TypeError)
  expect(() => db.collection('c', { indexes: [{ on: 'name', ...unknown }] })).toThrow(TypeError)
  expect(() => db.collection('c', { indexes: [{ on: 'name', multi: true, ...meaning }] })).toThrow(TypeError)
  expect(() => registerCollation({ name: '', key: (text) => text })).toThrow(TypeError)
  expect(() => registerCollation({ name: 'x' } as never)).toThrow(TypeError)
})

test('a process that does not know the order goes without the index, and forgets it with its first write', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'pannier-collation-'))
  const path = join(dir, 'db')
  const names = async (opening: typeof open): Promise<string[]> => {
    await using db = await opening(path)
    return (await db.collection<Named>('c').indexes()).map(({ name }) => name)
  }
  try {
    {
      await using db = await open(path, { collections: { c: { indexes: [INDEX, 'name'] } } })
      await db.collection<Named>('c').insert(documents)
    }
    // As another process would: what is known of collations is gone.
    const stranger = await importAgain<typeof pannier>('packages/db/src/index.ts', ['packages/db/src'])
    expect(await names(stranger.open)).toEqual(['name'])
    {
      await using db = await stranger.open(path)
      await db.collection<Named>('c').insert({ _id: 'new', name: 'bar' })
      expect((await db.check()).problems).toEqual([])
    }
    stranger.registerCollation(TEST_COLLATION)
    expect(await names(stranger.open)).toEqual(['name'])
    await using db = await stranger.open(path, { collections: { c: { indexes: [INDEX] } } })
    const collection = db.collection<Named>('c')
    await collection.ready()
    const found = await collection.find({ name: 'bar' }, meaning).sort('name', '_id').toArray()
    expect(found.map(({ _id }) => _id)).toEqual(['d0', 'd5', 'new'])
    expect((await db.check()).problems).toEqual([])
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
})
