/** Guards of writes, by parts of the server and by the program around it. */
import type { PannierError } from 'pannier'
import type { GuardReader } from 'pannier/internal'
import type { RevisionReadOptions } from 'pannier/types'
import type { JsonObject } from './documents.ts'
import type { Principal } from './principal.ts'
import type { ServiceError } from './service-error.ts'

/** Why a document is not written. */
export type Refusal = ServiceError | PannierError

/** Somebody writes, or is about to. */
export interface Write {
  /** The principal who writes. */
  readonly principal: Principal
  /** The name by which users know the collection. */
  readonly database: string
  /** Whether edits are new. False: the revisions were made elsewhere, and are taken as they are. */
  readonly newEdits: boolean
}

/** Documents before the transaction. */
export interface GuardedWrite extends Write {
  /** The documents that are to be written. */
  readonly documents: readonly JsonObject[]
  /** The collection's documents of the write. */
  readonly stored: StoredDocuments
}

/**
 * The part of the collection that a guard may read. If a replicated document that it has judged was changed since, it is asked again. An
 * edit needs no such care: it names the revision that it replaces.
 */
export interface StoredDocuments {
  /** The name of the collection in the database of the server. */
  readonly name: string
  /** The document, or undefined. */
  get(id: string, options?: RevisionReadOptions): Promise<JsonObject | undefined>
  /** The live leaves of a document, and those that are deleted. */
  leaves(id: string): Promise<JsonObject[]>
  /** Whether there was such a document. */
  wasDeleted(id: string): Promise<boolean>
}

/** A document inside the transaction. */
export interface GuardedChange {
  /** The document as it is now; undefined if it is missing or deleted. A document in conflict gives its winner. */
  readonly old: JsonObject | undefined
  /** The document as it will be. */
  readonly document: JsonObject
  /** Documents of all collections, under the library's names. */
  readonly reader: GuardReader
}

/**
 * Judges a document inside the transaction that writes it: nobody writes between the judgement and the write. It delays all other
 * writers, so it is short and synchronous. It may be called again, so it does nothing else. Undefined: the document passes.
 */
export type Judge = (change: GuardedChange) => Refusal | undefined

/** Is asked about every write, whatever way it comes, but not about `_local/` documents. */
export interface WriteGuard {
  /**
   * Before the transaction: what takes time, and what changes documents. Gives for each the document to write instead, or why it is
   * refused; `write.documents` itself if it has nothing to say.
   */
  prepare?(write: GuardedWrite): GuardedDocuments | Promise<GuardedDocuments>
  /** Gives what judges inside the transaction; undefined if nothing has to. It is asked after all guards have prepared. */
  decide?(write: Write): Judge | undefined
  /** Documents were written, these among them. */
  written?(write: Write, documents: readonly JsonObject[]): void
}

/** For each document what is written instead, or why it is not written. */
export type GuardedDocuments = readonly (JsonObject | Refusal)[]
