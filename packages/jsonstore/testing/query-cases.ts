/** What is found: find, advancedFind, count, and their options. */
import { assertEqual, assertTrue } from 'pannier/testing'
import { QueryPart } from '../src/index.ts'
import type { FindOptions, JSONStoreCollection, QueryPartConditions } from '../src/index.ts'
import { QUERY_PARTS } from './rows.ts'
import type { Case, Lab } from './rows.ts'

const SEARCH_FIELDS = {
  people: {
    searchFields: {
      name: 'string',
      age: 'integer',
      size: 'number',
      member: 'boolean',
      'address.city': 'string',
      tags: 'string',
    },
  },
} as const

const PEOPLE = [
  { name: 'Ann', age: 31, size: 1.5, member: true, address: { city: 'Oslo' }, tags: ['red', 'blue'] },
  { name: 'Hannah', age: 3, size: 0.5, member: false, address: [{ city: 'Oslo' }, { city: 'Bergen' }] },
  { name: 'Bob', age: 13, size: 2, address: { city: 'New Oslo' }, tags: 'red' },
  { name: 'ann', age: 100, tags: [] },
  { name: null, age: null },
]

async function people(lab: Lab): Promise<JSONStoreCollection> {
  const { people: collection } = await lab.store().init(SEARCH_FIELDS)
  await collection.add(PEOPLE)
  return collection
}

export const queryCases: readonly Case[] = [
  {
    name: 'find: parts of texts whatever their case, all fields of one query, any of several queries',
    rows: ['find', 'findAll', 'count'],
    codes: [22, 5, 6],
    async run(lab) {
      const collection = await people(lab)
      const finds = async (query: never, expected: number[], options?: FindOptions): Promise<void> => {
        const found = await collection.find(query, options)
        assertEqual(
          found.map(({ _id }) => _id),
          expected,
          JSON.stringify(query),
        )
        const count = await collection.count(query, { exact: options?.exact ?? false })
        assertEqual(count, Array.isArray(query) && (query as unknown[]).length === 0 ? 5 : expected.length)
      }
      await finds({ name: 'AN' } as never, [1, 2, 4])
      await finds({ name: 'ann', age: 3 } as never, [1, 2])
      await finds([{ name: 'bob' }, { age: 100 }, { name: 'ob' }] as never, [3, 4])
      await finds({ age: '1' } as never, [1, 3, 4])
      await finds({ size: '.5' } as never, [1, 2])
      await finds({ 'Address.City': 'oslo' } as never, [1, 2, 3])
      await finds({} as never, [1, 2, 3, 4, 5])
      // As in JSONStore: no query finds nothing, and counts everything.
      await finds([] as never, [])
      await finds([{}] as never, [1, 2, 3, 4, 5])
      await finds({ name: '' } as never, [1, 2, 3, 4])
      await finds({ name: 'a%n' } as never, [])
      await finds({ name: 'a_n' } as never, [])
      await finds({ _id: 2 } as never, [2])
      await finds([{ _id: 3 }, { name: 'hannah' }] as never, [2, 3])
      assertEqual(
        (await collection.findAll()).map(({ _id }) => _id),
        [1, 2, 3, 4, 5],
      )
      await lab.fails(collection.find({ city: 'Oslo' }), 22)
      await lab.fails(collection.count({ city: 'Oslo' }), 22)
      for (const wrong of [5, undefined, null, [5]]) await lab.fails(collection.find(wrong as never), 6)
      await lab.fails(collection.find({}, 5 as never), 5)
      await lab.fails(collection.find({ name: { first: 'Ann' } } as never), 6)
    },
  },
  {
    name: 'exact: equal, case and all; one of several values',
    rows: ['option exact', 'init: searchFields through arrays'],
    async run(lab) {
      const collection = await people(lab)
      const finds = async (query: Record<string, never>, expected: number[]): Promise<void> => {
        const found = await collection.find(query, { exact: true })
        assertEqual(
          found.map(({ _id }) => _id),
          expected,
          JSON.stringify(query),
        )
        assertEqual(await collection.count(query, { exact: true }), expected.length)
      }
      await finds({ name: 'Ann' as never }, [1])
      await finds({ name: 'Anna' as never }, [])
      await finds({ age: '3' as never }, [2])
      await finds({ 'address.city': 'Oslo' as never }, [1, 2])
      await finds({ 'address.city': 'Bergen' as never }, [2])
      await finds({ 'address.city': 'Berg' as never }, [])
      await finds({ tags: 'red' as never }, [1, 3])
      await finds({ tags: 'blue' as never, name: 'Ann' as never }, [1])
      await finds({ tags: 'red-@-blue' as never }, [1])
    },
  },
  {
    name: 'names of properties with dots are found by the same paths',
    rows: ['init: searchFields', 'find'],
    async run(lab) {
      const { places } = await lab.store().init({ places: { searchFields: { 'a.b.address.city': 'string' } } })
      await places.add([
        { 'a.b': { 'Address.City': 'austin' } },
        { a: { b: { address: { city: 'oslo' }, 'address.city': 'bergen' } } },
        { 'a.b.address.city': ['rome', 'bari'] },
      ])
      const ids = async (city: string): Promise<number[]> =>
        (await places.find({ 'a.b.address.city': city }, { exact: true })).map(({ _id }) => _id)
      assertEqual(
        [await ids('austin'), await ids('oslo'), await ids('bergen'), await ids('bari')],
        [[1], [2], [2], [3]],
      )
    },
  },
  {
    name: 'booleans are numbers',
    rows: ['booleans are 1 and 0'],
    async run(lab) {
      const collection = await people(lab)
      for (const value of [true, 1, '1', 'true']) {
        const found = await collection.find({ member: value }, { exact: true, filter: ['_id', 'member'] })
        assertEqual(found as object[], [{ _id: 1, member: '1' }])
      }
      assertEqual(await collection.count({ member: false }), 1)
    },
  },
  {
    name: 'query parts',
    rows: ['advancedFind', ...QUERY_PARTS],
    codes: [30, 22, 6],
    async run(lab) {
      const collection = await people(lab)
      const finds = async (
        part: QueryPartConditions | readonly QueryPartConditions[],
        expected: number[],
      ): Promise<void> => {
        const found = await collection.advancedFind(part)
        assertEqual(
          found.map(({ _id }) => _id),
          expected,
          JSON.stringify(part),
        )
      }
      const part = QueryPart
      await finds(part().like('name', 'AN'), [1, 2, 4])
      await finds(part().notLike('name', 'AN'), [3])
      await finds(part().leftLike('name', 'nah'), [2])
      await finds(part().notLeftLike('name', 'NN'), [2, 3])
      await finds(part().rightLike('name', 'an'), [1, 4])
      await finds(part().notRightLike('name', 'an'), [2, 3])
      await finds(part().leftLike('address.city', 'oslo'), [1, 2, 3])
      await finds(part().rightLike('address.city', 'berg'), [2])
      await finds(part().equal('name', 'Ann'), [1])
      await finds(part().equal('tags', 'blue'), [1])
      await finds(part().notEqual('name', 'Ann'), [2, 3, 4])
      await finds(part().notEqual('tags', 'blue'), [3])
      await finds(part().lessThan('age', 13), [2])
      await finds(part().lessOrEqualThan('age', 13), [2, 3])
      await finds(part().greaterThan('age', 31), [4])
      await finds(part().greaterOrEqualThan('age', 31), [1, 4])
      await finds(part().greaterThan('name', 'B'), [2, 3, 4])
      await finds(part().lessThan('size', '1.75'), [1, 2])
      await finds(part().between('age', 3, 13), [2, 3])
      await finds(part().between('age', [3, 13]), [2, 3])
      await finds(part().notBetween('age', 3, 13), [1, 4])
      await finds(part().inside('name', ['Bob', 'ann']), [3, 4])
      await finds(part().inside('tags', ['blue', 'green']), [1])
      await finds(part().notInside('name', ['Bob', 'ann']), [1, 2])
      await finds(part().notInside('tags', ['blue']), [3])
      await finds(part().inside('_id', [5, 2, 77]), [2, 5])
      await finds(part().lessThan('_id', 3), [1, 2])
      await finds(part().like('name', 'n').greaterThan('age', 3).lessThan('age', 100), [1])
      await finds(part().equal('name', 'Ann').equal('name', 'Bob'), [])
      await finds([part().equal('name', 'Bob'), part().like('name', 'hann'), part().like('name', 'bo')], [2, 3])
      await finds([], [1, 2, 3, 4, 5])
      await finds(part(), [1, 2, 3, 4, 5])
      // Names of conditions are taken in any case, with and without the sign.
      for (const name of ['$like', 'like', '$LIKE', 'Like'])
        assertEqual(await collection.advancedFind([{ [name]: [{ name: 'bo' }] }]), await collection.findById(3))
      await lab.fails(collection.advancedFind(5 as never), 30)
      await lab.fails(collection.advancedFind([part().like('city', 'x')]), 22)
      for (const wrong of [
        { $near: [{ name: 'x' }] },
        { $like: ['x'] },
        { $between: [{ age: [1] }] },
        { $like: [{ name: {} }] },
      ])
        await lab.fails(collection.advancedFind([wrong as never]), 6)
    },
  },
  {
    name: 'limit and offset; the newest with a negative limit',
    rows: ['option limit', 'option offset'],
    codes: [-8, -9],
    async run(lab) {
      const collection = await people(lab)
      const ids = async (query: { name?: string }, options: FindOptions): Promise<number[]> =>
        (await collection.find(query, options)).map(({ _id }) => _id)
      assertEqual(await ids({}, { limit: 2 }), [1, 2])
      assertEqual(await ids({}, { limit: 2, offset: 1 }), [2, 3])
      assertEqual(await ids({}, { limit: 0 }), [])
      assertEqual(await ids({}, { limit: -2 }), [5, 4])
      assertEqual(await ids({ name: 'n' }, { limit: 1, offset: 1 }), [2])
      assertEqual(await ids({ name: 'n' }, { limit: -2 }), [4, 2])
      assertEqual(await ids({ name: 'Ann' }, { exact: true, limit: 5 }), [1])
      await lab.fails(collection.find({}, { offset: 1 }), -9)
      for (const options of [{ limit: 1.5 }, { limit: 'x' }, { limit: 1, offset: -1 }, { limit: 1, offset: 'x' }])
        await lab.fails(collection.find({}, options as never), -8)
      await lab.fails(collection.find({}, { limit: -1, offset: 1 }), -8)
    },
  },
  {
    name: 'filter gives these fields alone',
    rows: ['option filter'],
    codes: [29],
    async run(lab) {
      const collection = await people(lab)
      const all = ['_id', 'json', '_operation', '_dirty', '_deleted', 'tags', 'Address.City', 'size']
      const [first] = (await collection.find({ _id: 2 }, { filter: all })) as unknown as Record<string, unknown>[]
      const { _dirty, ...rest } = first!
      const expected = {
        _id: 2,
        json: PEOPLE[1],
        _operation: 'add',
        _deleted: '0',
        'address.city': 'Oslo-@-Bergen',
        size: '0.5',
      }
      assertEqual(rest as object, expected)
      assertTrue(typeof _dirty === 'string' && Number(_dirty) > 1, 'a time, as text')
      await collection.markClean([{ _id: 2 }])
      const clean = await collection.find({ name: 'hannah' }, { filter: ['_dirty'] })
      assertEqual(clean as object[], [{ _dirty: '0' }])
      for (const filter of ['name', ['city'], [5]])
        await lab.fails(collection.find({}, { filter: filter as never }), 29)
    },
  },
  {
    name: 'sort by search fields',
    rows: ['option sort'],
    codes: [28],
    async run(lab) {
      const collection = await people(lab)
      const ids = async (options: FindOptions, name?: string): Promise<number[]> =>
        (await collection.find(name === undefined ? {} : { name }, options)).map(({ _id }) => _id)
      assertEqual(await ids({ sort: [{ age: 'asc' }] }), [5, 2, 3, 1, 4])
      assertEqual(await ids({ sort: [{ Age: 'DESC' }], limit: 2, offset: 1 }), [1, 3])
      assertEqual(await ids({ sort: [{ _id: 'desc' }] }), [5, 4, 3, 2, 1])
      assertEqual(await ids({ sort: [{ age: 'desc' }] }, 'an'), [4, 1, 2])
      assertEqual(await ids({ sort: [{ name: 'asc' }, { age: 'desc' }] }, 'n'), [1, 2, 4])
      assertEqual(await ids({ sort: [{ age: 'asc' }], limit: -3 }), [5, 3, 4])
      assertEqual(await ids({ sort: [] }), [1, 2, 3, 4, 5])
      for (const sort of [[{ age: 'up' }], [{ city: 'asc' }], [{ age: 'asc', name: 'asc' }], [{}], 'age', [5]])
        await lab.fails(collection.find({}, { sort: sort as never }), 28)
    },
  },
  {
    name: 'documents that were removed are not found by their ids among others',
    rows: ['findById', 'quirk: ids of findById and removed documents'],
    async run(lab) {
      const collection = await people(lab)
      await collection.markClean(await collection.getAllDirty())
      await collection.remove([2, 3])
      assertEqual(
        (await collection.findById([1, 2, 3, 4])).map(({ _id }) => _id),
        [1, 4],
      )
      assertEqual(await collection.count(), 3)
      assertEqual(await collection.find({ name: 'hannah' }), [])
      assertEqual(await collection.countAllDirty(), 2)
    },
  },
]
