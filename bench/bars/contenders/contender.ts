/**
 * What a contender must be able to do: the operations that the bars name, each in the best way that the contender has.
 * Workloads know nothing else about it. An answer may be there at once or be promised.
 */
import type { Person } from '../../documents.ts'

export type Answer<T> = T | Promise<T>

/** The fields that an index on (city, score) covers. */
export interface CityScore {
  readonly city: string
  readonly score: number
}

export interface Contender {
  /** Opens the database at `place`, creating it if need be. `indexed`: the secondary indexes exist. */
  open(place: string, indexed: boolean): Promise<void>
  close(): Promise<void>
  /** All of them, as one atomic write where the contender has one. */
  insertMany(people: readonly Person[]): Answer<void>
  /** Builds the two secondary indexes, on age and on city (where it helps: city and score), on the documents there are. */
  buildIndexes(): Promise<void>
  /** Resolves when durable (relaxed: survives the end of the process). */
  insert(person: Person): Answer<void>
  /** Reads and rewrites the document atomically; resolves when durable. */
  update(id: string, change: (person: Person) => Person): Answer<void>
  get(id: string): Answer<Person | undefined>
  count(): Answer<number>
  countAges(gte: number, lt: number): Answer<number>
  countCity(city: string): Answer<number>
  /** The count as it is known without a walk; undefined: it takes one. Only contenders that can tell have it. */
  provenCount?(
    query: { readonly age: readonly [gte: number, lt: number] } | { readonly city: string },
  ): Promise<number | undefined>
  /** No index helps. */
  findByCountry(country: string): Answer<readonly Person[]>
  findByCity(city: string): Answer<readonly Person[]>
  findScoresByCity(city: string): Answer<readonly CityScore[]>
  pageById(skip: number, limit: number): Answer<readonly Person[]>
  /** Ties in any order. */
  pageByAge(skip: number, limit: number): Answer<readonly Person[]>
}

/** Called once in a page or process. */
export type ContenderFactory = () => Contender
