/**
 * RxDB on its Dexie storage, without validation and without a second instance to talk to, as in production
 * (https://rxdb.info/rx-storage-dexie.html).
 */
import { createRxDatabase } from 'rxdb/plugins/core'
import type { RxCollection, RxDatabase, RxJsonSchema } from 'rxdb/plugins/core'
import { getRxStorageDexie } from 'rxdb/plugins/storage-dexie'
import type { Person } from '../../documents.ts'
import { CREATED_FROM, ROWS } from './app.ts'
import type { App } from './app.ts'

const text = { type: 'string' } as const
const SCHEMA: RxJsonSchema<Person> = {
  version: 0,
  primaryKey: '_id',
  type: 'object',
  properties: {
    _id: { type: 'string', maxLength: 64 },
    name: text,
    email: text,
    city: text,
    country: text,
    age: { type: 'integer' },
    score: { type: 'number' },
    active: { type: 'boolean' },
    created: { type: 'string', maxLength: 24 },
    tags: { type: 'array', items: text },
    bio: text,
  },
  required: ['_id', 'created'],
  indexes: ['created'],
}
const BATCH = 10_000

let database: RxDatabase
let people: RxCollection<Person>

export const app: App = {
  async open(place) {
    database = await createRxDatabase({ name: place, storage: getRxStorageDexie(), multiInstance: false })
    const collections = await database.addCollections({ people: { schema: SCHEMA } })
    people = collections.people as RxCollection<Person>
  },
  async firstRows() {
    const query = { selector: { created: { $gte: CREATED_FROM } }, sort: [{ created: 'asc' as const }], limit: ROWS }
    const found = await people.find(query).exec()
    return found.map((one) => one.toJSON() as Person)
  },
  async fill(documents) {
    for (let at = 0; at < documents.length; at += BATCH) {
      const { error } = await people.bulkInsert(documents.slice(at, at + BATCH))
      if (error.length > 0) throw new Error(`bulkInsert failed: ${JSON.stringify(error[0])}`)
    }
  },
  async close() {
    await database.close()
  },
}
