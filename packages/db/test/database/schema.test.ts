/**
 * Goal: every write path stores what the schema gives and refuses what it refuses, whichever library the schema is of, whether
 * it is strict or not and whether it knows `_id` or not.
 */
import { type } from 'arktype'
import * as v from 'valibot'
import { afterEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Database } from '../../src/database/database.ts'
import type { StandardSchema } from '../../src/database/schema/standard-schema.ts'
import { modelDatabase } from '../../testing/model-database.ts'

let opened: Database | undefined

function database(): Database {
  opened = modelDatabase({ seed: 3, missChance: 0.3 })
  return opened
}

afterEach(async () => {
  expect((await opened?.check())?.problems).toEqual([])
  await opened?.close()
})

/** A name, an age of at least 0 that is 18 by default. */
const PLAIN: Record<string, StandardSchema> = {
  zod: z.object({ name: z.string(), age: z.number().min(0).default(18) }),
  'zod strict': z.strictObject({ name: z.string(), age: z.number().min(0).default(18) }),
  valibot: v.object({ name: v.string(), age: v.optional(v.pipe(v.number(), v.minValue(0)), 18) }),
  'valibot strict': v.strictObject({ name: v.string(), age: v.optional(v.pipe(v.number(), v.minValue(0)), 18) }),
  arktype: type({ name: 'string', age: 'number >= 0 = 18' }),
  'arktype strict': type({ '+': 'reject', name: 'string', age: 'number >= 0 = 18' }),
  'zod async': z.object({ name: z.string().refine(async () => true), age: z.number().min(0).default(18) }),
}

/** The same, and an id of three letters. */
const WITH_ID: Record<string, StandardSchema> = {
  zod: z.object({ _id: z.string().length(3), name: z.string(), age: z.number().default(18) }),
  'zod strict': z.strictObject({ _id: z.string().length(3).optional(), name: z.string(), age: z.number().default(18) }),
  valibot: v.object({ _id: v.pipe(v.string(), v.length(3)), name: v.string(), age: v.optional(v.number(), 18) }),
  'valibot strict': v.strictObject({
    _id: v.optional(v.pipe(v.string(), v.length(3))),
    name: v.string(),
    age: v.optional(v.number(), 18),
  }),
  arktype: type({ _id: 'string == 3', name: 'string', age: 'number = 18' }),
  'arktype strict': type({ '+': 'reject', '_id?': 'string == 3', name: 'string', age: 'number = 18' }),
}

describe.each(Object.entries(PLAIN))('%s', (library, schema) => {
  test('insert, put and upsert store what the schema gives', async () => {
    const people = database().collection('people', { schema })
    const { rev } = await people.insert({ _id: 'ann', name: 'Ann' })
    expect(await people.get('ann')).toEqual({ _id: 'ann', _rev: rev, name: 'Ann', age: 18 })
    await people.put({ _id: 'ann', _rev: rev, name: 'Anne' })
    await people.upsert([{ _id: 'bob', name: 'Bob', age: 3 }, { name: 'nobody' }])
    const all = await people.find().sort('name').toArray()
    expect(all.map(({ name, age }) => [name, age])).toEqual([
      ['Anne', 18],
      ['Bob', 3],
      ['nobody', 18],
    ])
  })

  test('a document that is not valid is refused, with what is wrong and where', async () => {
    const people = database().collection('people', { schema })
    const refused = { code: 'PANNIER_DOCUMENT_INVALID' }
    await expect(people.insert({ _id: 'ann', name: 'Ann', age: 'old' })).rejects.toMatchObject({
      ...refused,
      details: { id: 'ann', issues: [{ path: ['age'], message: expect.stringMatching(/number/i) }] },
    })
    const batch = [{ name: 'a' }, { name: 'b', age: -1 }]
    await expect(people.insert(batch)).rejects.toMatchObject({ ...refused, details: { id: undefined, position: 1 } })
    await expect(people.upsert({ _id: 'ann' })).rejects.toMatchObject(refused)
    await expect(people.put({ _id: 'ann', name: 1 })).rejects.toMatchObject(refused)
    if (library.endsWith('strict')) {
      await expect(people.insert({ _id: 'x', name: 'x', more: 1 })).rejects.toMatchObject(refused)
      await expect(people.insert({ name: 'x', more: 1 })).rejects.toMatchObject(refused)
    }
    expect(await people.find().count()).toBe(0)
  })

  test('update', async () => {
    const people = database().collection('people', { schema })
    const { rev } = await people.insert({ _id: 'ann', name: 'Ann', age: 1 })
    if (library === 'zod async') {
      await expect(people.update('ann', (ann) => ann)).rejects.toThrow(TypeError)
      return
    }
    await expect(people.update('ann', (ann) => ({ ...ann, age: -1 }))).rejects.toMatchObject({
      code: 'PANNIER_DOCUMENT_INVALID',
      details: { id: 'ann', issues: [{ path: ['age'] }] },
    })
    expect((await people.get('ann'))?._rev).toBe(rev)
    await people.update('ann', ({ name }) => ({ name }))
    expect(await people.get('ann')).toMatchObject({ _id: 'ann', name: 'Ann', age: 18 })
    expect(await people.update('ann', () => undefined)).toMatchObject({ id: 'ann' })
    await expect(people.update('ann', (ann) => ({ ...ann, _id: 'bob' }))).rejects.toThrow(TypeError)
    await expect(people.update('ann', (() => 5) as never)).rejects.toThrow(TypeError)
  })

  test('inside a transaction, also where nobody waits for the write', async () => {
    const db = database()
    db.collection('people', { schema })
    await db.transaction(async (tx) => {
      const people = tx.collection('people')
      await expect(people.insert({ _id: 'bad' })).rejects.toMatchObject({ code: 'PANNIER_DOCUMENT_INVALID' })
      void people.insert({ _id: 'ann', name: 'Ann' })
    })
    expect((await db.collection('people').find().toArray()).map(({ _id, age }) => [_id, age])).toEqual([['ann', 18]])
  })
})

describe.each(Object.entries(WITH_ID))('with _id, %s', (_library, schema) => {
  test('the schema decides about ids too', async () => {
    const people = database().collection('people', { schema })
    const refused = { code: 'PANNIER_DOCUMENT_INVALID', details: { issues: [{ path: ['_id'] }] } }
    await expect(people.insert({ _id: 'toolong', name: 'x' })).rejects.toMatchObject(refused)
    await people.insert({ _id: 'ann', name: 'Ann' })
    await expect(people.insert({ _id: 'toolong', name: 'x' })).rejects.toMatchObject(refused)
    await people.update('ann', (ann) => ({ ...ann, age: 19 }))
    expect(await people.get('ann')).toMatchObject({ _id: 'ann', name: 'Ann', age: 19 })
  })
})

test('putAttachment creates no document that the schema refuses, and stores what the schema gives', async () => {
  const db = database()
  for (const asynchronous of [false, true]) {
    const check = async (): Promise<boolean> => true
    const strict = z.object({ name: z.string() }).refine(asynchronous ? check : () => true)
    const people = db.collection(`people${asynchronous}`, { schema: strict })
    const refused = await people.putAttachment('ann', 'photo', 'x').catch((error: unknown) => error)
    expect(refused).toMatchObject({ code: 'PANNIER_DOCUMENT_INVALID', details: { id: 'ann' } })
    expect(await people.get('ann')).toBeUndefined()
    await people.insert({ _id: 'ann', name: 'Ann' })
    await people.putAttachment('ann', 'photo', 'x')
    expect(await people.get('ann')).toMatchObject({ name: 'Ann', _attachments: { photo: { length: 1 } } })
    const filled = db.collection(`filled${asynchronous}`, { schema: z.object({ n: z.number().default(7) }) })
    await filled.putAttachment('a', 'x', 'y')
    expect(await filled.get('a')).toMatchObject({ n: 7 })
  }
})

test('a schema may make ids, but not change them', async () => {
  let made = 0
  const schema = z.object({ _id: z.string().default(() => `made${++made}`) })
  const people = database().collection('people', { schema })
  expect((await people.insert({})).id).toBe('made1')
  const lower = opened!.collection('lower', { schema: z.object({ _id: z.string().toLowerCase() }) })
  await lower.insert({ _id: 'ann' })
  await expect(lower.insert({ _id: 'Ann' })).rejects.toMatchObject({
    code: 'PANNIER_DOCUMENT_INVALID',
    details: { id: 'Ann', issues: [{ path: ['_id'] }] },
  })
})

test('fields with strange names survive', async () => {
  const schema = z.looseObject({ name: z.string() })
  const people = database().collection('people', { schema })
  const document = JSON.parse('{ "_id": "a", "name": "A", "constructor": 1, "$gt": 2, "a.b": 3 }') as { name: string }
  await people.insert(document)
  expect(await people.get('a')).toMatchObject(document)
})

test('arguments', async () => {
  const db = database()
  const schema = z.object({ name: z.string() })
  expect(() => db.collection('a', { schema: {} as never })).toThrow(TypeError)
  expect(() => db.collection('a', { schema, version: 0 })).toThrow(TypeError)
  expect(() => db.collection('a', { schema, version: 2 })).toThrow(TypeError)
  expect(() => db.collection('a', { version: 2, migrations: { 2: (a) => a, 3: (a) => a } })).toThrow(TypeError)
  expect(() => db.collection('a', { migrations: { 2: (a) => a } })).toThrow(TypeError)
  const people = db.collection('people', { schema })
  expect(db.collection('people')).toBe(people)
  db.collection('people', { schema })
  expect(() => db.collection('people', { schema: z.object({}) })).toThrow(TypeError)
  expect(() => people.insert(5 as never)).toThrow(TypeError)
  expect(() => people.insert([5] as never)).toThrow(TypeError)
  const list = db.collection('list', { schema: z.object({}).transform(() => [1]) as never })
  await expect(list.insert({} as never)).rejects.toThrow(TypeError)
  expect(() => list.insert({} as never)).toThrow(TypeError)
})

test('what an asynchronous schema throws is passed on', async () => {
  const failing: StandardSchema = {
    '~standard': { version: 1, vendor: 'test', validate: () => Promise.reject(new RangeError('own')) },
  }
  const people = database().collection('people', { schema: failing })
  await expect(people.insert([{}, {}])).rejects.toThrow(RangeError)
})
