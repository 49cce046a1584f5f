/**
 * What a contender must be able to do: what the lab asks, as far as the bars name it, and more, each in the best way that the
 * contender has. Workloads know nothing else about it. An answer may be there at once or be promised.
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
  /** Puts one on city and score in the place of the index on city, where that helps. */
  widenIndex?(): Answer<void>
  /** What was written goes from the log to where it stays, where there is a log. */
  emptyLog?(): Promise<void>
  /** Reads and rewrites the document atomically; resolves when durable. */
  rewrite(id: string, change: (person: Person) => Person): Answer<void>
  countCity(city: string): Answer<number>
  /** The count as it is known without a walk; undefined: it takes one. Only contenders that can tell have it. */
  provenCount?(
    query: { readonly age: readonly [gte: number, lt: number] } | { readonly city: string },
  ): Promise<number | undefined>
  findScoresByCity(city: string): Answer<readonly CityScore[]>
  /** Ties in any order. */
  pageByAge(skip: number, limit: number): Answer<readonly Person[]>
}
