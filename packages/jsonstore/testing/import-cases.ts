/** Data that was exported from the JSONStore that an app used before. */
import { assertEqual } from 'pannier/testing'
import { importJSONStore } from '../src/index.ts'
import type { Case } from './rows.ts'

const CONFIG = { searchFields: { name: 'string' }, additionalSearchFields: { team: 'string' } } as const

export const importCases: readonly Case[] = [
  {
    name: 'an import keeps ids, additional search fields and what is to be pushed',
    rows: ['findAll', 'getAllDirty'],
    codes: [-20, 5, 7, 30, -50],
    async run(lab) {
      const store = lab.store()
      const { people } = await store.init({ people: CONFIG })
      await people.add({ name: 'Already here' })
      const exported = {
        collections: {
          people: {
            documents: [
              { _id: 1, json: { name: 'Skipped' } },
              { _id: 3, json: { name: 'Ann' } },
              { _id: 5, json: { name: 'Bob' } },
              { _id: 12, json: { name: 'Cid' } },
            ],
            dirty: [
              { _id: 7, json: { name: 'Gone' }, _operation: 'remove', _dirty: 1_400_000_000_300, _deleted: true },
              { _id: 5, json: { name: 'Bob' }, _operation: 'replace', _dirty: 1_400_000_000_200 },
              { _id: 12, json: { name: 'Cid' }, _operation: 'add', _dirty: 1_400_000_000_100 },
            ],
            additional: [{ _id: 3, Team: 'red-@-blue' }],
          },
        },
      }
      assertEqual(await importJSONStore(store, JSON.stringify(exported)), { people: { imported: 4, skipped: 1 } })
      assertEqual(await importJSONStore(store, exported), { people: { imported: 0, skipped: 5 } })
      assertEqual(
        (await people.findAll()).map(({ _id, json }) => [_id, json['name']]),
        [
          [1, 'Already here'],
          [3, 'Ann'],
          [5, 'Bob'],
          [12, 'Cid'],
        ],
      )
      assertEqual(
        (await people.getAllDirty()).map(({ _id, _operation }) => [_id, _operation]),
        [
          [1, 'add'],
          [12, 'add'],
          [5, 'replace'],
          [7, 'remove'],
        ],
      )
      assertEqual(await people.count({ team: 'blue' }, { exact: true }), 1)
      await people.add({ name: 'Next' })
      assertEqual((await people.find({ name: 'next' }))[0]?._id, 13)

      await lab.fails(importJSONStore(store, '{'), -20)
      await lab.fails(importJSONStore(store, {} as never), 5)
      await lab.fails(importJSONStore(store, { collections: { people: {} as never } }), 30)
      await lab.fails(importJSONStore(store, { collections: { people: { documents: [{ _id: 1 }] } } }), 7)
      await lab.fails(importJSONStore(store, { collections: { orders: { documents: [] } } }), -50)
    },
  },
]
