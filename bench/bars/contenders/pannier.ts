/** Pannier, through its public API alone and with its defaults, but for where it stores; the same in a page and in Node. */
import { open } from 'pannier'
import type { Collection, Database, FieldPath, IndexInput, Storage } from 'pannier'
import type { CityScore, Contender } from './contender.ts'
import type { Person } from '../../documents.ts'

const INDEXES: readonly IndexInput<FieldPath<Person>>[] = ['age', ['city', 'score']]

export function pannierContender(storage?: Storage): Contender {
  return new PannierContender(storage)
}

class PannierContender implements Contender {
  #database: Database | undefined
  #people: Collection<Person> | undefined
  readonly #storage: { readonly storage?: Storage }

  constructor(storage: Storage | undefined) {
    this.#storage = storage === undefined ? {} : { storage }
  }

  async open(place: string, indexed: boolean): Promise<void> {
    const collections = { people: indexed ? { indexes: INDEXES } : {} }
    this.#database = await open(place, { ...this.#storage, collections })
    this.#people = this.#database.collection<Person>('people')
  }

  async close(): Promise<void> {
    await this.#database!.close()
  }

  async insertMany(people: readonly Person[]): Promise<void> {
    await this.#people!.insert(people)
  }

  async buildIndexes(): Promise<void> {
    await this.#database!.collection<Person>('people', { indexes: INDEXES }).ready()
  }

  async insert(person: Person): Promise<void> {
    await this.#people!.insert(person)
  }

  async update(id: string, change: (person: Person) => Person): Promise<void> {
    await this.#people!.update(id, change)
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

  countCity(city: string): Promise<number> {
    return this.#people!.find({ city }).count()
  }

  async provenCount(
    query: { readonly age: readonly [gte: number, lt: number] } | { readonly city: string },
  ): Promise<number | undefined> {
    const selector = 'city' in query ? query : { age: { $gte: query.age[0], $lt: query.age[1] } }
    const { rows, rowsExact } = await this.#people!.find(selector).explain()
    return rowsExact ? rows : undefined
  }

  findByCountry(country: string): Promise<readonly Person[]> {
    return this.#people!.find({ country }).toArray()
  }

  findByCity(city: string): Promise<readonly Person[]> {
    return this.#people!.find({ city }).toArray()
  }

  findScoresByCity(city: string): Promise<readonly CityScore[]> {
    return this.#people!.find({ city }).fields('city', 'score').toArray()
  }

  pageById(skip: number, limit: number): Promise<readonly Person[]> {
    return this.#people!.find().sort('_id').skip(skip).limit(limit).toArray()
  }

  pageByAge(skip: number, limit: number): Promise<readonly Person[]> {
    return this.#people!.find().sort('age').skip(skip).limit(limit).toArray()
  }
}
