/** What is to be pushed. */
import { assertEqual, assertTrue } from 'pannier/testing'
import type { DirtyDocument, JSONStoreCollection } from '../src/index.ts'
import type { Case } from './rows.ts'

const PEOPLE = { people: { searchFields: { name: 'string' } } } as const

export const dirtyCases: readonly Case[] = [
  {
    name: 'operations are remembered until they are pushed, in their order',
    rows: ['getAllDirty', 'getPushRequired', 'countAllDirty', 'pushRequiredCount', 'markClean'],
    codes: [31],
    async run(lab) {
      const { people } = await lab.store().init(PEOPLE)
      const dirty = async (): Promise<unknown[]> => {
        const all = await people.getAllDirty()
        assertEqual(await people.getPushRequired(), all)
        assertEqual([await people.countAllDirty(), await people.pushRequiredCount()], [all.length, all.length])
        assertTrue(
          all.every(({ _dirty }, at) => at === 0 || _dirty > all[at - 1]!._dirty),
          'later ones come later',
        )
        return all.map(({ _id, json, _operation }) => [_id, json['name'], _operation])
      }
      await people.add([{ name: 'Ann' }, { name: 'Bob' }, { name: 'Cid' }])
      await people.store({ name: 'Dan' })
      // Never pushed, so it is still to be added, and gone when it is removed.
      await people.replace({ _id: 1, json: { name: 'Anna' } })
      await people.remove(2)
      assertEqual(await dirty(), [
        [3, 'Cid', 'add'],
        [1, 'Anna', 'add'],
      ])
      await people.remove(4)
      assertEqual((await dirty()).at(-1), [4, 'Dan', 'remove'])
      const pushed = await people.getAllDirty()
      await people.replace({ _id: 3, json: { name: 'Cidney' } })
      assertEqual(await people.markClean(pushed), 2)
      assertEqual(await dirty(), [[3, 'Cidney', 'add']])
      assertEqual(await people.markClean([{ _id: 3 }, { _id: 99 }]), 1)
      assertEqual(await dirty(), [])
      await people.replace({ _id: 3, json: { name: 'Cid' } })
      await people.remove(1)
      assertEqual(await dirty(), [
        [3, 'Cid', 'replace'],
        [1, 'Anna', 'remove'],
      ])
      await people.remove(3)
      assertEqual(await dirty(), [
        [1, 'Anna', 'remove'],
        [3, 'Cid', 'remove'],
      ])
      assertTrue(
        (await people.getAllDirty()).every(({ _deleted }) => _deleted === true),
        'they are removed',
      )
      assertEqual(await people.markClean(await people.getAllDirty()), 2)
      assertEqual([await dirty(), await people.count()], [[], 0])
      for (const wrong of [5, {}, [5], [{ _id: 'x' }], [{ _id: 1, _dirty: 'x' }]])
        await lab.fails(people.markClean(wrong as never), 31)
    },
  },
  {
    name: 'a document is dirty or not',
    rows: ['isDirty', 'isPushRequired', 'store', 'refresh', 'erase'],
    codes: [10],
    async run(lab) {
      const { people } = await lab.store().init(PEOPLE)
      await people.add({ name: 'Ann' })
      await people.store({ name: 'Bob' })
      await people.add({ name: 'Cid' }, { markDirty: false })
      await people.add({ name: 'Dan' }, { push: false })
      const dirty = async (): Promise<boolean[]> => {
        const both = [1, 2, 3, 4].map(async (id): Promise<boolean> => {
          const isDirty = await people.isDirty(id)
          assertEqual(await people.isPushRequired({ _id: id, json: {} }), isDirty)
          return isDirty
        })
        return await Promise.all(both)
      }
      assertEqual(await dirty(), [true, false, false, false])
      await people.refresh({ _id: 1, json: { name: 'Anna' } })
      await people.replace({ _id: 2, json: { name: 'Bobby' } }, { markDirty: false })
      await people.replace({ _id: 3, json: { name: 'Cid' } })
      assertEqual(await dirty(), [false, false, true, false])
      await people.erase(3)
      await people.remove(4, { markDirty: false })
      await people.remove(1)
      assertEqual(await dirty(), [true, false, false, false])
      assertEqual(await people.isDirty(77), false)
      for (const wrong of ['1', null, {}, 1.5]) {
        await lab.fails(people.isDirty(wrong as never), 10)
        await lab.fails(people.isPushRequired(wrong as never), 10)
      }
    },
  },
  {
    name: 'operations as filters tell them',
    rows: ['option filter', 'add', 'store', 'replace', 'refresh'],
    async run(lab) {
      const { people } = await lab.store().init(PEOPLE)
      const operations = async (collection: JSONStoreCollection): Promise<unknown[]> =>
        (await collection.findAll({ filter: ['_operation'] })).map(
          (one) => (one as unknown as DirtyDocument)._operation,
        )
      await people.add([{ name: 'Ann' }, { name: 'Bob' }])
      await people.store([{ name: 'Cid' }, { name: 'Dan' }])
      await people.replace([
        { _id: 2, json: {} },
        { _id: 3, json: {} },
      ])
      await people.refresh({ _id: 4, json: {} })
      assertEqual(await operations(people), ['add', 'add', 'replace', 'refresh'])
    },
  },
]
