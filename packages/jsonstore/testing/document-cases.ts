/** What is written: add, replace, remove, change, clear, removeCollection, enhance. */
import { assertEqual, assertTrue } from 'pannier/testing'
import type { JSONStoreCollection } from '../src/index.ts'
import { METHODS } from './rows.ts'
import type { Case } from './rows.ts'

const PEOPLE = {
  people: { searchFields: { name: 'string', age: 'integer' }, additionalSearchFields: { team: 'string' } },
} as const

export const documentCases: readonly Case[] = [
  {
    name: 'add gives ids from 1 on, none twice',
    rows: ['add', 'findById', 'init: additionalSearchFields'],
    codes: [10, 21, 5, -20, 27],
    async run(lab) {
      const { people } = await lab.store().init(PEOPLE)
      assertEqual(await people.add({ name: 'Ann' }), 1)
      assertEqual(await people.add([{ name: 'Bob' }, { name: 'Cid' }]), 2)
      assertEqual(await people.add([]), 0)
      assertEqual(await people.findById([3, 1, 3, 99]), [
        { _id: 1, json: { name: 'Ann' } },
        { _id: 3, json: { name: 'Cid' } },
      ])
      assertEqual(await people.findById(2), [{ _id: 2, json: { name: 'Bob' } }])
      assertEqual(await people.findById([0, -1]), [])
      for (const id of ['1', 1.5, null, [1, 'x'], {}, []]) await lab.fails(people.findById(id as never), 27)
      await people.erase(3)
      await people.add({ name: 'Dan' })
      assertEqual(
        (await people.findAll()).map(({ _id }) => _id),
        [1, 2, 4],
      )
      for (const data of [5, 'x', null, [{}, 5]]) await lab.fails(people.add(data as never), 10)
      await lab.fails(people.add({}, { additionalSearchFields: { nothing: 1 } }), 21)
      // A field of the documents is none of the additional ones.
      await lab.fails(people.add({}, { additionalSearchFields: { name: 'x' } }), 21)
      await lab.fails(people.add({}, { additionalSearchFields: 5 as never }), 5)
      const circular: Record<string, unknown> = {}
      circular['self'] = circular
      await lab.fails(people.add([{}, circular]), -20)
      assertEqual(await people.count(), 3)
      await people.add(
        { at: new Date(0), nothing: undefined, name: 'Eve' },
        { additionalSearchFields: { TEAM: 'Blue' } },
      )
      assertEqual(await people.find({ team: 'blu' }), [
        { _id: 5, json: { at: '1970-01-01T00:00:00.000Z', name: 'Eve' } },
      ])
    },
  },
  {
    name: 'replace is all or nothing, and keeps what is beside the document',
    rows: ['replace', 'refresh'],
    codes: [-11, 10],
    async run(lab) {
      const { people } = await lab.store().init(PEOPLE)
      await people.add([{ name: 'Ann' }, { name: 'Bob' }], { additionalSearchFields: { team: ['blue', 'red'] } })
      assertEqual(await people.replace({ _id: 1, json: { name: 'Anna', age: 3 } }), 1)
      assertEqual(await people.find({ name: 'anna', age: 3, team: 'red' }, { exact: false }), [
        { _id: 1, json: { name: 'Anna', age: 3 } },
      ])
      assertEqual(await people.count({ team: 'red' }, { exact: true }), 2)
      assertEqual(await people.count({ name: 'Ann' }, { exact: true }), 0)
      const unknown = { _id: 9, json: { name: 'Nobody' } }
      const error = await lab.fails(people.replace([{ _id: 2, json: {} }, unknown]), -11)
      assertEqual(error.doc, [unknown])
      // An id may be a number in a text.
      await lab.fails(people.replace({ _id: '999', json: {} } as never), -11)
      assertEqual(await people.findById(2), [{ _id: 2, json: { name: 'Bob' } }])
      for (const wrong of [5, {}, { _id: 1 }, { _id: 'x', json: {} }, [{ _id: 1, json: 5 }]])
        await lab.fails(people.replace(wrong as never), 10)
      assertEqual(await people.refresh({ _id: 2, json: { name: 'Bobby' } }), 1)
      assertEqual(await people.isDirty(2), false)
    },
  },
  {
    name: 'remove takes documents, ids and queries',
    rows: ['remove', 'erase'],
    codes: [10, 22],
    async run(lab) {
      const { people } = await lab.store().init(PEOPLE)
      await people.add('Ann,Bob,Cid,Dan,Eve,Joanna'.split(',').map((name) => ({ name })))
      assertEqual(await people.remove({ _id: 1, json: { name: 'whatever' } }), 1)
      assertEqual(await people.remove(2), 1)
      assertEqual(await people.remove(2), 0)
      assertEqual(await people.remove([3, { _id: 4 }]), 2)
      assertEqual(await people.remove({ name: 'ann' }, { exact: true }), 0)
      assertEqual(await people.remove({ name: 'ann' }), 1)
      assertEqual(await people.erase([{ name: 'eve' }]), 1)
      assertEqual(await people.count(), 0)
      for (const wrong of ['x', null, { json: {} }]) await lab.fails(people.remove(wrong as never), 10)
      await lab.fails(people.remove({ city: 'Oslo' }), 22)
    },
  },
  {
    name: 'change replaces what equals in all criteria, and adds others if wanted',
    rows: ['change', 'quirk: change does not pair rows by position'],
    codes: [30, 32, 22],
    async run(lab) {
      const { people } = await lab.store().init(PEOPLE)
      await people.store([
        { name: 'Ann', age: 1 },
        { name: 'Bob', age: 2 },
        { name: 'Ann', age: 3 },
      ])
      assertEqual(await people.change([{ name: 'Zoe' }]), 0)
      const byName = { replaceCriteria: ['Name'] }
      assertEqual(
        await people.change([{ name: 'Bob', age: 20 }, { name: 'Nobody' }, { name: 'Ann', age: 10 }], byName),
        3,
      )
      assertEqual(
        (await people.findAll()).map(({ json }) => json),
        [
          { name: 'Ann', age: 10 },
          { name: 'Bob', age: 20 },
          { name: 'Ann', age: 10 },
        ],
      )
      assertEqual(await people.countAllDirty(), 0)
      // Exactly, in all of them.
      assertEqual(await people.change([{ name: 'ann', age: 10 }], { replaceCriteria: ['name', 'age'] }), 0)
      const more = [{ name: 'Bob', age: 20, last: true }, { name: 'Cid' }]
      assertEqual(await people.change(more, { replaceCriteria: ['name', 'age'], addNew: true, markDirty: true }), 2)
      assertEqual(
        (await people.getAllDirty()).map(({ _id, _operation }) => [_id, _operation]),
        [
          [2, 'replace'],
          [4, 'add'],
        ],
      )
      assertEqual(await people.change([{ name: 'Dan' }], { addNew: true }), 1)
      for (const wrong of [{}, 5, [5]]) await lab.fails(people.change(wrong as never), 30)
      for (const criteria of [['_id'], ['json'], ['_dirty'], ['_operation'], ['_deleted'], 'name'])
        await lab.fails(people.change([{}], { replaceCriteria: criteria as string[] }), 32)
      await lab.fails(people.change([{}], { replaceCriteria: ['city'] }), 22)
    },
  },
  {
    name: 'clear empties and keeps search fields, removeCollection does not',
    rows: ['clear', 'removeCollection'],
    codes: [-50],
    async run(lab) {
      const store = lab.store()
      const { people } = await store.init(PEOPLE)
      await people.add([{ name: 'Ann' }, { name: 'Bob' }])
      await people.markClean(await people.getAllDirty())
      await people.remove(1)
      assertEqual(await people.clear(), 0)
      assertEqual([await people.count(), await people.countAllDirty()], [0, 0])
      await people.add({ name: 'Cid' })
      assertEqual(await people.find({ name: 'c' }), [{ _id: 3, json: { name: 'Cid' } }])
      await store.closeAll()
      const { people: again } = await store.init(PEOPLE)
      assertEqual(await again.count({ name: 'cid' }), 1)

      assertEqual(await again.removeCollection(), 0)
      assertEqual(store.get('people'), undefined)
      await lab.fails(again.count(), -50)
      const { people: anew } = await store.init({ people: { searchFields: { city: 'string' } } })
      await anew.add({ city: 'Oslo' })
      assertEqual(await anew.findAll(), [{ _id: 1, json: { city: 'Oslo' } }])
    },
  },
  {
    name: 'enhance gives a collection functions of its own',
    rows: ['enhance'],
    codes: [2, 3, 14, 0],
    async run(lab) {
      const { people } = await lab.store().init(PEOPLE)
      const named = function (this: JSONStoreCollection, name: string): PromiseLike<object[]> {
        return this.find({ name }, { exact: true })
      }
      lab.gives(people.enhance(5 as never, named), 2)
      lab.gives(people.enhance('named', 5 as never), 3)
      for (const method of METHODS) lab.gives(people.enhance(method, named), 14)
      lab.gives(people.enhance('named', named), 0)
      lab.gives(people.enhance('named', named), 0)
      await people.add({ name: 'Ann' })
      const enhanced = people as unknown as { named: (name: string) => PromiseLike<object[]> }
      assertEqual((await enhanced.named('Ann')).length, 1)
    },
  },
  {
    name: 'toString logs the collection and documents, and never fails',
    rows: ['toString'],
    async run(lab) {
      const logged: string[] = []
      const store = lab.store({ log: (text) => logged.push(text) })
      const { people } = await store.init(PEOPLE)
      const list = (...parameters: readonly unknown[]): ReturnType<typeof people.toString> =>
        people.toString(...(parameters as [number?, number?]))
      await people.add(Array.from({ length: 101 }, (_, age) => ({ age })))
      const listing = await list()
      assertEqual(listing.docs?.length, 100)
      assertEqual(listing.collection, {
        name: 'people',
        username: 'jsonstore',
        searchFields: { age: 'integer', name: 'string', _id: 'number' },
        additionalSearchFields: { team: 'string' },
      })
      const lastTwo = [
        { _id: 100, json: { age: 99 } },
        { _id: 101, json: { age: 100 } },
      ]
      assertEqual((await list(2, 99)).docs, lastTwo)
      assertEqual((await list(-2)).docs, lastTwo.toReversed())
      assertEqual((await list(0)).docs, undefined)
      assertEqual((await list('x')).docs?.length, 101)
      assertEqual(logged[1], 'people: [{"_id":100,"json":{"age":99}},{"_id":101,"json":{"age":100}}]')
      assertTrue(logged[0]!.endsWith('{"_id":100,"json":{"age":99}}]'), 'a hundred of them')
      await store.closeAll()
      assertEqual((await list()) as unknown, await lab.fails(people.findAll(), -50))
    },
  },
  {
    name: 'options may be null',
    rows: ['add', 'find', 'count', 'remove', 'replace', 'push'],
    async run(lab) {
      const { people } = await lab.store().init(PEOPLE, null)
      assertEqual(await people.add({ name: 'Ann' }, null), 1)
      assertEqual((await people.find({ name: 'ann' }, null)).length, 1)
      assertEqual((await people.findAll({ limit: null, sort: null } as never)).length, 1)
      assertEqual([await people.count({ name: 'ann' }, null), await people.count(null)], [1, 1])
      assertEqual(await people.replace({ _id: 1, json: { name: 'Bob' } }, null), 1)
      assertEqual(await people.change([{ name: 'Cid' }], null), 0)
      assertEqual(await people.remove(99, null), 0)
      assertEqual(await people.remove(1, null), 1)
      assertEqual(await people.countAllDirty(null), 0)
    },
  },
]
