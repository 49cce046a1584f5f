/** https://dexie.org/docs/Tutorial/Best-Practices */
import { Dexie } from 'dexie'
import type { Table } from 'dexie'
import type { Person } from '../../documents.ts'
import { CREATED_FROM, ROWS } from './app.ts'
import type { App } from './app.ts'

let database: Dexie

const people = (): Table<Person, string> => database.table<Person, string>('people')

export const app: App = {
  async open(place) {
    database = new Dexie(place)
    database.version(1).stores({ people: '_id, created' })
    await database.open()
  },
  firstRows: () => people().where('created').aboveOrEqual(CREATED_FROM).limit(ROWS).toArray(),
  async fill(documents) {
    await people().bulkAdd(documents)
  },
  close: () => database.close(),
}
