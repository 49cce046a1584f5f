/** `find()` of pouchdb-find, answered by the library's planner. */
import { open } from 'pannier'
import { memory } from 'pannier/memory'
import { describe, expect, test } from 'vitest'
import { newPouch, type Pouch } from './pouch.ts'

async function people(): Promise<Pouch> {
  const db = newPouch()
  const names = ['ann', 'bob', 'cid', 'dan']
  await db.bulkDocs(
    names.map((name, n) => ({ _id: `p${n}`, name, age: [31, 20, 31, 9][n], ...(n < 3 && { city: 'Oslo' }) })),
  )
  return db
}

const idsOf = async (db: Pouch, request: object): Promise<unknown> =>
  (await db.find(request)).docs.map(({ _id }) => _id)

describe('find()', () => {
  test('without an index it warns, and rows come by id', async () => {
    const db = await people()
    const { docs, warning } = await db.find({ selector: { age: { $gt: 10 } }, fields: ['_id'] })
    expect(docs).toEqual([{ _id: 'p0' }, { _id: 'p1' }, { _id: 'p2' }])
    expect(warning).toMatch('No matching index found')
  })

  test('rows come in the order of the index that is chosen, then by id', async () => {
    const db = await people()
    expect(await db.createIndex({ index: { fields: ['age'], ddoc: 'ages', name: 'age' } })).toMatchObject({
      result: 'created',
    })
    expect(await db.createIndex({ index: { fields: ['age'], ddoc: 'ages', name: 'age' } })).toMatchObject({
      result: 'exists',
    })
    expect(await idsOf(db, { selector: { age: { $gt: 0 } } })).toEqual(['p3', 'p1', 'p0', 'p2'])
    expect(await idsOf(db, { selector: { age: { $gt: 0 } }, sort: [{ age: 'desc' }], limit: 2 })).toEqual(['p2', 'p0'])
    expect(await idsOf(db, { selector: { age: { $gt: 0 } }, skip: 3 })).toEqual(['p2'])
    await db.deleteIndex({ ddoc: '_design/ages', name: 'age' })
    expect((await db.find({ selector: { age: { $gt: 0 } } })).warning).toBeDefined()
  })

  test('a partial index that is named restricts the rows', async () => {
    const db = await people()
    const index = { fields: ['name'], ddoc: 'oslo', name: 'oslo', partial_filter_selector: { city: 'Oslo' } }
    await db.createIndex({ index })
    expect(await idsOf(db, { selector: { name: { $gt: 'a' } }, use_index: 'oslo' })).toEqual(['p0', 'p1', 'p2'])
  })

  test('an index that another instance or tab drops is made again for the next query', async () => {
    const storage = memory()
    const [one, other] = [newPouch({ storage }), newPouch({ storage })]
    const owner = await open('docs', { storage })
    const fields = async (): Promise<unknown> =>
      (await owner.collection('docs').indexes()).map((index) => index.fields.map(({ path }) => path))
    const index = { fields: ['age'], ddoc: 'ages', name: 'age' }
    await one.put({ _id: 'p0', age: 31 })
    await one.createIndex({ index })
    const found = async (): Promise<unknown> => [await idsOf(other, { selector: { age: { $gt: 0 } } }), await fields()]
    expect(await found()).toEqual([['p0'], [['age', '_id']]])
    await one.deleteIndex({ ddoc: '_design/ages', name: 'age' })
    await one.viewCleanup()
    expect(await found()).toEqual([['p0'], []])
    await one.createIndex({ index })
    expect(await found()).toEqual([['p0'], [['age', '_id']]])
    const [made] = await owner.collection('docs').indexes()
    await owner.collection('docs').dropIndex(made!.name)
    expect(await found()).toEqual([['p0'], [['age', '_id']]])
    await owner.close()
  })

  test('a document without a field of the index is one of the plug-in’s rows', async () => {
    const db = await people()
    await db.createIndex({ index: { fields: ['name', 'city'] } })
    expect(await idsOf(db, { selector: { name: { $gt: 'b' } } })).toEqual(['p1', 'p2', 'p3'])
  })

  test.each<[object, string]>([
    [{ selector: { age: { $gt: 0 } }, sort: ['age'] }, 'Cannot sort on field(s) "age" when using the default index'],
    [{ selector: { age: { $mod: [0, 1] } } }, "Query operator $mod's divisor cannot be 0"],
    [{}, 'you must provide a selector'],
  ])('%j: the plug-in says what is wrong', async (request, message) => {
    const db = await people()
    await expect(db.find(request)).rejects.toThrow(message)
  })

  test('a selector that only the plug-in understands has its answer', async () => {
    const db = await people()
    expect(await idsOf(db, { selector: { name: { $regex: /^[ab]/ } } })).toEqual(['p0', 'p1'])
    expect(await idsOf(db, { selector: { _id: { $gt: null } } })).toHaveLength(4)
  })

  test.each<[object]>([[{ city: { $ne: 'Rome' } }], [{ $not: { city: 'Rome' } }], [{ $nor: [{ city: 'Rome' }] }]])(
    '%j matches documents without the field, as in the plug-in',
    async (selector) => {
      const db = await people()
      expect(await idsOf(db, { selector })).toHaveLength(4)
    },
  )
})
