/** Pannier, through its public API alone and with its defaults; the same in a page and in Node. */
import { open } from 'pannier'
import type { Collection, Database, FieldPath, IndexInput, OpenOptions } from 'pannier'
import type { Contender, Patch } from './contender.ts'
import type { Person } from '../documents.ts'

const INDEXES: readonly IndexInput<FieldPath<Person>>[] = ['age', 'city']

export class PannierContender implements Contender {
  readonly #storage: Pick<OpenOptions, 'storage'>
  #database: Database | undefined
  #people: Collection<Person> | undefined

  constructor(storage: Pick<OpenOptions, 'storage'> = {}) {
    this.#storage = storage
  }

  async open(place: string, indexed: boolean): Promise<void> {
    const people = indexed ? { indexes: INDEXES } : {}
    this.#database = await open(place, { ...this.#storage, collections: { people } })
    this.#people = this.#database.collection<Person>('people')
  }

  async close(): Promise<void> {
    await this.#database!.close()
  }

  async insertMany(people: readonly Person[]): Promise<void> {
    await this.#people!.insert(people)
  }

  async insert(person: Person): Promise<void> {
    await this.#people!.insert(person)
  }

  async buildIndexes(): Promise<void> {
    await this.#database!.collection<Person>('people', { indexes: INDEXES }).ready()
  }

  get(id: string): Promise<Person | undefined> {
    return this.#people!.get(id)
  }

  count(): Promise<number> {
    return this.#people!.find().count()
  }

  countAges(gte: number, lt: number): Promise<number> {
    return this.#people!.find({ age: { $gte: gte, $lt: lt } }).count()
  }

  findByCity(city: string): Promise<readonly Person[]> {
    return this.#people!.find({ city }).toArray()
  }

  findByCountry(country: string): Promise<readonly Person[]> {
    return this.#people!.find({ country }).toArray()
  }

  pageById(skip: number, limit: number): Promise<readonly Person[]> {
    return this.#people!.find().sort('_id').skip(skip).limit(limit).toArray()
  }

  async update(id: string, patch: Patch): Promise<void> {
    await this.#people!.update(id, (person) => ({ ...person, ...patch }))
  }

  async delete(id: string): Promise<void> {
    await this.#people!.delete(id)
  }

  async deleteMany(ids: readonly string[]): Promise<void> {
    await this.#people!.delete(ids)
  }

  async dropStore(): Promise<void> {
    await this.#database!.dropCollection('people')
    this.#people = this.#database!.collection<Person>('people')
  }

  async destroy(place: string): Promise<void> {
    const database = await open(place, this.#storage)
    await database.destroy()
  }
}
