/**
 * Walks the changes of a collection in the order of their sequences, in bounded steps. Each step reads the newest
 * state, so no snapshot is held between steps. A write in the meantime gets a higher sequence. So a step sees the
 * newest state of a document, or nothing if it was changed after the walk's end was set.
 */
import type { Key } from '../../base/brand.ts'
import { numberKey } from '../../codec/key-encoding.ts'
import { BodyView } from '../../document/body.ts'
import { type DocumentChange, BATCH_BYTES_MAX, type StoredDocument } from '../../document/document-reader.ts'
import { otherLeaves, type LeavesOf } from '../../document/stored-revisions.ts'
import { revisionText } from '../../document/revision.ts'
import type { Cursor } from '../../kv/key-value-store.ts'
import { STEP_ROWS_MAX } from '../operators/operator.ts'
import { together } from '../../base/miss.ts'
import type { QuerySource } from '../query-source.ts'
import { compileFilters, type ChangeFilters, type PassChange, findCandidates } from './change-candidates.ts'

export interface ChangeRequest extends ChangeFilters {
  readonly docs: boolean
  readonly descending: boolean
  /** Rows name every leaf revision. */
  readonly leaves: boolean
  /** With `docs`: documents have `_conflicts`. */
  readonly conflicts: boolean
}

export interface ChangeBatch {
  readonly rows: readonly DocumentChange[]
  /** Everything up to this number has been given or filtered out; a feed that resumes after it misses nothing. */
  readonly lastSeq: number
  /** The walk's end was reached, which was set with its first step. One more step starts another walk from there. */
  readonly ended: boolean
  /** Whether it has caught up: nothing was written beyond that end in the meantime. */
  readonly caughtUp: boolean
}

/** Rows of a batch; of their documents there are about BATCH_BYTES_MAX. */
const FEED_BATCH_ROWS_MAX = 256
/** Bytes of skipped documents that one step reads: large documents must not hold the thread for long. */
const LOOKED_BYTES_MAX: number = 4 * BATCH_BYTES_MAX
/** Bodies that are fetched by their numbers at once. */
const FETCHED_MAX = 256

/** The remaining sequences: above `from`, up to `to`. */
interface Span {
  readonly end: number
  from: number
  to: number
  /** The positions of known candidates, in the order of the walk; undefined: all changes are looked at. */
  readonly candidates: readonly number[] | undefined
  at: number
}

export class ChangeWalk {
  readonly #request: ChangeRequest
  #lastSeq: number
  #span: Span | undefined

  constructor(request: ChangeRequest, since: number) {
    this.#request = request
    this.#lastSeq = since
  }

  get lastSeq(): number {
    return this.#lastSeq
  }

  /**
   * Returns the function that reads the next batch from `source`, the newest state, of at most `limit` rows. It may
   * throw a Miss, and continues when it is called again; filters see each change once. If it fails the walk is where it
   * was before the step.
   */
  step(source: QuerySource, limit: number): () => ChangeBatch {
    const step = new Step(source, this.#request, Math.min(limit, FEED_BATCH_ROWS_MAX))
    let find: (() => number[] | undefined) | undefined
    return () => {
      if (this.#span === undefined) {
        const from = this.#lastSeq
        const end = Math.max(from, source.documents.bodies.lastNumber)
        find ??= findCandidates(source, this.#request, from, end)
        const found = from === end ? [] : find()
        const candidates = this.#request.descending ? found?.toReversed() : found
        this.#span = { end, from, to: end, candidates, at: 0 }
      }
      return this.#finish(step, this.#span, source.documents.bodies.lastNumber)
    }
  }

  #finish(step: Step, span: Span, newest: number): ChangeBatch {
    const { descending } = this.#request
    const place = step.read(span)
    const ended = place === undefined
    span.at = step.at
    if (ended) this.#span = undefined
    else if (descending) span.to = place - 1
    else span.from = place
    // Newest first, nothing is complete before everything is.
    if (ended) this.#lastSeq = span.end
    else if (!descending) this.#lastSeq = place
    return { rows: step.changes, lastSeq: this.#lastSeq, ended, caughtUp: ended && newest <= span.end }
  }
}

/** One step; its state survives a Miss. */
class Step {
  readonly #found: Found[] = []
  readonly #source: QuerySource
  readonly #request: ChangeRequest
  readonly #limit: number
  readonly #pass: PassChange
  readonly #body = new BodyView()
  #bytes = 0
  #looked = 0
  #lookedBytes = 0
  #cursor: Cursor | undefined
  #place: number | undefined
  #isRead = false
  /** Candidates before this one were looked at. */
  at = 0

  constructor(source: QuerySource, request: ChangeRequest, limit: number) {
    this.#source = source
    this.#request = request
    this.#limit = limit
    this.#pass = compileFilters(source.documents, request, request.docs)
  }

  get changes(): DocumentChange[] {
    return this.#found.map(({ change }) => change)
  }

  /** Returns the number at which it stopped; undefined if there is nothing left. */
  read(span: Span): number | undefined {
    if (!this.#isRead) {
      this.#place = span.candidates === undefined ? this.#scan(span) : this.#fetch(span, span.candidates)
      this.#isRead = true
    }
    this.#readLeaves()
    return this.#place
  }

  #scan({ from, to }: Span): number | undefined {
    const range = { gte: numberKey(from + 1), lt: numberKey(to + 1) }
    const cursor = (this.#cursor ??= this.#source.documents.bodies.cursor(range, { reverse: this.#request.descending }))
    while (cursor.next()) {
      const sequence = cursor.keyNumber
      const { value } = cursor
      this.#look(value, sequence)
      this.#lookedBytes += value.length
      if (this.#isFull || ++this.#looked >= STEP_ROWS_MAX || this.#lookedBytes >= LOOKED_BYTES_MAX) return sequence
    }
    return undefined
  }

  /** As `#scan`, of the places that are known. */
  #fetch(span: Span, candidates: readonly number[]): number | undefined {
    const sequences = candidates.slice(span.at, span.at + FETCHED_MAX)
    this.at = span.at
    if (sequences.length === 0) return undefined
    const keys = sequences.map<Key>(numberKey)
    const bodies = this.#source.documents.bodies.getSome(keys, BATCH_BYTES_MAX)
    for (const [at, bytes] of bodies.entries()) {
      this.at++
      // A document that was written again lies beyond the end.
      if (bytes === undefined) continue
      this.#look(bytes, sequences[at]!)
      if (this.#isFull) return sequences[at]
    }
    return this.at < candidates.length ? sequences[bodies.length - 1] : undefined
  }

  get #isFull(): boolean {
    return this.#found.length >= this.#limit || this.#bytes >= BATCH_BYTES_MAX
  }

  #look(bytes: Uint8Array, sequence: number): void {
    const body = this.#body.load(bytes, sequence)
    const passed = this.#pass(body)
    if (passed === false) return
    this.#bytes += bytes.length
    const { number, id, revision, deleted, otherLeaves } = body
    const change: Found['change'] = {
      seq: sequence,
      id,
      changes: [{ rev: revision }],
      ...(deleted && { deleted }),
      ...(this.#request.docs && passed !== true && { doc: passed }),
    }
    this.#found.push({ change, number, otherLeaves })
  }

  /** The few documents that have other leaves; what they miss is fetched together. */
  #readLeaves(): void {
    const { leaves, conflicts, docs } = this.#request
    if (!leaves && !(conflicts && docs)) return
    const { documents } = this.#source
    const several = this.#found.filter((found) => found.otherLeaves)
    const others = together(several, (found) => otherLeaves(documents, found))
    for (const [at, { change }] of several.entries()) {
      const live = others[at]!.filter(({ deleted }) => !deleted)
      if (leaves) change.changes = [...change.changes, ...others[at]!.map((leaf) => ({ rev: revisionText(leaf) }))]
      if (conflicts && change.doc !== undefined && live.length > 0) change.doc['_conflicts'] = live.map(revisionText)
    }
  }
}

/** A row that is being made. */
interface Found extends LeavesOf {
  readonly change: { -readonly [Name in keyof DocumentChange]: DocumentChange[Name] } & { doc?: StoredDocument }
}
