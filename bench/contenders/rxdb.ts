/**
 * RxDB on its Dexie storage: no schema validation and no second instance to talk to, as in production; indexes belong to the
 * schema (https://rxdb.info/rx-storage-dexie.html, https://rxdb.info/rx-schema.html#indexes). Number and text indexes need bounds.
 */
import { createRxDatabase, removeRxDatabase } from 'rxdb/plugins/core'
import type { RxCollection, RxDatabase, RxJsonSchema } from 'rxdb/plugins/core'
import { getRxStorageDexie } from 'rxdb/plugins/storage-dexie'
import type { Contender, Patch } from './contender.ts'
import type { Person } from '../documents.ts'

const text = { type: 'string' } as const
const SCHEMA: RxJsonSchema<Person> = {
  version: 0,
  primaryKey: '_id',
  type: 'object',
  properties: {
    _id: { type: 'string', maxLength: 64 },
    name: text,
    email: text,
    city: { type: 'string', maxLength: 64 },
    country: text,
    age: { type: 'integer', minimum: 0, maximum: 200, multipleOf: 1 },
    score: { type: 'number' },
    active: { type: 'boolean' },
    created: text,
    tags: { type: 'array', items: text },
    bio: text,
  },
  required: ['_id', 'age', 'city'],
  indexes: ['age', 'city'],
}

export class RxDbContender implements Contender {
  #database: RxDatabase | undefined
  #people: RxCollection<Person> | undefined

  async open(place: string): Promise<void> {
    this.#database = await createRxDatabase({ name: place, storage: getRxStorageDexie(), multiInstance: false })
    await this.#addCollection()
  }

  async close(): Promise<void> {
    await this.#database!.close()
  }

  async insertMany(people: readonly Person[]): Promise<void> {
    const { error } = await this.#people!.bulkInsert([...people])
    if (error.length > 0) throw new Error(`bulkInsert failed: ${JSON.stringify(error[0])}`)
  }

  async insert(person: Person): Promise<void> {
    await this.#people!.insert(person)
  }

  buildIndexes(): Promise<void> {
    throw new Error('RxDB builds indexes while it inserts')
  }

  async get(id: string): Promise<Person | undefined> {
    const found = await this.#people!.findOne(id).exec()
    return found?.toJSON() as Person | undefined
  }

  count(): Promise<number> {
    return this.#people!.count().exec()
  }

  countAges(gte: number, lt: number): Promise<number> {
    return this.#people!.count({ selector: { age: { $gte: gte, $lt: lt } } }).exec()
  }

  findByCity(city: string): Promise<readonly Person[]> {
    return this.#find({ selector: { city } })
  }

  findByCountry(country: string): Promise<readonly Person[]> {
    return this.#find({ selector: { country } })
  }

  pageById(skip: number, limit: number): Promise<readonly Person[]> {
    return this.#find({ selector: {}, sort: [{ _id: 'asc' }], skip, limit })
  }

  async update(id: string, patch: Patch): Promise<void> {
    const found = await this.#people!.findOne(id).exec()
    await found!.incrementalPatch(patch)
  }

  async delete(id: string): Promise<void> {
    const found = await this.#people!.findOne(id).exec()
    await found!.remove()
  }

  async deleteMany(ids: readonly string[]): Promise<void> {
    await this.#people!.bulkRemove([...ids])
  }

  async dropStore(): Promise<void> {
    await this.#people!.remove()
    await this.#addCollection()
  }

  async destroy(place: string): Promise<void> {
    await removeRxDatabase(place, getRxStorageDexie(), false)
  }

  async #find(query: Parameters<RxCollection<Person>['find']>[0]): Promise<readonly Person[]> {
    const found = await this.#people!.find(query).exec()
    return found.map((one) => one.toJSON() as Person)
  }

  async #addCollection(): Promise<void> {
    const { people } = await this.#database!.addCollections({ people: { schema: SCHEMA } })
    this.#people = people as RxCollection<Person>
  }
}
