/** What a storage that fails looks like, function by function. */
import { assertEqual } from 'pannier/testing'
import { PannierError } from 'pannier'
import type { ErrorCode } from 'pannier'
import type { JSONStoreApi, JSONStoreCollection } from '../src/index.ts'
import type { Case, Lab } from './rows.ts'

const PEOPLE = { people: { searchFields: { name: 'string' } } } as const

async function filled(lab: Lab): Promise<{ store: JSONStoreApi; people: JSONStoreCollection }> {
  const store = lab.store()
  const { people } = await store.init(PEOPLE)
  await people.add([{ name: 'Ann' }, { name: 'Bob' }])
  return { store, people }
}

/** From now on these calls fail, of one database if it is named. */
function fail(lab: Lab, calls: readonly string[], database?: string, code: ErrorCode = 'PANNIER_IO_FAILED'): void {
  lab.faults.fails = (call, name) => {
    if (calls.includes(call) && (database ?? name) === name) throw new PannierError(code, 'made to fail')
  }
}

const WRITES = ['append', 'claim', 'stage', 'commit']

export const failureCases: readonly Case[] = [
  {
    name: 'writes that fail',
    rows: ['add', 'replace', 'remove', 'clear'],
    codes: [-1, -23, -22, 26],
    async run(lab) {
      const { people } = await filled(lab)
      fail(lab, WRITES)
      await lab.fails(people.add({ name: 'Cid' }), -1)
      await lab.fails(people.replace({ _id: 1, json: {} }), -23)
      await lab.fails(people.remove(1), -22)
      await lab.fails(people.clear(), 26)
      lab.faults.fails = undefined
      assertEqual((await people.findAll()).length, 2)
      await people.add({ name: 'Cid' })
      assertEqual(await people.count(), 3)
    },
  },
  {
    name: 'the code of a collection that can not be cleared',
    rows: ['quirk: ERROR_CLEARING_COLLECTION is 26'],
    codes: [26],
    async run(lab) {
      const { people } = await filled(lab)
      fail(lab, WRITES)
      assertEqual((await lab.fails(people.clear(), 26)).msg, 'ERROR_CLEARING_COLLECTION')
    },
  },
  {
    name: 'a transaction that can not be committed',
    rows: ['commitTransaction'],
    codes: [-43],
    async run(lab) {
      const { store, people } = await filled(lab)
      await store.startTransaction()
      await people.add({ name: 'Cid' })
      fail(lab, WRITES)
      await lab.fails(store.commitTransaction(), -43)
      lab.faults.fails = undefined
      assertEqual(await people.count(), 2)
      await lab.fails(store.commitTransaction(), -42)
    },
  },
  {
    name: 'a push that can not read, or not write',
    rows: ['push'],
    codes: [8, 15],
    async run(lab) {
      const store = lab.store({
        invokeProcedure: async () => {
          fail(lab, WRITES)
          return await Promise.resolve({})
        },
      })
      const { people } = await store.init({ people: { adapter: { name: 'people', add: 'add' } } })
      await people.add({ name: 'Ann' })
      const [error] = await people.push()
      lab.failed(error, 15)
      lab.faults.fails = undefined
      assertEqual(await people.countAllDirty(), 1)
      await store.session.database.close()
      await lab.fails(people.push(), 8)
    },
  },
  {
    name: 'a store that can not be opened',
    rows: ['init'],
    codes: [-1, -75, -21],
    async run(lab) {
      const store = lab.store()
      fail(lab, ['open'])
      await lab.fails(store.init(PEOPLE), -1)
      await lab.fails(store.init(PEOPLE, { password: 'secret' }), -21)
      fail(lab, ['open'], undefined, 'PANNIER_UNAVAILABLE')
      await lab.fails(store.init(PEOPLE, { password: 'secret' }), -75)
    },
  },
  {
    name: 'a store that can not be closed, measured or destroyed',
    rows: ['closeAll', 'fileInfo', 'destroy'],
    codes: [-24, 23, -5, -18, -19, 25],
    async run(lab) {
      const { store } = await filled(lab)
      await store.session.database.close()
      await lab.fails(store.fileInfo(), -24)
      await store.closeAll()
      await store.init(PEOPLE)
      fail(lab, ['close'], lab.databaseName('jsonstore'))
      await lab.fails(store.closeAll(), 23)
      lab.faults.fails = undefined
      await store.init(PEOPLE)
      fail(lab, ['close'], lab.databaseName('jsonstore'))
      await lab.fails(store.destroy(), -5)
      fail(lab, ['destroy'], lab.databaseName('jsonstore'))
      await lab.fails(store.destroy(), -18)
      fail(lab, ['destroy'], lab.databaseName())
      await lab.fails(store.destroy(), -19)
      fail(lab, ['open'], lab.databaseName())
      await lab.fails(store.destroy(), 25)
      lab.faults.fails = undefined
      assertEqual(await store.destroy(), 0)
    },
  },
]
