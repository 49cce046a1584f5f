/** What the page of the tests in several tabs offers, in the page and in its workers (database.page.ts). */
import type { IndexInput } from '../../../src/index.ts'
import type { Durability } from '../../../src/types.ts'
import type { FrozenWrite, FrozenWrites } from './frozen-writes.ts'
import type { LostStorage } from './lost-storage.ts'
import type { RandomWrites } from './random-writes.ts'
import type { Row } from './rows.ts'

/** Of a collection: equal in two tabs exactly if they see the same. */
export interface Summary {
  readonly count: number
  /** Rows by group, as the index says. */
  readonly indexed: readonly number[]
  readonly sum: number
  readonly digest: number
  /** What the integrity check has found. */
  readonly problems: readonly string[]
}

export interface DatabaseTab extends RandomWrites, FrozenWrites, LostStorage {
  open(name: string, durability?: Durability): Promise<void>
  /** In the first of files and IndexedDB; tells where it is. A worker that is missing can't be started. */
  openChosen(name: string, worker?: 'missing'): Promise<string>
  /** What the console was warned of since the last `openChosen`. */
  warnings(): readonly string[]
  destroyChosen(name: string): Promise<void>
  moveToFiles(): Promise<void>
  close(): Promise<void>
  destroy(): Promise<void>
  refresh(): Promise<void>
  checkpoint(): Promise<void>
  dropRows(): Promise<boolean>
  /** Inserts rows with the numbers `from` to `to - 1`, so many in a call, and so many calls at once. */
  insert(prefix: string, from: number, to: number, rowsPerCall?: number, calls?: number): Promise<void>
  /** Inserts so many rows of 100 kB that can't be compressed, in one call. */
  insertLarge(from: number, count: number): Promise<void>
  /** Resolves when the storage has set room aside for when there is none left. */
  reserveMade(): Promise<void>
  delete(ids: readonly string[]): Promise<void>
  /** Adds 1 to `n` of a row, so often, all at once. */
  increment(id: string, times: number): Promise<void>
  get(id: string): Promise<Row | undefined>
  count(): Promise<number>
  summary(): Promise<Summary>
  buildIndex(index: IndexInput): Promise<void>
  /** Resolves when `subscribe` has told of a commit of another handle that changed the row. */
  hear(id: string): Promise<void>
  /** Starts to walk all rows; the first few are read. */
  beginWalk(): Promise<void>
  /** Reads the rest; gives the numbers of all rows. */
  endWalk(): Promise<number[]>
  /** What came of a call: the code of its error, or 'fulfilled'. */
  outcome(call: Call, ...parameters: unknown[]): Promise<string>
  startWorker(worker: string): Promise<void>
  /** Wherever it is. */
  endWorker(worker: string): void
  inWorker(worker: string, call: Call, ...parameters: unknown[]): Promise<unknown>
  /** Lets a worker write, and resolves when it is frozen in the midst of it. */
  freezeWorker(worker: FrozenWrite): Promise<void>
  /** Lets it go on; resolves with how often the write was tried, when it has succeeded. */
  thawWorker(worker: FrozenWrite): Promise<number>
}

export type Call = keyof DatabaseTab
