/**
 * The contract of a contender for the lab: the operations of the workloads, each as the contender's documentation advises. Workloads know
 * nothing else about it. An operation that it lacks is a gap with a reason (catalog.ts). A gap is never imitated, and not called. An
 * answer may be a value or a promise.
 */
import type { Person } from '../documents.ts'

export type Answer<T> = T | Promise<T>

/** Field by field, what a document gets again. */
export type Patch = Partial<Person>

export interface Contender {
  /** Opens the database at `place` (in Node a path, in a browser a name), creating it if need be. `indexed`: the indexes exist. */
  open(place: string, indexed: boolean): Promise<void>
  close(): Promise<void>
  /** Inserts many people as one write, where the contender has that. */
  insertMany(people: readonly Person[]): Answer<void>
  /** Resolves when the document survives the end of the process. */
  insert(person: Person): Answer<void>
  /** Indexes age and city of the existing documents. */
  buildIndexes(): Answer<void>
  get(id: string): Answer<Person | undefined>
  count(): Answer<number>
  /** Helped by the index on age. */
  countAges(gte: number, lt: number): Answer<number>
  /** Helped by the index on city. */
  findByCity(city: string): Answer<readonly Person[]>
  /** No index helps. */
  findByCountry(country: string): Answer<readonly Person[]>
  /** In the order of ids. */
  pageById(skip: number, limit: number): Answer<readonly Person[]>
  /** Reads, changes and writes the document atomically; resolves like `insert`. */
  update(id: string, patch: Patch): Answer<void>
  delete(id: string): Answer<void>
  deleteMany(ids: readonly string[]): Answer<void>
  /** Documents and indexes are gone, the database stays and can be used. */
  dropStore(): Answer<void>
  /** After `close`: nothing is left. */
  destroy(place: string): Promise<void>
  readonly views?: Views
  readonly replicas?: Replicas
}

/** Map/reduce views, as PouchDB has them. */
export interface Views {
  /** By a map function that has no name: the ids of the first people by score. */
  adHoc(limit: number): Promise<readonly string[]>
  /** Makes a view by score that has a name, and brings it up to date. */
  buildByScore(): Promise<void>
  /** Builds a view by city, with `_stats` of ages: VIEW_ROWS rows a document. */
  buildByCity(): Promise<void>
  byScore(limit: number): Promise<readonly string[]>
  /** For each city, how many rows it has and the sum of the ages. */
  groups(): Promise<readonly string[]>
}

export const VIEW_ROWS = 10

/** Replication between further databases of its own kind. */
export interface Replicas {
  /** Makes a database of these. */
  fill(place: string, people: readonly Person[]): Promise<void>
  /** Replicates all of `source` to a database that is new, and closes both. */
  copy(source: string, target: string): Promise<void>
  /** Returns the documents, by id, and destroys the database. */
  take(place: string): Promise<readonly Person[]>
}

/**
 * Beside the operations: `keep`: what it holds is there again when another process opens it; `nested`, `bytes`: field values;
 * `longKeys`: ids of 2,000 characters.
 */
export type Capability = keyof Contender | 'keep' | 'nested' | 'bytes' | 'longKeys'

/** Called once in a page or process. */
export type ContenderFactory = () => Contender

/** Password of contenders that encrypt. */
export const PASSWORD = 'correct horse battery staple'

export const OPERATIONS: readonly (keyof Contender)[] = [
  'open',
  'close',
  'insertMany',
  'insert',
  'buildIndexes',
  'get',
  'count',
  'countAges',
  'findByCity',
  'findByCountry',
  'pageById',
  'update',
  'delete',
  'deleteMany',
  'dropStore',
  'destroy',
]
