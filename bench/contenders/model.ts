/** The model that gives the right answers: the obvious program over a Map. Its time is not measured. */
import { VIEW_ROWS } from './contender.ts'
import type { Contender, Patch, Replicas, Views } from './contender.ts'
import type { Person } from '../documents.ts'

export class ModelContender implements Contender {
  #people = new Map<string, Person>()

  async open(): Promise<void> {}

  async close(): Promise<void> {}

  insertMany(people: readonly Person[]): void {
    for (const person of people) this.insert(person)
  }

  insert(person: Person): void {
    this.#people.set(person._id, person)
  }

  buildIndexes(): void {}

  get(id: string): Person | undefined {
    return this.#people.get(id)
  }

  count(): number {
    return this.#people.size
  }

  countAges(gte: number, lt: number): number {
    return this.#filter((person) => person.age >= gte && person.age < lt).length
  }

  findByCity(city: string): readonly Person[] {
    return this.#filter((person) => person.city === city)
  }

  findByCountry(country: string): readonly Person[] {
    return this.#filter((person) => person.country === country)
  }

  pageById(skip: number, limit: number): readonly Person[] {
    const ids = [...this.#people.keys()].sort().slice(skip, skip + limit)
    return ids.map((id) => this.#people.get(id)!)
  }

  update(id: string, patch: Patch): void {
    this.#people.set(id, { ...this.#people.get(id)!, ...patch })
  }

  delete(id: string): void {
    this.#people.delete(id)
  }

  deleteMany(ids: readonly string[]): void {
    for (const id of ids) this.#people.delete(id)
  }

  dropStore(): void {
    this.#people.clear()
  }

  readonly views: Views = {
    adHoc: (limit) => this.views.byScore(limit),
    buildByScore: async () => {},
    buildByCity: async () => {},
    byScore: async (limit) => {
      const people = this.#filter(() => true).sort((a, b) => a.score - b.score || (a._id < b._id ? -1 : 1))
      return people.slice(0, limit).map(({ _id }) => _id)
    },
    groups: async () => {
      const cities = Map.groupBy(this.#people.values(), ({ city }) => city)
      return [...cities]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([city, people]) => {
          const sum = people.reduce((total, { age }) => total + age, 0)
          return `${city} ${people.length * VIEW_ROWS} ${sum * VIEW_ROWS}`
        })
    },
  }

  #filled: readonly Person[] = []
  readonly replicas: Replicas = {
    fill: async (_place, people) => {
      this.#filled = people
    },
    copy: async () => {},
    take: async () => this.#filled.toSorted((a, b) => (a._id < b._id ? -1 : 1)),
  }

  async destroy(): Promise<void> {
    this.#people.clear()
  }

  #filter(matches: (person: Person) => boolean): Person[] {
    return [...this.#people.values()].filter(matches)
  }
}
