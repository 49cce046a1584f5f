/**
 * `@pannier/jsonstore` as a JSONStore app uses it: search fields from the start, fuzzy finds, documents by the integer
 * ids of the store. The app knows its own keys, so while it runs it keeps the integer of each key.
 */
import { createJSONStore, QueryPart } from '@pannier/jsonstore'
import type { JSONStoreApi, JSONStoreCollection } from '@pannier/jsonstore'
import type { Contender, Patch } from './contender.ts'
import type { Person } from '../documents.ts'

const PEOPLE = {
  people: { searchFields: { key: 'string', city: 'string', country: 'string', age: 'integer' } },
} as const

/** A person as the store holds one: `_id` would be a search field that every collection has. */
type Held = Person & { readonly key: string }

export class JsonStoreContender implements Contender {
  readonly #password: string | undefined
  readonly #ids = new Map<string, number>()
  #store: JSONStoreApi | undefined
  #people: JSONStoreCollection<Held> | undefined
  /** Integer id of the next document. */
  #next = 1

  constructor(password?: string) {
    this.#password = password
  }

  async open(place: string): Promise<void> {
    this.#store = createJSONStore({ name: place })
    await this.#store.init(PEOPLE, { password: this.#password })
    this.#people = this.#store.get<Held>('people')
    this.#ids.clear()
    const [newest] = await this.#people!.findAll({ limit: -1 })
    this.#next = (newest?._id ?? 0) + 1
  }

  async close(): Promise<void> {
    await this.#store!.closeAll()
  }

  async insertMany(people: readonly Person[]): Promise<void> {
    for (const { _id } of people) this.#ids.set(_id, this.#next++)
    await this.#people!.add(people.map((person) => ({ ...person, key: person._id })))
  }

  async insert(person: Person): Promise<void> {
    await this.insertMany([person])
  }

  buildIndexes(): void {
    throw new Error('search fields are declared when a collection is made')
  }

  async get(id: string): Promise<Person | undefined> {
    const known = await this.#idOf(id)
    if (known === undefined) return undefined
    const [found] = await this.#people!.findById(known)
    return found && toPerson(found.json)
  }

  async count(): Promise<number> {
    return await this.#people!.count()
  }

  async countAges(gte: number, lt: number): Promise<number> {
    const part = QueryPart().greaterOrEqualThan('age', gte).lessThan('age', lt)
    return (await this.#people!.advancedFind(part, { filter: ['_id'] })).length
  }

  findByCity(city: string): Promise<readonly Person[]> {
    return this.#find({ city })
  }

  /** Not but by a search field. */
  findByCountry(country: string): Promise<readonly Person[]> {
    return this.#find({ country })
  }

  async pageById(skip: number, limit: number): Promise<readonly Person[]> {
    const found = await this.#people!.findAll({ sort: [{ key: 'asc' }], offset: skip, limit })
    return found.map(({ json }) => toPerson(json))
  }

  async update(id: string, patch: Patch): Promise<void> {
    const known = (await this.#idOf(id))!
    const [found] = await this.#people!.findById(known)
    await this.#people!.replace({ _id: known, json: { ...found!.json, ...patch } })
  }

  async delete(id: string): Promise<void> {
    await this.deleteMany([id])
  }

  async deleteMany(ids: readonly string[]): Promise<void> {
    const known = await Promise.all(ids.map((id) => this.#idOf(id)))
    await this.#people!.remove(known.filter((id) => id !== undefined))
  }

  async dropStore(): Promise<void> {
    await this.#people!.clear()
  }

  async destroy(place: string): Promise<void> {
    await createJSONStore({ name: place }).destroy()
  }

  async #find(query: Readonly<Record<string, string>>): Promise<readonly Person[]> {
    const found = await this.#people!.find(query)
    return found.map(({ json }) => toPerson(json))
  }

  async #idOf(id: string): Promise<number | undefined> {
    const known = this.#ids.get(id)
    if (known !== undefined) return known
    const [found] = await this.#people!.find({ key: id }, { exact: true, filter: ['_id'] })
    return found?._id
  }
}

function toPerson({ key: _, ...person }: Held): Person {
  return person
}
