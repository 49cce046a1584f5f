/**
 * Dexie, as its documentation advises: `bulkAdd` and `bulkDelete` for many documents, `where` on declared indexes,
 * otherwise `filter` (https://dexie.org/docs/Table/Table.bulkAdd(), https://dexie.org/docs/Tutorial/Best-Practices).
 */
import { Dexie } from 'dexie'
import type { Table } from 'dexie'
import type { Contender, Patch } from './contender.ts'
import type { Person } from '../documents.ts'

const PLAIN = { people: '_id' }
const INDEXED = { people: '_id, age, city' }

export class DexieContender implements Contender {
  #database: Dexie | undefined
  #place = ''

  async open(place: string, indexed: boolean): Promise<void> {
    this.#place = place
    await this.#open(indexed)
  }

  async close(): Promise<void> {
    this.#database!.close()
  }

  async insertMany(people: readonly Person[]): Promise<void> {
    await this.#people.bulkAdd(people)
  }

  async insert(person: Person): Promise<void> {
    await this.#people.add(person)
  }

  /** A new version of the schema builds them. */
  async buildIndexes(): Promise<void> {
    this.#database!.close()
    await this.#open(true)
  }

  get(id: string): Promise<Person | undefined> {
    return this.#people.get(id)
  }

  count(): Promise<number> {
    return this.#people.count()
  }

  countAges(gte: number, lt: number): Promise<number> {
    return this.#people.where('age').between(gte, lt).count()
  }

  findByCity(city: string): Promise<readonly Person[]> {
    return this.#people.where('city').equals(city).toArray()
  }

  findByCountry(country: string): Promise<readonly Person[]> {
    return this.#people.filter((person) => person.country === country).toArray()
  }

  pageById(skip: number, limit: number): Promise<readonly Person[]> {
    return this.#people.orderBy('_id').offset(skip).limit(limit).toArray()
  }

  async update(id: string, patch: Patch): Promise<void> {
    await this.#people.update(id, { ...patch })
  }

  async delete(id: string): Promise<void> {
    await this.#people.delete(id)
  }

  async deleteMany(ids: readonly string[]): Promise<void> {
    await this.#people.bulkDelete([...ids])
  }

  /** Drops the store by emptying it: Dexie has no other way for a table that stays in use. */
  async dropStore(): Promise<void> {
    await this.#people.clear()
  }

  async destroy(place: string): Promise<void> {
    await Dexie.delete(place)
  }

  get #people(): Table<Person, string> {
    return this.#database!.table<Person, string>('people')
  }

  async #open(indexed: boolean): Promise<void> {
    const database = new Dexie(this.#place, { chromeTransactionDurability: 'relaxed' })
    database.version(1).stores(PLAIN)
    if (indexed) database.version(2).stores(INDEXED)
    this.#database = await database.open()
  }
}
