/**
 * classic-level (LevelDB): a sublevel for the documents and one for each index, one batch over all of them for each write,
 * iterators read by `nextv` (https://github.com/Level/classic-level#readme). An index key is the value, then the id.
 */
import { ClassicLevel } from 'classic-level'
import type { AbstractBatchOperation, AbstractSublevel } from 'abstract-level'
import type { Contender, Patch } from './contender.ts'
import type { Person } from '../documents.ts'

type Level = ClassicLevel<string, string>
type Sub<V> = AbstractSublevel<Level, string | Buffer | Uint8Array, string, V>
type Operation = AbstractBatchOperation<Level, string, unknown>

const BATCH = 1_000
const END = '\uffff'

export class ClassicLevelContender implements Contender {
  #database: Level | undefined
  #people: Sub<Person> | undefined
  #ages: Sub<string> | undefined
  #cities: Sub<string> | undefined
  #indexed = false

  async open(place: string, indexed: boolean): Promise<void> {
    this.#database = new ClassicLevel<string, string>(place)
    await this.#database.open()
    this.#people = this.#database.sublevel<string, Person>('people', { valueEncoding: 'json' })
    this.#ages = this.#database.sublevel('ages')
    this.#cities = this.#database.sublevel('cities')
    this.#indexed = indexed
  }

  async close(): Promise<void> {
    await this.#database!.close()
  }

  async insertMany(people: readonly Person[]): Promise<void> {
    await this.#write(people.flatMap((person) => this.#put(person)))
  }

  insert(person: Person): Promise<void> {
    return this.#write(this.#put(person))
  }

  async buildIndexes(): Promise<void> {
    this.#indexed = true
    const operations: Operation[] = []
    await this.#eachPerson((person) => operations.push(...this.#entries('put', person)))
    await this.#write(operations)
  }

  get(id: string): Promise<Person | undefined> {
    return this.#people!.get(id)
  }

  /** Counts one by one: LevelDB knows no number of entries. */
  count(): Promise<number> {
    return countKeys(this.#people!.keys())
  }

  countAges(gte: number, lt: number): Promise<number> {
    return countKeys(this.#ages!.keys({ gte: ageKey(gte), lt: ageKey(lt) }))
  }

  async findByCity(city: string): Promise<readonly Person[]> {
    const keys = await this.#cities!.keys({ gte: `${city}!`, lt: `${city}!${END}` }).all()
    return this.#peopleOf(keys.map((key) => key.slice(city.length + 1)))
  }

  async findByCountry(country: string): Promise<readonly Person[]> {
    const found: Person[] = []
    await this.#eachPerson((person) => {
      if (person.country === country) found.push(person)
    })
    return found
  }

  async pageById(skip: number, limit: number): Promise<readonly Person[]> {
    const keys = this.#people!.keys()
    let left = skip
    while (left > 0) {
      const batch = await keys.nextv(Math.min(left, BATCH))
      if (batch.length === 0) break
      left -= batch.length
    }
    const page = await keys.nextv(limit)
    await keys.close()
    return this.#peopleOf(page)
  }

  async update(id: string, patch: Patch): Promise<void> {
    const person = (await this.#people!.get(id))!
    await this.#write([...this.#unindex(person), ...this.#put({ ...person, ...patch })])
  }

  delete(id: string): Promise<void> {
    return this.deleteMany([id])
  }

  async deleteMany(ids: readonly string[]): Promise<void> {
    const people = await this.#peopleOf(ids)
    const remove = (person: Person): Operation => ({ type: 'del', sublevel: this.#people!, key: person._id })
    await this.#write(people.flatMap((person) => [remove(person), ...this.#unindex(person)]))
  }

  async dropStore(): Promise<void> {
    await this.#database!.clear()
  }

  destroy(place: string): Promise<void> {
    return ClassicLevel.destroy(place)
  }

  async #write(operations: Operation[]): Promise<void> {
    await this.#database!.batch(operations as AbstractBatchOperation<Level, string, string>[])
  }

  #put(person: Person): Operation[] {
    const put: Operation = { type: 'put', sublevel: this.#people!, key: person._id, value: person }
    return this.#indexed ? [put, ...this.#entries('put', person)] : [put]
  }

  #unindex(person: Person): Operation[] {
    return this.#indexed ? this.#entries('del', person) : []
  }

  #entries(type: 'put' | 'del', { _id, age, city }: Person): Operation[] {
    const age_ = { sublevel: this.#ages!, key: `${ageKey(age)}!${_id}` }
    const city_ = { sublevel: this.#cities!, key: `${city}!${_id}` }
    return type === 'del'
      ? [
          { type, ...age_ },
          { type, ...city_ },
        ]
      : [
          { type, value: '', ...age_ },
          { type, value: '', ...city_ },
        ]
  }

  async #peopleOf(ids: readonly string[]): Promise<Person[]> {
    const people = await this.#people!.getMany([...ids])
    return people.filter((person) => person !== undefined)
  }

  async #eachPerson(visit: (person: Person) => void): Promise<void> {
    const values = this.#people!.values()
    for (let batch = await values.nextv(BATCH); batch.length > 0; batch = await values.nextv(BATCH))
      batch.forEach(visit)
    await values.close()
  }
}

async function countKeys(keys: { nextv(size: number): Promise<unknown[]>; close(): Promise<void> }): Promise<number> {
  let count = 0
  for (let batch = await keys.nextv(BATCH); batch.length > 0; batch = await keys.nextv(BATCH)) count += batch.length
  await keys.close()
  return count
}

function ageKey(age: number): string {
  return String(age).padStart(3, '0')
}
