/** Filters of change feeds that are functions, as the gateway's callers get them. */
import type { JsonObject } from './documents.ts'
import type { GuardedCollection } from './guarded-collection.ts'
import type { Principal } from './principal.ts'

/** The part of a request for a feed that a change filter may know: no credentials, and no place. */
interface FilterReader {
  readonly method: string
  readonly path: readonly string[]
  readonly query: Readonly<Record<string, unknown>>
  readonly headers: Readonly<Record<string, string>>
}

/** A filter of a change feed that is a function of a design document. */
export interface FilterRequest {
  /** The reader of the feed. */
  readonly principal: Principal
  /** The name by which users know the collection. */
  readonly database: string
  /** The collection, as the principal may use it. */
  readonly collection: GuardedCollection
  /** The reader's request, as the function sees it. */
  readonly reader: FilterReader
  /** `ddoc/function`, or `_view`. */
  readonly filter: string
  /** With `_view`: `ddoc/view`. */
  readonly view: string | undefined
}

/** A filter of one change feed. Call `dispose` when the feed ends. */
export interface ChangeFilter {
  /** For each document (tombstones have `_deleted: true`) whether the feed has its change. */
  accepts(documents: readonly JsonObject[]): Promise<readonly boolean[]>
  /** The feed is over. */
  dispose(): void
}

/** The source of change filters: finds them. @throws ServiceError NOT_FOUND if there is no such function */
export type FilterSource = (request: FilterRequest) => Promise<ChangeFilter>
