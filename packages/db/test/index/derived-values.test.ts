/** Indexes whose keys are made of the whole document. */
import { expect, test } from 'vitest'
import { open, PannierError, registerCollation, type Collection } from 'pannier'
import { deriveValues } from 'pannier/internal'
import { memory } from 'pannier/memory'

const DERIVED = 'derived sum'
const CAN_NOT = new PannierError('PANNIER_DOCUMENT_INVALID', 'The sum of these can not be known.')

registerCollation({ name: DERIVED, key: (text) => text })
deriveValues((path) =>
  path !== DERIVED
    ? undefined
    : (read) => {
        const [a, b] = [read('a'), read('b')] as [number, number]
        if (Number.isNaN(Number(a))) throw CAN_NOT
        return b === 0 ? undefined : `sum ${a + b}`
      },
)

const index = { name: 'sums', on: DERIVED, unique: true, dialect: 'couchdb', collation: DERIVED } as const

function pairsOf(database: Awaited<ReturnType<typeof open>>, isIndexed = true): Collection<Record<string, unknown>> {
  return database.collection('pairs', isIndexed ? { indexes: [index] } : {})
}

async function rightOf(database: Awaited<ReturnType<typeof open>>): Promise<boolean> {
  return (await database.check()).ok
}

test('a unique index on derived values refuses the second document with a value', async () => {
  await using database = await open('sums', { storage: memory() })
  const pairs = pairsOf(database)
  await pairs.insert([
    { _id: 'one', a: 1, b: 4 },
    { _id: 'none', a: 5, b: 0 },
    { _id: 'none too', a: 5, b: 0 },
  ])
  await expect(pairs.insert({ _id: 'two', a: 2, b: 3 })).rejects.toMatchObject({
    code: 'PANNIER_NOT_UNIQUE',
    details: { id: 'two', other: 'one', index: 'sums' },
  })
  await pairs.update('one', { a: 2 })
  await pairs.insert({ _id: 'two', a: 2, b: 3 })
  await pairs.update('none', { b: 2 })
  await expect(pairs.update('none too', { a: 1, b: 5 })).rejects.toMatchObject({ details: { other: 'one' } })
  await pairs.delete('one')
  await pairs.update('none too', { a: 1, b: 5 })
  await expect(pairs.update('none too', { a: 1, b: 6 })).rejects.toMatchObject({ details: { other: 'none' } })
  expect(await rightOf(database)).toBe(true)
})

test('a document whose value can not be derived is refused alone', async () => {
  await using database = await open('sums', { storage: memory() })
  const pairs = pairsOf(database)
  const outcomes = await pairs.put(
    [
      { _id: 'one', a: 1, b: 4 },
      { _id: 'bad', a: 'x', b: 4 },
      { _id: 'two', a: 2, b: 4 },
    ],
    { atomic: false },
  )
  expect(outcomes.map((outcome) => 'error' in outcome && outcome.error)).toEqual([false, CAN_NOT, false])
  expect(await pairs.find({}).count()).toBe(2)
  expect(await rightOf(database)).toBe(true)
})

test('an index on derived values is built on the documents that are there, or names those that have the same value', async () => {
  await using database = await open('sums', { storage: memory() })
  await pairsOf(database, false).insert([
    { _id: 'one', a: 1, b: 4 },
    { _id: 'two', a: 2, b: 3 },
  ])
  await expect(pairsOf(database).ready()).rejects.toMatchObject({
    code: 'PANNIER_NOT_UNIQUE',
    details: { duplicates: [{ ids: ['one', 'two'] }] },
  })
  await pairsOf(database).dropIndex('sums')
  await pairsOf(database, false).update('two', { a: 3 })
  await pairsOf(database).ready()
  await expect(pairsOf(database).insert({ a: 0, b: 5 })).rejects.toMatchObject({ code: 'PANNIER_NOT_UNIQUE' })
  expect(await rightOf(database)).toBe(true)
})
