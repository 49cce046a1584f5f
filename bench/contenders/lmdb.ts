/**
 * lmdb: documents by id, and an index a database with several values to a key (`dupSort`), written in the transaction of the
 * document; a promise is fulfilled once committed (https://github.com/kriszyp/lmdb-js#readme).
 */
import { rmSync } from 'node:fs'
import { open } from 'lmdb'
import type { Database, RootDatabase } from 'lmdb'
import type { Contender, Patch } from './contender.ts'
import type { Person } from '../documents.ts'

export class LmdbContender implements Contender {
  #root: RootDatabase | undefined
  #people: Database<Person, string> | undefined
  #ages: Database<string, number> | undefined
  #cities: Database<string, string> | undefined
  #indexed = false

  async open(place: string, indexed: boolean): Promise<void> {
    this.#root = open({ path: place })
    this.#people = this.#root.openDB<Person, string>({ name: 'people' })
    this.#ages = this.#root.openDB<string, number>({ name: 'ages', dupSort: true })
    this.#cities = this.#root.openDB<string, string>({ name: 'cities', dupSort: true })
    this.#indexed = indexed
  }

  async close(): Promise<void> {
    await this.#root!.close()
  }

  insertMany(people: readonly Person[]): Promise<void> {
    return this.#write(() => {
      for (const person of people) this.#put(person)
    })
  }

  insert(person: Person): Promise<void> {
    return this.#write(() => this.#put(person))
  }

  async buildIndexes(): Promise<void> {
    this.#indexed = true
    await this.#write(() => {
      for (const { value } of this.#people!.getRange()) this.#index(value)
    })
  }

  get(id: string): Person | undefined {
    return this.#people!.get(id)
  }

  count(): number {
    return (this.#people!.getStats() as { readonly entryCount: number }).entryCount
  }

  countAges(gte: number, lt: number): number {
    return this.#ages!.getCount({ start: gte, end: lt })
  }

  findByCity(city: string): readonly Person[] {
    return Array.from(this.#cities!.getValues(city), (id) => this.#people!.get(id)!)
  }

  findByCountry(country: string): readonly Person[] {
    const found: Person[] = []
    for (const { value } of this.#people!.getRange()) if (value.country === country) found.push(value)
    return found
  }

  pageById(offset: number, limit: number): readonly Person[] {
    return Array.from(this.#people!.getRange({ offset, limit }), ({ value }) => value)
  }

  update(id: string, patch: Patch): Promise<void> {
    return this.#write(() => {
      const person = this.#people!.get(id)!
      this.#unindex(person)
      this.#put({ ...person, ...patch })
    })
  }

  delete(id: string): Promise<void> {
    return this.deleteMany([id])
  }

  deleteMany(ids: readonly string[]): Promise<void> {
    return this.#write(() => {
      for (const id of ids) {
        const person = this.#people!.get(id)
        if (person === undefined) continue
        this.#unindex(person)
        this.#people!.removeSync(id)
      }
    })
  }

  async dropStore(): Promise<void> {
    await this.#people!.clearAsync()
    await this.#ages!.clearAsync()
    await this.#cities!.clearAsync()
  }

  async destroy(place: string): Promise<void> {
    rmSync(place, { recursive: true, force: true })
  }

  async #write(work: () => void): Promise<void> {
    await this.#root!.transaction(work)
  }

  #put(person: Person): void {
    this.#people!.putSync(person._id, person)
    if (this.#indexed) this.#index(person)
  }

  #index(person: Person): void {
    this.#ages!.putSync(person.age, person._id)
    this.#cities!.putSync(person.city, person._id)
  }

  #unindex(person: Person): void {
    if (!this.#indexed) return
    this.#ages!.removeSync(person.age, person._id)
    this.#cities!.removeSync(person.city, person._id)
  }
}
