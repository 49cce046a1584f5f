/**
 * The contract of a contender for the bars: the lab's operations as far as the bars name them, and more, each in the contender's best
 * way. Workloads know nothing else about it. An answer may be a value or a promise.
 */
import type { Answer, Contender as LabContender } from '../../contenders/contender.ts'
import type { Person } from '../../documents.ts'

/** The fields that an index on (city, score) covers. */
export interface CityScore {
  readonly city: string
  readonly score: number
}

type InBoth =
  | 'open'
  | 'close'
  | 'insertMany'
  | 'buildIndexes'
  | 'insert'
  | 'get'
  | 'count'
  | 'countAges'
  | 'findByCountry'
  | 'findByCity'
  | 'pageById'

export interface Contender extends Pick<LabContender, InBoth> {
  /** Replaces the index on city with one on city and score, if that helps. */
  widenIndex?(): Answer<void>
  /** Empties the log, if there is one. */
  emptyLog?(): Promise<void>
  /** Reads and rewrites the document atomically; resolves when durable. */
  rewrite(id: string, change: (person: Person) => Person): Answer<void>
  countCity(city: string): Answer<number>
  /** The count if it is known without a walk; otherwise undefined. Only contenders that can tell have this method. */
  provenCount?(
    query: { readonly age: readonly [gte: number, lt: number] } | { readonly city: string },
  ): Promise<number | undefined>
  findScoresByCity(city: string): Answer<readonly CityScore[]>
  /** A page of people by age; ties come in any order. */
  pageByAge(skip: number, limit: number): Answer<readonly Person[]>
}
