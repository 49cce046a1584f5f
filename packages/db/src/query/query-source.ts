/** The source of a query: one collection as of one snapshot. The database layer makes it over a held snapshot. */
import type { CommitSequence } from '../base/brand.ts'
import type { Pause } from '../base/long-work.ts'
import type { MaybePromise } from '../base/async.ts'
import type { CollectionState, IndexDefinition } from '../document/catalog.ts'
import type { DocumentReader } from '../document/document-reader.ts'
import type { TreeReader } from '../kv/key-value-store.ts'
import type { NumberSet } from './sets/number-set.ts'

/** The part that planning reads: counts, and positions of index entries. */
export interface PlanSource {
  readonly documents: Pick<DocumentReader, 'count' | 'countIds'>
  /** The indexes. Indexes that are being built may be among them; they are ignored. */
  readonly indexes: readonly IndexDefinition[]
  /** The entries of an index. */
  index(definition: IndexDefinition): EntryTree
}

export type EntryTree = Pick<TreeReader, 'count' | 'cursor'>

/** The sets that columns/kept-sets.ts keeps, as of a snapshot. */
export interface KeptSets {
  /** The epoch of the collection. */
  readonly epoch: string
  /** The last sequence that was read. */
  readonly upTo: number
  readonly live: NumberSet
  /** By the path that these documents lack. */
  readonly missing: Map<string, NumberSet>
}

/** The columns that columns/column-store.ts keeps, as the database sees them. */
export interface KeptColumns {
  /** About how much memory the columns of a collection take. */
  bytesOf(collection: Pick<CollectionState, 'number' | 'epoch'>): number
  /** The collection was dropped. */
  forget(collection: Pick<CollectionState, 'number' | 'epoch'>): void
}

/** When queries use columns: the least number of documents, and the least cost of a plan, by that of a walk of all. Tests change it. */
export const COLUMNS_USE: { documentsMin: number; costShareMin: number } = { documentsMin: 2000, costShareMin: 0.2 }

/** A place for the columns of a database. */
export interface ColumnMemory {
  /** About how much memory all of them may take. */
  readonly bytesMax: number
  /** Made by the first query that needs a column. */
  store: KeptColumns | undefined
}

/** A place for what is kept of a collection. */
export interface KeptMemory {
  sets?: KeptSets | undefined
  readonly columns: ColumnMemory
}

export interface QuerySource extends PlanSource {
  /** The sequence of the newest commit that is in it. */
  readonly sequence: CommitSequence
  readonly documents: DocumentReader
  index(definition: IndexDefinition): TreeReader
  /** Runs `step` until nothing is missing in memory. Synchronous when nothing is. */
  attempt<T>(step: () => T): MaybePromise<T>
  /** Call it between steps: it releases the thread after a slice. */
  readonly pause: Pause
  /** The memory that queries keep from one to the next; undefined: this state may never be committed. */
  readonly kept?: KeptMemory | undefined
  /** The clock, in milliseconds: what is now. */
  readonly now: () => number
  /** Another collection in the same snapshot, which is released with this one. Only where relations are declared. */
  readonly other?: ((name: string) => QuerySource) | undefined
  /** Releases it. Idempotent. Called once when the query is done with it, however it ends. */
  release(): void
}
