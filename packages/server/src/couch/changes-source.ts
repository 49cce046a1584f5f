/** The change feed of a database as rows of `_changes`. */
import type { Change, Collection } from 'pannier'
import { COUCHDB_MEANING } from '../design/couchdb-meaning.ts'
import type { JsonObject } from '../http/request-body.ts'
import type { ChangeFilter } from '../http/seams.ts'
import type { FeedRow, FeedSource } from './feed-pieces.ts'
import { sequenceText } from './sequence.ts'

export interface ChangesRequest {
  readonly since: number
  readonly epoch: string
  /** `since` was of a database that is not there any more. */
  readonly isOtherLife: boolean
  /** Infinity: all. */
  readonly limit: number
  readonly descending: boolean
  readonly style: 'winner' | 'all'
  readonly includeDocs: boolean
  readonly conflicts: boolean
  readonly attachments: boolean
  /** Only each so manieth row has a sequence number. */
  readonly sequenceInterval: number
  readonly ids: readonly string[] | undefined
  readonly selector: JsonObject | undefined
  readonly accept: ((document: { readonly _id: string }) => boolean) | undefined
  readonly filter: ChangeFilter | undefined
}

type Row = Change<{ _id: string; _rev: string } & JsonObject>

/** Documents whose attachments are in memory at the same time. */
const ATTACHMENTS_DOCUMENTS_MAX = 16

export class ChangesSource implements FeedSource {
  readonly #collection: Collection<JsonObject>
  readonly #request: ChangesRequest
  #since: number
  /** What `last_seq` tells; of a descending feed the number of its last row. */
  #last: number
  #left: number
  #told = 0

  /** @throws TypeError for a selector that is none. */
  constructor(collection: Collection<JsonObject>, request: ChangesRequest) {
    this.#collection = collection
    this.#request = request
    this.#since = request.since
    this.#last = request.since
    this.#left = request.limit
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
    if (this.#left === 0 || (live && descending)) return
    const feed = this.#changes(live)
    const batches = feed.batches() as AsyncIterableIterator<readonly Row[]>
    // Also ends a wait, which a generator's own `return` would wait for.
    const leave = (): void => void batches.return?.()
    stop.addEventListener('abort', leave)
    try {
      for await (const batch of batches) {
        const accepted = filter === undefined ? batch : await filtered(filter, batch)
        const rows = accepted.slice(0, this.#left)
        this.#left -= rows.length
        const isFull = rows.length < accepted.length || this.#left === 0
        this.#reached(isFull ? rows.at(-1)!.seq : feed.lastSeq, rows)
        for (const some of this.#portions(rows))
          yield (await this.#withAttachments(some)).map((row) => this.#format(row))
        if (isFull) return
      }
      this.#reached(feed.lastSeq, [])
    } finally {
      stop.removeEventListener('abort', leave)
    }
  }

  #changes(live: boolean): ReturnType<Collection<JsonObject>['changes']> {
    const { epoch, descending, style, conflicts, ids, selector, accept, filter, includeDocs } = this.#request
    return this.#collection.changes({
      since: this.#since,
      epoch,
      live,
      descending,
      style,
      docs: includeDocs || filter !== undefined,
      conflicts,
      ...(filter === undefined && this.#left !== Infinity && { limit: this.#left }),
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

  *#portions(rows: readonly Row[]): Generator<readonly Row[]> {
    if (!this.#request.attachments || !this.#request.includeDocs) {
      if (rows.length > 0) yield rows
      return
    }
    for (let at = 0; at < rows.length; at += ATTACHMENTS_DOCUMENTS_MAX)
      yield rows.slice(at, at + ATTACHMENTS_DOCUMENTS_MAX)
  }

  async #withAttachments(rows: readonly Row[]): Promise<readonly Row[]> {
    const { attachments, includeDocs, conflicts } = this.#request
    if (!attachments || !includeDocs) return rows
    const wanted = rows.filter(({ doc }) => (doc as JsonObject | undefined)?.['_attachments'] !== undefined)
    if (wanted.length === 0) return rows
    const references = wanted.map(({ id, doc }) => ({ id, rev: doc!._rev }))
    const found = await this.#collection.bulkGet(references, { attachments: 'base64', conflicts })
    const documents = new Map(found.flatMap((one) => ('ok' in one ? [[one.id, one.ok]] : [])))
    // One that was replaced meanwhile comes again.
    return rows.map((row) => ({ ...row, doc: (documents.get(row.id) as Row['doc']) ?? row.doc! }))
  }

  #format({ seq, id, changes, deleted, doc }: Row): FeedRow {
    const { epoch, sequenceInterval, includeDocs } = this.#request
    const sequence = sequenceText(seq, epoch)
    const told = this.#told++ % sequenceInterval === 0 ? sequence : null
    const row = { seq: told, id, changes, ...(deleted && { deleted }), ...(includeDocs && { doc: doc ?? null }) }
    return { sequence, text: JSON.stringify(row) }
  }
}

async function filtered(filter: ChangeFilter, rows: readonly Row[]): Promise<readonly Row[]> {
  const accepted = await filter.accepts(rows.map(({ doc }) => doc as JsonObject))
  return rows.filter((_row, at) => accepted[at])
}
