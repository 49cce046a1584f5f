/**
 * LokiJS in memory: a unique index on the id for `by`, binary indexes that each write updates
 * (https://techfort.github.io/LokiJS/tutorial-Indexing%20and%20Query%20performance.html). It keeps the objects that it
 * gets, so it gets copies.
 */
import Loki from 'lokijs'
import type { Collection } from 'lokijs'
import type { Contender, Patch } from './contender.ts'
import type { Person } from '../documents.ts'

const NAME = 'people'

export class LokiJsContender implements Contender {
  #database: Loki | undefined
  #people: Collection<Person> | undefined

  async open(place: string, indexed: boolean): Promise<void> {
    this.#database = new Loki(place, { persistenceMethod: 'memory' })
    this.#add()
    if (indexed) this.buildIndexes()
  }

  async close(): Promise<void> {
    this.#database = undefined
    this.#people = undefined
  }

  insertMany(people: readonly Person[]): void {
    this.#people!.insert(people.map((person) => ({ ...person })))
  }

  insert(person: Person): void {
    this.#people!.insertOne({ ...person })
  }

  buildIndexes(): void {
    this.#people!.ensureIndex('age')
    this.#people!.ensureIndex('city')
  }

  get(id: string): Person | undefined {
    return this.#people!.by('_id', id)
  }

  count(): number {
    return this.#people!.count()
  }

  /** Ages are whole numbers: `$between` is the range that its index knows. */
  countAges(gte: number, lt: number): number {
    return this.#people!
      .chain()
      .find({ age: { $between: [gte, lt - 1] } })
      .count()
  }

  findByCity(city: string): readonly Person[] {
    return this.#people!.find({ city })
  }

  findByCountry(country: string): readonly Person[] {
    return this.#people!.find({ country })
  }

  pageById(skip: number, limit: number): readonly Person[] {
    return this.#people!.chain().simplesort('_id').offset(skip).limit(limit).data()
  }

  update(id: string, patch: Patch): void {
    this.#people!.update(Object.assign(this.#people!.by('_id', id)!, patch))
  }

  delete(id: string): void {
    this.#people!.remove(this.#people!.by('_id', id)!)
  }

  deleteMany(ids: readonly string[]): void {
    this.#people!
      .chain()
      .find({ _id: { $in: [...ids] } })
      .remove()
  }

  dropStore(): void {
    this.#database!.removeCollection(NAME)
    this.#add()
  }

  async destroy(): Promise<void> {
    this.#database = undefined
  }

  #add(): void {
    this.#people = this.#database!.addCollection<Person>(NAME, { unique: ['_id'], indices: ['_id'] })
  }
}
