/**
 * Reads documents from JSON text and writes them in batches. Loaded when it is asked for; docs/import-export.md says what is
 * accepted and what happens to what is not.
 */
import { throwIfAborted } from '../base/abort.ts'
import type { Environment } from '../base/environment.ts'
import { PannierError, type ErrorCode } from '../base/errors.ts'
import { isPlainObject } from '../codec/collation.ts'
import { JsonSplitter, type JsonLayout, type JsonPiece } from '../codec/json-splitter.ts'
import { bytesOf, sizeOf } from './byte-source.ts'
import type { ByteSource } from './byte-stream.ts'
import type { ImportFailure, ImportFormat, ImportOptions, ImportResult } from './import-options.ts'

/** Failures that a result lists; the others are counted. */
export const IMPORT_FAILURES_MAX = 100

/** Text of one batch, and documents: what is written at once. */
const BATCH_BYTES: number = 4 * 1024 * 1024
const BATCH_DOCUMENTS = 20_000

const LAYOUTS: Readonly<Record<ImportFormat, readonly JsonLayout[]>> = {
  ndjson: ['lines'],
  json: ['array'],
  couchdb: ['rows', 'docs'],
}

/** Fields of CouchDB's that tell of a document without being part of it. */
const TOLD_FIELDS: readonly string[] = ['_conflicts', '_deleted_conflicts', '_revs_info', '_local_seq', '_revisions']

/** Failures of one document; any other ends the import. */
const DOCUMENT_CODES: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'PANNIER_CONFLICT',
  'PANNIER_KEY_TOO_LARGE',
  'PANNIER_DOCUMENT_TOO_LARGE',
  'PANNIER_DOCUMENT_TOO_DEEP',
  'PANNIER_INVALID_DOCUMENT',
])

/** How documents are written. Throws, or rejects, as `collection.insert` does. */
export interface ImportTarget {
  one(document: object): Promise<unknown>
  many(documents: readonly object[]): Promise<unknown>
}

interface Place {
  readonly position: number
  readonly line: number
}

interface Waiting extends Place {
  readonly document: Record<string, unknown>
}

export async function importDocuments(
  source: ByteSource,
  target: ImportTarget,
  options: ImportOptions,
  environment: Environment,
): Promise<ImportResult> {
  const run = new Import(target, options, environment, sizeOf(source))
  try {
    await run.read(bytesOf(source))
  } catch (error) {
    throw run.described(error)
  }
  return run.result()
}

class Import {
  readonly #target: ImportTarget
  readonly #options: ImportOptions
  readonly #environment: Environment
  readonly #bytesTotal: number | undefined
  readonly #splitter: JsonSplitter
  #bytes = 0
  #position = 0
  #imported = 0
  #skipped = 0
  #failedCount = 0
  readonly #failed: ImportFailure[] = []
  #batch: Waiting[] = []
  #batchBytes = 0

  constructor(target: ImportTarget, options: ImportOptions, environment: Environment, bytesTotal: number | undefined) {
    this.#target = target
    this.#options = options
    this.#environment = environment
    this.#bytesTotal = bytesTotal
    this.#splitter = new JsonSplitter(options.format && LAYOUTS[options.format])
  }

  async read(chunks: AsyncIterable<Uint8Array>): Promise<void> {
    const { signal } = this.#options
    throwIfAborted(signal, 'The import')
    for await (const chunk of chunks) {
      throwIfAborted(signal, 'The import')
      // A whole file may come as one chunk: then it is looked at in parts, so that memory stays what it is.
      for (let from = 0; from < chunk.length; from += BATCH_BYTES) {
        const part = chunk.subarray(from, from + BATCH_BYTES)
        this.#bytes += part.length
        await this.#take(this.#splitter.push(part))
      }
    }
    await this.#take(this.#splitter.end())
    await this.#flush()
  }

  result(): ImportResult {
    const failed = [...this.#failed].sort((a, b) => a.position - b.position)
    return { imported: this.#imported, skipped: this.#skipped, failedCount: this.#failedCount, failed }
  }

  /** An error that ends the import tells how far it came. */
  described(error: unknown): unknown {
    if (!(error instanceof PannierError)) return error
    const { code, message, cause, details } = error
    return new PannierError(code, message, {
      details: { ...details, ...this.result() },
      ...(cause === undefined ? {} : { cause }),
    })
  }

  async #take(pieces: Iterable<JsonPiece>): Promise<void> {
    for (const piece of pieces) {
      const place = { position: this.#position++, line: piece.line }
      if (piece.error !== undefined) this.#fail(place, piece.error)
      else this.#add(place, piece.value)
      this.#batchBytes += piece.bytes
      if (this.#batchBytes >= BATCH_BYTES || this.#batch.length >= BATCH_DOCUMENTS) await this.#flush()
    }
  }

  #add(place: Place, value: unknown): void {
    const found = this.#splitter.layout === 'rows' ? documentOfRow(value) : value
    if (found instanceof PannierError) {
      this.#fail(place, found)
    } else if (found === undefined || (isPlainObject(found) && found['_deleted'] === true)) {
      this.#skipped++
    } else if (!isPlainObject(found)) {
      this.#fail(place, invalid('A document is a JSON object.'))
    } else {
      const document = withoutStubs(found, this.#options.stubs ?? 'fail')
      if (document instanceof PannierError) this.#fail(place, document, found['_id'])
      else this.#batch.push({ ...place, document })
    }
  }

  async #flush(): Promise<void> {
    const { signal, onProgress } = this.#options
    const batch = this.#batch
    this.#batch = []
    this.#batchBytes = 0
    throwIfAborted(signal, 'The import')
    if (batch.length > 0) {
      try {
        await this.#target.many(batch.map(({ document }) => document))
        this.#imported += batch.length
      } catch (error) {
        documentError(error)
        await this.#writeEach(batch)
      }
      // Between two batches others have their turn.
      await this.#environment.yield()
    }
    onProgress?.({
      bytes: this.#bytes,
      bytesTotal: this.#bytesTotal,
      imported: this.#imported,
      failed: this.#failedCount,
    })
  }

  /** A batch of which one document can't be written: each on its own, which the store does as one group. */
  async #writeEach(batch: readonly Waiting[]): Promise<void> {
    const outcomes = await Promise.allSettled(
      batch.map(async ({ document }) => {
        await this.#target.one(document)
      }),
    )
    outcomes.forEach((outcome, at) => {
      if (outcome.status === 'fulfilled') this.#imported++
      else this.#fail(batch[at]!, documentError(outcome.reason), batch[at]!.document['_id'])
    })
  }

  #fail({ position, line }: Place, error: PannierError, id?: unknown): void {
    this.#failedCount++
    if (this.#failed.length >= IMPORT_FAILURES_MAX) return
    this.#failed.push({ position, line, ...(typeof id === 'string' ? { id } : {}), error })
  }
}

/** The document of a row of `_all_docs`; undefined for one that is deleted. */
function documentOfRow(row: unknown): unknown {
  if (!isPlainObject(row)) return invalid('A row is a JSON object.')
  const { doc, error, value } = row
  if (typeof error === 'string') return invalid(`The row has no document but an error: ${error.slice(0, 100)}.`)
  if (isPlainObject(value) && value['deleted'] === true) return undefined
  return doc ?? invalid('The row has no document; ask for it with include_docs=true.')
}

/** Without what is not content; an error if it has attachments that the source only names. */
function withoutStubs(
  document: Record<string, unknown>,
  stubs: 'fail' | 'drop',
): Record<string, unknown> | PannierError {
  let own = document
  const drop = (name: string): void => {
    if (own === document) own = { ...document }
    delete own[name]
  }
  for (const name of TOLD_FIELDS) if (Object.hasOwn(document, name)) drop(name)
  if (!Object.hasOwn(document, '_attachments')) return own
  if (stubs === 'drop') drop('_attachments')
  else return invalid('The document has attachments, whose data is not in the source.')
  return own
}

/** The error as one of a document; any other is thrown. */
function documentError(error: unknown): PannierError {
  if (error instanceof TypeError) return invalid(error.message, error)
  if (error instanceof PannierError && DOCUMENT_CODES.has(error.code)) return error
  throw error
}

function invalid(message: string, cause?: unknown): PannierError {
  return new PannierError('PANNIER_INVALID_DOCUMENT', message, cause === undefined ? {} : { cause })
}
