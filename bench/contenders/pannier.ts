/** Pannier, through its public API alone and with its defaults; the same in a page and in Node. */
import { destroy, open } from 'pannier'
import type { Collection, Database, Emit, IndexInput, OpenOptions } from 'pannier'
import type { FieldPath } from 'pannier/types'
import type { Contender, Patch, Replicas, Views } from './contender.ts'
import type { Person } from '../documents.ts'

const INDEXES: readonly IndexInput<FieldPath<Person>>[] = ['age', 'city']

export class PannierContender implements Contender {
  readonly #options: Pick<OpenOptions, 'storage' | 'encryption'>
  readonly #indexes: readonly IndexInput<FieldPath<Person>>[]
  #database: Database | undefined
  #people: Collection<Person> | undefined
  #byScore: ReturnType<typeof viewByScore> | undefined
  #byCity: ReturnType<typeof viewByCity> | undefined

  constructor(
    options: Pick<OpenOptions, 'storage' | 'encryption'> = {},
    indexes: readonly IndexInput<FieldPath<Person>>[] = INDEXES,
  ) {
    this.#options = options
    this.#indexes = indexes
  }

  protected get database(): Database {
    return this.#database!
  }

  protected get people(): Collection<Person> {
    return this.#people!
  }

  async open(place: string, indexed: boolean): Promise<void> {
    const people = indexed ? { indexes: this.#indexes } : {}
    this.#database = await open(place, { ...this.#options, collections: { people } })
    this.#use(this.#database.collection<Person>('people'))
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
    await this.declare(this.#indexes)
  }

  protected async declare(indexes: readonly IndexInput<FieldPath<Person>>[]): Promise<void> {
    await this.#database!.collection<Person>('people', { indexes }).ready()
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
    this.#use(this.#database!.collection<Person>('people'))
  }

  readonly views: Views = {
    adHoc: async (limit) => {
      const { rows } = await this.#people!.mapReduce({ map: (person, emit) => emit(person.score) }, { limit })
      return rows.map(({ id }) => id!)
    },
    buildByScore: async () => {
      await this.#scores.query({ limit: 0 })
    },
    buildByCity: async () => {
      await this.#cities.query({ limit: 0, reduce: false })
    },
    byScore: async (limit) => (await this.#scores.query({ limit })).rows.map(({ id }) => id!),
    groups: async () => {
      const { rows } = await this.#cities.query({ group: true })
      return rows.map(({ key, value }) => {
        const { count, sum } = value as { readonly count: number; readonly sum: number }
        return `${String(key)} ${count} ${sum}`
      })
    },
  }

  readonly replicas: Replicas = {
    fill: async (place, people) => {
      const database = await open(place, this.#options)
      await database.collection<Person>('people').insert(people)
      await database.close()
    },
    copy: async (source, target) => {
      const from = await open(source, this.#options)
      const to = await open(target, this.#options)
      await from.collection<Person>('people').replicate({ to: to.collection<Person>('people') })
      await from.close()
      await to.close()
    },
    take: async (place) => {
      const database = await open(place, this.#options)
      const people = await database.collection<Person>('people').find().sort('_id').toArray()
      await database.destroy()
      return people
    },
  }

  #use(people: Collection<Person>): void {
    this.#people = people
    this.#byScore = undefined
    this.#byCity = undefined
  }

  /** Views load code of their own, so they are made when they are first asked for. */
  get #scores(): ReturnType<typeof viewByScore> {
    return (this.#byScore ??= viewByScore(this.#people!))
  }

  get #cities(): ReturnType<typeof viewByCity> {
    return (this.#byCity ??= viewByCity(this.#people!))
  }

  async destroy(place: string): Promise<void> {
    const { storage } = this.#options
    await destroy(place, storage === undefined ? {} : { storage })
  }
}

function viewByScore(people: Collection<Person>) {
  return people.view('score', { map: (person, emit: Emit<number>) => emit(person.score), version: 1 })
}

/** VIEW_ROWS rows a document: a map function must say all by itself. */
function viewByCity(people: Collection<Person>) {
  const map = (person: Person, emit: Emit<string, number>): void => {
    for (let row = 0; row < 10; row++) emit(person.city, person.age)
  }
  return people.view('city', { map, reduce: '_stats', version: 1 })
}
