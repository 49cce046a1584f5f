/** Goal: the unique indexes of PocketBase's definitions can be said, at run time and on data that is already there. */
import { expect, test } from 'vitest'
import { isPannierError, open, type Collection, type Database } from '../../src/index.ts'
import { NOCASE } from '../../src/internal.ts'
import { memory } from '../../src/memory.ts'
import { seededRandom } from '../../testing/random.ts'
import { seedsOf } from '../../../../tools/test/seeds.ts'

type Fields = { _id: string } & Record<string, unknown>

const EMAIL = { name: 'idx_email', on: 'email', unique: true, where: { email: { $gt: '' } } } as const
const NAME = { name: 'idx_name', on: 'name', unique: true, dialect: 'couchdb', collation: NOCASE.name } as const
const PAIR = { name: 'idx_pair', on: ['team', 'nick'], unique: true } as const

async function users(): Promise<{ db: Database; collection: Collection<Fields> }> {
  const db = (await open('unique', { storage: memory() })) as Database
  return { db, collection: db.collection<Fields>('users') }
}

/** What a write is refused with; 'ok' if it is not. */
async function refusal(write: Promise<unknown>): Promise<unknown> {
  return write.then(
    () => 'ok',
    (error: unknown) => (isPannierError(error, 'PANNIER_NOT_UNIQUE') ? error.details : error),
  )
}

test('an empty text is no duplicate where the index leaves it out', async () => {
  const { db, collection } = await users()
  db.collection('users', { indexes: [EMAIL] })
  await collection.insert([
    { _id: 'a', email: '' },
    { _id: 'b', email: '' },
    { _id: 'c', email: 'x@y.z' },
  ])
  await collection.ready()
  expect(await refusal(collection.insert({ _id: 'd', email: 'x@y.z' }))).toMatchObject({
    index: 'idx_email',
    id: 'd',
    other: 'c',
  })
  expect(await refusal(collection.insert({ _id: 'd', email: 'X@y.z' }))).toBe('ok')
  expect(await refusal(collection.update('a', { email: 'x@y.z' }))).toMatchObject({ index: 'idx_email', id: 'a' })
  await db.close()
})

test('with several fields all must be the same, and an empty text is a value', async () => {
  const { db, collection } = await users()
  db.collection('users', { indexes: [PAIR] })
  await collection.insert([
    { _id: 'a', team: 't', nick: '' },
    { _id: 'b', team: 't', nick: 'n' },
  ])
  await collection.ready()
  expect(await refusal(collection.insert({ _id: 'c', team: 't', nick: '' }))).toMatchObject({
    index: 'idx_pair',
    other: 'a',
    key: ['t', ''],
  })
  expect(await refusal(collection.insert({ _id: 'c', team: 'u', nick: '' }))).toBe('ok')
  await db.close()
})

test('NOCASE ignores the case of ASCII alone, and finds a record by it', async () => {
  const { db, collection } = await users()
  db.collection('users', { indexes: [NAME] })
  await collection.insert([
    { _id: 'a', name: 'Änn' },
    { _id: 'b', name: 'änn' },
    { _id: 'c', name: 'Bob' },
  ])
  await collection.ready()
  expect(await refusal(collection.insert({ _id: 'd', name: 'bOB' }))).toMatchObject({
    index: 'idx_name',
    other: 'c',
    key: ['bOB'],
  })
  expect(await refusal(collection.insert({ _id: 'd', name: 'ÄNN' }))).toMatchObject({ other: 'a' })
  expect(
    await refusal(
      collection.insert([
        { _id: 'e', name: 'Eve' },
        { _id: 'f', name: 'EVE' },
      ]),
    ),
  ).toMatchObject({ index: 'idx_name' })
  await collection.insert(Array.from({ length: 200 }, (_, n) => ({ _id: `n${n}`, name: `name ${n}` })))
  const query = collection.find({ name: 'BOB' }, { dialect: 'couchdb', collation: NOCASE.name })
  expect(await query.toArray()).toMatchObject([{ _id: 'c' }])
  expect(JSON.stringify(await query.explain())).toContain('idx_name')
  await db.close()
})

test('an index that the data refuses is not made, and says which documents are in its way', async () => {
  const { db, collection } = await users()
  await collection.insert([
    { _id: 'a', name: 'Ann', email: '' },
    { _id: 'b', name: 'ANN', email: '' },
  ])
  const made = db.collection<Fields>('users', { indexes: [NAME, EMAIL] })
  expect(await refusal(made.ready())).toEqual({ index: 'idx_name', duplicates: [{ key: ['Ann'], ids: ['a', 'b'] }] })
  expect((await collection.indexes()).map(({ name }) => name)).toEqual(['idx_email'])
  await collection.dropIndex('idx_name')
  expect(await refusal(collection.ready())).toBe('ok')
  await collection.update('b', { name: 'Bob' })
  expect(await refusal(db.collection('users', { indexes: [NAME] }).ready())).toBe('ok')
  expect(await refusal(collection.update('b', { name: 'aNN' }))).toMatchObject({
    index: 'idx_name',
    id: 'b',
    other: 'a',
  })
  await db.close()
})

for (const seed of seedsOf('model', 3))
  test(`random writes under unique indexes, seed ${seed} (replay: SEED=${seed} SEEDS=1)`, async () => {
    const random = seededRandom(seed)
    const { db, collection } = await users()
    db.collection('users', { indexes: [{ ...NAME, where: { name: { $gt: '' } } }, EMAIL, PAIR] })
    const model = new Map<string, Fields>()
    const lower = (text: unknown): string => (text as string).replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
    const keysOf = ({ name, email, team, nick }: Fields): string[] => [
      ...(name === '' ? [] : [`name ${lower(name)}`]),
      ...(email === '' ? [] : [`email ${String(email)}`]),
      `pair ${JSON.stringify([team, nick])}`,
    ]
    const texts = ['', 'a', 'A', 'ä', 'Ä', 'aB', 'Ab']
    for (let step = 0; step < 200; step++) {
      const writes = Array.from({ length: 1 + random.below(3) }, (): Fields => ({
        _id: `d${random.below(12)}`,
        name: random.pick(texts),
        email: random.pick(texts),
        team: random.pick(texts),
        nick: random.pick(texts),
      }))
      const batch = [...new Map(writes.map((one) => [one._id, one])).values()]
      const after = new Map([...model, ...batch.map((one) => [one._id, one] as const)])
      const keys = Array.from(after.values()).flatMap(keysOf)
      const isRefused = new Set(keys).size < keys.length
      expect((await refusal(collection.upsert(batch))) === 'ok').toBe(!isRefused)
      if (!isRefused) for (const one of batch) model.set(one._id, one)
    }
    expect(await collection.find().count()).toBe(model.size)
    expect((await db.check()).ok).toBe(true)
    await db.close()
  })
