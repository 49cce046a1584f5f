/**
 * TinyBase in memory: a row a document, rows written in one transaction, indexes as slices of rows by the value of a cell
 * (https://tinybase.org/guides/using-indexes/). Cells are scalars here, so an array is kept as JSON.
 */
import { createIndexes, createStore } from 'tinybase'
import type { Indexes, Row, Store } from 'tinybase'
import type { Contender, Patch } from './contender.ts'
import type { Person } from '../documents.ts'

const TABLE = 'people'

export class TinyBaseContender implements Contender {
  #store: Store | undefined
  #indexes: Indexes | undefined

  async open(_place: string, indexed: boolean): Promise<void> {
    this.#store = createStore()
    this.#indexes = createIndexes(this.#store)
    if (indexed) this.buildIndexes()
  }

  async close(): Promise<void> {
    this.#indexes?.destroy()
    this.#store = undefined
  }

  insertMany(people: readonly Person[]): void {
    this.#store!.transaction(() => {
      for (const person of people) this.insert(person)
    })
  }

  insert(person: Person): void {
    this.#store!.setRow(TABLE, person._id, rowOf(person))
  }

  buildIndexes(): void {
    this.#indexes!.setIndexDefinition('age', TABLE, 'age').setIndexDefinition('city', TABLE, 'city')
  }

  get(id: string): Person | undefined {
    return this.#store!.hasRow(TABLE, id) ? this.#person(id) : undefined
  }

  count(): number {
    return this.#store!.getRowCount(TABLE)
  }

  countAges(gte: number, lt: number): number {
    let count = 0
    for (let age = gte; age < lt; age++) count += this.#indexes!.getSliceRowIds('age', String(age)).length
    return count
  }

  findByCity(city: string): readonly Person[] {
    return this.#indexes!.getSliceRowIds('city', city).map((id) => this.#person(id))
  }

  findByCountry(country: string): readonly Person[] {
    const found: Person[] = []
    this.#store!.forEachRow(TABLE, (id) => {
      if (this.#store!.getCell(TABLE, id, 'country') === country) found.push(this.#person(id))
    })
    return found
  }

  /** Without a cell to sort by, rows are sorted by their ids. */
  pageById(skip: number, limit: number): readonly Person[] {
    return this.#store!.getSortedRowIds(TABLE, undefined, false, skip, limit).map((id) => this.#person(id))
  }

  update(id: string, patch: Patch): void {
    this.#store!.setPartialRow(TABLE, id, rowOf(patch))
  }

  delete(id: string): void {
    this.#store!.delRow(TABLE, id)
  }

  deleteMany(ids: readonly string[]): void {
    this.#store!.transaction(() => {
      for (const id of ids) this.delete(id)
    })
  }

  dropStore(): void {
    this.#store!.delTable(TABLE)
  }

  async destroy(): Promise<void> {
    this.#store = undefined
  }

  #person(id: string): Person {
    const row = this.#store!.getRow(TABLE, id)
    return { ...row, _id: id, tags: JSON.parse(row['tags'] as string) as string[] } as unknown as Person
  }
}

function rowOf(person: Patch): Row {
  const { _id, tags, ...cells } = person
  return tags === undefined ? cells : { ...cells, tags: JSON.stringify(tags) }
}
