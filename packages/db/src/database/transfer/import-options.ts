/** The options and the result of `collection.import`. */
import type { PannierError } from '../../base/errors.ts'

/** Failures that the result of an import lists. The others are only counted, so that memory is bounded. */
export const IMPORT_FAILURES_MAX = 100

/** 'ndjson': a document a line. 'json': an array of documents. 'couchdb': `_all_docs` with documents, or a body of `_bulk_docs`. */
export type ImportFormat = 'ndjson' | 'json' | 'couchdb'

/**
 * - 'insert': a document whose id is taken fails.
 * - 'upsert': it replaces what is there.
 * - 'replicate': the revisions of the source are taken up as they are, as by `put(documents, { newEdits: false })`.
 */
export type ImportMode = 'insert' | 'upsert' | 'replicate'

/** How far an import is. */
export interface ImportProgress {
  /** The bytes read up to now, and in all where that is known. */
  readonly bytes: number
  /** The length of the source in bytes; undefined if it is not known. */
  readonly bytesTotal: number | undefined
  /** Documents that were written, and those that could not be. */
  readonly imported: number
  /** Documents that could not be written. */
  readonly failed: number
}

/** Options of `collection.import`. */
export interface ImportOptions {
  /** The format; found out when left out. */
  readonly format?: ImportFormat | undefined
  /** The mode; 'insert' when left out. */
  readonly mode?: ImportMode | undefined
  /** The treatment of a document whose attachments are named without their data: 'fail' (default), or 'drop' the attachments. */
  readonly stubs?: 'fail' | 'drop' | undefined
  /** Ends it with PANNIER_ABORTED; batches that were written stay. */
  readonly signal?: AbortSignal | undefined
  /** Called after each batch. */
  readonly onProgress?: ((progress: ImportProgress) => void) | undefined
}

/** A document that was not imported. */
export interface ImportFailure {
  /** The position among the documents of the source; 0 is the first. */
  readonly position: number
  /** The line where it begins; 1 is the first. */
  readonly line: number
  /** The id where it is known. */
  readonly id?: string
  /** The error: why it was not written. */
  readonly error: PannierError
}

/** How an import ended. */
export interface ImportResult {
  /** Documents that were written. */
  readonly imported: number
  /** Deleted ones, which only 'replicate' imports. */
  readonly skipped: number
  /** Documents that were not written. */
  readonly failedCount: number
  /** The first of them, `IMPORT_FAILURES_MAX` at most. */
  readonly failed: readonly ImportFailure[]
}
