/** What the parts of the server, and plugins, say to writes and to change feeds. */
import type { Collection, PannierError } from 'pannier'
import type { JsonObject } from './documents.ts'
import type { Principal } from './principal.ts'
import type { ServiceError } from './service-error.ts'

/** Documents that somebody is about to write. */
export interface GuardedWrite {
  /** Who writes. */
  readonly principal: Principal
  /** The name by which users know the collection. */
  readonly database: string
  /** The collection. */
  readonly collection: Collection<JsonObject>
  /** The documents that are to be written. */
  readonly documents: readonly JsonObject[]
  /** False: the revisions were made elsewhere, and are taken as they are. */
  readonly newEdits: boolean
}

/**
 * Is asked before documents are written, whatever way they come: gives for each the document to write instead, or why it is refused.
 * Guards are not asked about `_local/` documents.
 */
export type WriteGuard = (write: GuardedWrite) => GuardedDocuments | Promise<GuardedDocuments>

/** Why a document is not written. */
export type Refusal = ServiceError | PannierError

export type GuardedDocuments = readonly (JsonObject | Refusal)[]

/** What a change filter may know of the one who reads: no credentials, and no place. */
interface FilterReader {
  readonly method: string
  readonly path: readonly string[]
  readonly query: Readonly<Record<string, unknown>>
  readonly headers: Readonly<Record<string, string>>
}

/** A filter of a change feed that is a function of a design document. */
export interface FilterRequest {
  /** Who asks. */
  readonly principal: Principal
  /** The name of the database. */
  readonly database: string
  /** The collection. */
  readonly collection: Collection<JsonObject>
  /** What reads documents for the one who asks. */
  readonly reader: FilterReader
  /** `ddoc/function`, or `_view`. */
  readonly filter: string
  /** With `_view`: `ddoc/view`. */
  readonly view: string | undefined
}

/** Says which changes a feed has. */
export interface ChangeFilter {
  /** For each document (tombstones have `_deleted: true`) whether the feed has its change. */
  accepts(documents: readonly JsonObject[]): Promise<readonly boolean[]>
  /** The feed is over. */
  dispose(): void
}

/** Finds filters. @throws ServiceError NOT_FOUND if there is no such function */
export type FilterSource = (request: FilterRequest) => Promise<ChangeFilter>
