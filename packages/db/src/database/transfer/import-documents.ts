/**
 * Reads documents from JSON text and writes them in batches. Loaded on first use. docs/internals/import-export.md
 * defines the accepted input and the treatment of other input.
 */
import { eitherSignal, RunningWork } from '../../base/long-work.ts'
import { checkChoice, checkOptions, type OptionNames } from '../../base/options.ts'
import type { Environment } from '../../base/environment.ts'
import { PannierError, type ErrorCode } from '../../base/errors.ts'
import { isPlainObject } from '../../codec/collation.ts'
import { JsonSplitter, type JsonLayout, type JsonPiece } from '../../codec/json-splitter.ts'
import { fromCouchDocument } from '../../document/attachments/couch-attachments.ts'
import type { WriteOutcome } from '../../document/write-documents.ts'
import type { BatchOptions, EditOptions } from '../collection/document-types.ts'
import type { DatabaseContext } from '../database-context.ts'
import { bytesUntilCancelled, sizeOf } from './byte-streams.ts'
import type { ByteSource } from './byte-stream.ts'
import {
  IMPORT_FAILURES_MAX,
  type ImportFailure,
  type ImportFormat,
  type ImportOptions,
  type ImportResult,
} from './import-options.ts'
import { DOCUMENT_TEXT_BYTES_MAX } from '../../codec/document-format.ts'

const NAME = 'The import'
const IMPORT_OPTIONS: OptionNames<ImportOptions> = {
  format: true,
  mode: true,
  stubs: true,
  signal: true,
  onProgress: true,
}
/** Text of one batch, and documents: what is written at once. */
const BATCH_BYTES: number = 4 * 1024 * 1024
const BATCH_DOCUMENTS = 20_000

const LAYOUTS: Readonly<Record<ImportFormat, readonly JsonLayout[]>> = {
  ndjson: ['lines'],
  json: ['array'],
  couchdb: ['rows', 'docs'],
}

/** Failures of one document; any other ends the import. */
const DOCUMENT_CODES: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'PANNIER_CONFLICT',
  'PANNIER_KEY_TOO_LARGE',
  'PANNIER_DOCUMENT_TOO_LARGE',
  'PANNIER_DOCUMENT_TOO_DEEP',
  'PANNIER_DOCUMENT_INVALID',
])

/** Writes what can be written of them, and reports each. Throws a TypeError for a malformed one. */
type WriteDocuments = (documents: readonly object[]) => Promise<readonly WriteOutcome[]>

interface InputPosition {
  readonly position: number
  readonly line: number
}

interface PendingDocument extends InputPosition {
  readonly document: Record<string, unknown>
}

/** The collection that documents are imported into. */
export type ImportTarget = Readonly<
  Record<
    'insert' | 'upsert' | 'put',
    (documents: readonly object[], options: BatchOptions & EditOptions) => Promise<WriteOutcome[]>
  >
>

export async function importDocuments(
  source: ByteSource,
  target: ImportTarget,
  options: ImportOptions,
  { closing, environment }: Pick<DatabaseContext, 'closing' | 'environment'>,
): Promise<ImportResult> {
  checkOptions('import()', options, IMPORT_OPTIONS)
  checkChoice('import()', 'format', options.format, Object.keys(LAYOUTS))
  const { mode = 'insert' } = options
  checkChoice('import()', 'mode', mode, ['insert', 'upsert', 'replicate'])
  checkChoice('import()', 'stubs', options.stubs, ['fail', 'drop'])
  const write: WriteDocuments = (documents) =>
    mode === 'replicate'
      ? target.put(documents, { atomic: false, newEdits: false })
      : target[mode](documents, { atomic: false })
  const signal = eitherSignal(closing, options.signal)
  const run = new Import(write, { ...options, signal }, environment, sizeOf(source))
  try {
    await run.read(bytesUntilCancelled(() => source, signal, NAME))
  } catch (error) {
    throw run.described(error)
  }
  return run.result()
}

class Import {
  readonly #write: WriteDocuments
  readonly #options: ImportOptions
  readonly #work: RunningWork
  readonly #bytesTotal: number | undefined
  readonly #splitter: JsonSplitter
  #bytes = 0
  #position = 0
  #imported = 0
  #skipped = 0
  #failedCount = 0
  readonly #failed: ImportFailure[] = []
  #batch: PendingDocument[] = []
  #batchBytes = 0

  constructor(write: WriteDocuments, options: ImportOptions, environment: Environment, bytesTotal: number | undefined) {
    this.#write = write
    this.#options = options
    this.#work = new RunningWork({ name: NAME, environment, signal: options.signal })
    this.#bytesTotal = bytesTotal
    this.#splitter = new JsonSplitter(options.format && LAYOUTS[options.format])
  }

  async read(chunks: AsyncIterable<Uint8Array>): Promise<void> {
    for await (const chunk of chunks) {
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

  #add(place: InputPosition, value: unknown): void {
    const found = this.#splitter.layout === 'rows' ? documentOfRow(value) : value
    if (found instanceof PannierError) {
      this.#fail(place, found)
    } else if (isPlainObject(found) && found['_deleted'] === true && this.#options.mode !== 'replicate') {
      this.#skipped++
    } else if (!isPlainObject(found)) {
      this.#fail(place, invalid('A document is a JSON object.'))
    } else {
      const document = withoutStubs(found, this.#options.stubs ?? 'fail')
      if (document instanceof PannierError) this.#fail(place, document, found['_id'])
      else this.#batch.push({ ...place, document: fromCouchDocument(document) })
    }
  }

  async #flush(): Promise<void> {
    const batch = this.#batch
    this.#batch = []
    this.#batchBytes = 0
    if (batch.length > 0) {
      // Not after it: an import whose last batch is written has succeeded.
      await this.#work.pause()
      const outcomes = await this.#outcomes(batch.map(({ document }) => document))
      outcomes.forEach((outcome, at) => {
        if ('error' in outcome) this.#fail(batch[at]!, documentError(outcome.error), batch[at]!.document['_id'])
        else this.#imported++
      })
    }
    this.#options.onProgress?.({
      bytes: this.#bytes,
      bytesTotal: this.#bytesTotal,
      imported: this.#imported,
      failed: this.#failedCount,
    })
  }

  /** A batch that one document keeps from being encoded: each on its own, which the store does as one group. */
  async #outcomes(documents: readonly object[]): Promise<readonly ({ readonly error: unknown } | object)[]> {
    try {
      return await this.#write(documents)
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
      const settled = await Promise.allSettled(documents.map(async (document) => this.#write([document])))
      return settled.map((one) => (one.status === 'fulfilled' ? one.value[0]! : { error: one.reason as unknown }))
    }
  }

  #fail({ position, line }: InputPosition, error: PannierError, id?: unknown): void {
    this.#failedCount++
    if (this.#failed.length >= IMPORT_FAILURES_MAX) return
    this.#failed.push({ position, line, ...(typeof id === 'string' ? { id } : {}), error })
  }
}

/** The document of a row of `_all_docs`. */
function documentOfRow(row: unknown): unknown {
  if (!isPlainObject(row)) return invalid('A row is a JSON object.')
  const { doc, error, id, value } = row
  if (typeof error === 'string') return invalid(`The row has no document but an error: ${error.slice(0, 100)}.`)
  if (isPlainObject(value) && value['deleted'] === true) return { _id: id, _rev: value['rev'], _deleted: true }
  return doc ?? invalid('The row has no document; ask for it with include_docs=true.')
}

/** An error if it has attachments that the source only names, or the document without these. */
function withoutStubs(
  document: Record<string, unknown>,
  stubs: 'fail' | 'drop',
): Record<string, unknown> | PannierError {
  const attachments = Object.hasOwn(document, '_attachments') ? document['_attachments'] : undefined
  if (!isPlainObject(attachments)) return document
  const whole = Object.entries(attachments).filter(([, value]) => isPlainObject(value) && Object.hasOwn(value, 'data'))
  if (whole.length > 0 && whole.length === Object.keys(attachments).length) return document
  if (stubs === 'fail') return invalid('The document has attachments, whose data is not in the source.')
  const { _attachments, ...own } = document
  return whole.length > 0 ? { ...own, _attachments: Object.fromEntries(whole) } : own
}

/** The error as one of a document; any other is thrown. */
function documentError(error: unknown): PannierError {
  if (error instanceof TypeError) return invalid(error.message, error)
  if (error instanceof PannierError && DOCUMENT_CODES.has(error.code)) return error
  throw error
}

function invalid(message: string, cause?: unknown): PannierError {
  return new PannierError('PANNIER_DOCUMENT_INVALID', message, cause === undefined ? {} : { cause })
}

/**
 * Lines of JSON that another Pannier has written, parsed as they come. Half of the work of codec/json-splitter.ts, which takes what
 * people have and finds names that occur twice: here, as in every answer of a peer, the last one counts.
 */
interface JsonLine {
  readonly value: unknown
  /** The number of chars of the text. */
  readonly chars: number
}

/** Everything it throws means that the text is not what it has to be. Memory: a chunk and a line. */
export class JsonLines {
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  /** The parts of the line that has not ended yet. */
  #pieces: string[] = []
  #chars = 0

  /** The lines that end in this chunk. */
  push(chunk: Uint8Array): Iterable<JsonLine> {
    const pieces = this.#decoder.decode(chunk, { stream: true }).split('\n')
    const [first] = pieces
    this.#chars += first!.length
    if (this.#chars > DOCUMENT_TEXT_BYTES_MAX) throw new RangeError('a line is too long')
    this.#pieces.push(first!)
    if (pieces.length === 1) return []
    pieces[0] = this.#pieces.join('')
    const rest = pieces.pop()!
    this.#pieces = [rest]
    this.#chars = rest.length
    return parsed(pieces)
  }

  /** No line has begun that has not ended. */
  get isAtEnd(): boolean {
    return this.#chars === 0
  }
}

function* parsed(lines: readonly string[]): Iterable<JsonLine> {
  for (const line of lines) yield { value: JSON.parse(line), chars: line.length }
}
