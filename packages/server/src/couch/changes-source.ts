/** The change feed of a database as rows of `_changes`. */
import type { DocumentChange } from 'pannier'
import { toCouchDocument } from 'pannier/internal'
import { COUCHDB_MEANING } from '../design/collation/root-collation.ts'
import { HttpError } from '../http/http-error.ts'
import type { ChangeFilter, JsonObject } from '@pannier/backend/internal'
import type { GuardedCollection } from '@pannier/backend'
import { documentPieces, stubsOf } from './attachment-content.ts'
import type { FeedRow, FeedSource } from './feed-pieces.ts'
import { sequenceText } from './sequence.ts'

export interface ChangesRequest {
  readonly since: number
  readonly epoch: string
  /** `since` was of a database that is gone. */
  readonly isOtherLife: boolean
  /** Infinity: all. */
  readonly limit: number
  readonly descending: boolean
  readonly style: 'winner' | 'all'
  readonly includeDocs: boolean
  readonly conflicts: boolean
  readonly attachments: boolean
  /** Only every n-th row has a sequence (CouchDB's `seq_interval`). */
  readonly sequenceInterval: number
  readonly ids: readonly string[] | undefined
  readonly selector: JsonObject | undefined
  readonly accept: ((document: { readonly _id: string }) => boolean) | undefined
  readonly filter: ChangeFilter | undefined
}

type Row = DocumentChange<{ _id: string; _rev: string } & JsonObject>

export class ChangesSource implements FeedSource {
  readonly #collection: GuardedCollection
  readonly #request: ChangesRequest
  #since: number
  /** The value of `last_seq`; in a descending feed the sequence of its last row. */
  #last: number
  #remaining: number
  #told = 0

  /** @throws TypeError for a malformed selector. */
  constructor(collection: GuardedCollection, request: ChangesRequest) {
    this.#collection = collection
    this.#request = request
    this.#since = request.since
    this.#last = request.since
    this.#remaining = request.limit
    this.#changes(false)
  }

  get mayWait(): boolean {
    return !this.#request.isOtherLife
  }

  lastSequence(): string {
    return sequenceText(this.#last, this.#request.epoch)
  }

  async pending(): Promise<number> {
    return (await this.#collection.changes({ since: this.#since, limit: 0 }).page()).pending
  }

  async *rows(live: boolean, stop: AbortSignal): AsyncGenerator<FeedRow[]> {
    const { descending, filter } = this.#request
    if (this.#remaining === 0 || (live && descending)) return
    const feed = this.#changes(live)
    const batches = feed.batches() as AsyncIterableIterator<readonly Row[]>
    // Also ends a wait, which a generator's own `return` would wait for.
    const leave = (): void => void batches.return?.()
    stop.addEventListener('abort', leave)
    try {
      for await (const batch of batches) {
        const accepted = filter === undefined ? batch : await filtered(filter, batch)
        const rows = accepted.slice(0, this.#remaining)
        this.#remaining -= rows.length
        const isFull = rows.length < accepted.length || this.#remaining === 0
        this.#reached(isFull ? rows.at(-1)!.seq : feed.lastSeq, rows)
        yield* this.#batches(rows)
        if (isFull) return
      }
      this.#reached(feed.lastSeq, [])
    } finally {
      stop.removeEventListener('abort', leave)
    }
  }

  #changes(live: boolean): ReturnType<GuardedCollection['changes']> {
    const { epoch, descending, style, conflicts, ids, selector, accept, filter, includeDocs } = this.#request
    return this.#collection.changes({
      since: this.#since,
      epoch,
      live,
      descending,
      style,
      docs: includeDocs || filter !== undefined,
      conflicts,
      ...(filter === undefined && this.#remaining !== Infinity && { limit: this.#remaining }),
      ...(ids !== undefined && { ids }),
      ...(selector !== undefined && { selector, ...COUCHDB_MEANING }),
      ...(accept !== undefined && { filter: accept }),
    })
  }

  #reached(sequence: number, rows: readonly Row[]): void {
    if (this.#request.descending) this.#last = rows.at(-1)?.seq ?? this.#last
    else {
      this.#since = sequence
      this.#last = sequence
    }
  }

  /** A row with the content of attachments comes alone. */
  async *#batches(rows: readonly Row[]): AsyncGenerator<FeedRow[]> {
    const { attachments, includeDocs } = this.#request
    if (!attachments || !includeDocs) {
      if (rows.length > 0) yield rows.map((row) => this.#format(row))
      return
    }
    for (const row of rows) yield [await this.#withContent(row)]
  }

  async #withContent(row: Row): Promise<FeedRow> {
    const { doc, ...bare } = row as Row & { readonly doc?: JsonObject }
    if (doc === undefined || stubsOf(doc) === undefined) return this.#format(row)
    try {
      const content = await documentPieces(this.#collection, toCouchDocument(doc), 0)
      const { sequence, text } = this.#format(bare)
      return { sequence, text: text.slice(0, -NO_DOCUMENT.length), rest: ended(content) }
    } catch (error) {
      // If the document was replaced in the meantime, it comes again.
      if (error instanceof HttpError && error.status === 404) return this.#format(row)
      throw error
    }
  }

  #format({ seq, id, changes, deleted, doc }: Row): FeedRow {
    const { epoch, sequenceInterval, includeDocs } = this.#request
    const sequence = sequenceText(seq, epoch)
    const told = this.#told++ % sequenceInterval === 0 ? sequence : null
    const row = {
      seq: told,
      id,
      changes,
      ...(deleted && { deleted }),
      ...(includeDocs && { doc: doc === undefined ? null : toCouchDocument(doc) }),
    }
    return { sequence, text: JSON.stringify(row) }
  }
}

/** The end of a row without a document. */
const NO_DOCUMENT = 'null}'

async function* ended(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  yield* pieces
  yield '}'
}

async function filtered(filter: ChangeFilter, rows: readonly Row[]): Promise<readonly Row[]> {
  const accepted = await filter.accepts(rows.map(({ doc }) => doc as JsonObject))
  return rows.filter((_row, at) => accepted[at])
}
