/**
 * A running live query.
 *
 * Guarantees: it shows the answer of the query as of one commit. It takes commits in order, each as a whole. Every
 * subscriber gets each state that it has time for, and the changes since the last state that it got.
 */
import { tellListener } from '../../base/callback.ts'
import { isClosedByCaller, isPannierError, PannierError } from '../../base/errors.ts'
import { cancelledError, retryWhenStale } from '../../base/long-work.ts'
import type { StoredDocument } from '../../document/document-reader.ts'
import type { ChangedDocument, QueryRun } from '../query-run.ts'
import { HeldCount, type ChangedEntries } from './held-count.ts'
import { FollowedRows, type Commits } from './followed-rows.ts'
import { documentRows, HeldRows } from './held-rows.ts'
import type { LiveRequest, LiveState, LiveUpdate, LiveView, LiveWork, Subscriber } from './live-types.ts'
import { readRows, readWindow } from './read-rows.ts'
import { isSameView, Subscription, updatedCount, updates, type UpdateBetween } from './subscription.ts'

/**
 * The highest number of rows before the window that are held. Beyond it, each commit to the collection reads the query
 * again.
 */
export const SKIP_HELD_MAX = 1000
/** Changes that are kept while rows are read; with more of them the rows are read again. */
const PENDING_MAX = 1000

/** A document as of a commit, or undefined. */
interface PendingChange {
  readonly sequence: number
  readonly document: StoredDocument | undefined
}

/** The source of commits for a query. */
export interface RunOwner extends Commits {
  /** Aborted when the database is closed. */
  readonly closing: AbortSignal
  /** The number of the collection to watch; 0: it does not exist yet. */
  readonly collection: number
  /** Notes that a run reads its rows: it gets every change. */
  loading(run: LiveRun): void
  /** Notes that a run has read its rows. Gives the test of its condition. */
  loaded(run: LiveRun): (document: StoredDocument) => boolean
  /** Notes that the rows of a run have changed; call `notify`. */
  changed(run: LiveRun): void
  /** Notes that a run holds this document. */
  hold(id: string, run: LiveRun): void
  release(id: string, run: LiveRun): void
  /** Notes that a run has ended. */
  remove(run: LiveRun): void
}

export class LiveRun implements LiveWork {
  readonly request: LiveRequest
  readonly ready: Promise<void>
  /** Rows before the window are not held, and a change has them read again. */
  readonly isDeep: boolean
  /** Times that rows were read. */
  reads = 0
  readonly #owner: RunOwner
  readonly state: LiveState
  readonly #held: HeldRows<StoredDocument> | HeldCount | FollowedRows
  readonly #updateBetween: UpdateBetween
  readonly subscriptions: Set<Subscription> = new Set()
  /** Loops that have not ended, each with what wakes those who wait in it. */
  readonly #loops = new Set<() => void>()
  readonly #pending = new Map<string, PendingChange>()
  #settleReady: { resolve: () => void; reject: (error: unknown) => void } | undefined
  /** The commit that the rows are of, at least. */
  #sequence = -1
  /** The collection that they are of; 0: there was none. */
  #collection = 0
  /** Rows have to be of this commit at least. */
  #staleBefore = -1
  #loading = false
  #ended = false
  /** The error that ends loops over the query. */
  #reason: unknown

  constructor(owner: RunOwner, request: LiveRequest, state: LiveState) {
    const { specification, followed } = request
    const { skip, limit } = specification
    const isDeep = request.counts === undefined && skip > SKIP_HELD_MAX
    this.request = request
    this.isDeep = isDeep && followed === undefined
    this.#owner = owner
    this.state = state
    this.#updateBetween = request.counts === true ? updatedCount : updates()
    const holding = this.isDeep
      ? { hold: () => {}, release: () => {} }
      : { hold: (id: string) => owner.hold(id, this), release: (id: string) => owner.release(id, this) }
    this.#held =
      followed !== undefined
        ? new FollowedRows(request, followed, isDeep)
        : request.counts === true
          ? new HeldCount(specification, holding)
          : new HeldRows(isDeep ? 0 : skip, limit, holding, documentRows(specification))
    this.ready = new Promise((resolve, reject) => (this.#settleReady = { resolve, reject }))
    this.ready.catch(() => {})
  }

  /** During that, it gets all changes. */
  get loading(): boolean {
    return this.#loading
  }

  /** True if the run counts ranges of keys. */
  get isByRank(): boolean {
    return this.#held instanceof HeldCount && this.#held.isByRank
  }

  /** Begins to read the rows; once. */
  begin(): void {
    const { signal } = this.request
    signal?.addEventListener('abort', this.#abort)
    if (signal?.aborted) this.#abort()
    else void this.#load()
  }

  /** Keeps a commit that comes while rows are read. */
  keep(sequence: number, id: string, document: StoredDocument | undefined): void {
    if (this.#pending.size < PENDING_MAX || this.#pending.has(id)) this.#pending.set(id, { sequence, document })
    else this.#staleBefore = sequence
  }

  /** Documents that match as they are now; undefined for those that do not (any more). Not while `loading`. */
  apply(sequence: number, changes: ReadonlyMap<string, StoredDocument | undefined>): void {
    if (this.#ended || sequence <= this.#sequence) return
    this.#sequence = sequence
    this.#collection ||= this.#owner.collection
    if (this.#held instanceof FollowedRows) return
    if (this.#held.apply(changes)) this.#show()
    else void this.#load()
  }

  /** For a count by rank, when a commit has changed these entries. */
  recount(sequence: number, entries: ChangedEntries): void {
    if (this.#held instanceof HeldCount && this.#held.isChangedBy(entries)) this.invalidate(sequence)
  }

  /** A commit has changed it is not known what. */
  invalidate(sequence: number): void {
    if (this.#ended || sequence <= this.#sequence) return
    this.#staleBefore = Math.max(this.#staleBefore, sequence)
    if (this.#held instanceof FollowedRows) {
      this.#held.invalidate()
      this.#loadSoon()
    } else if (!this.#loading) void this.#load()
  }

  /** For a query that follows relations: a commit has changed these documents. */
  note(sequence: number, collection: string, changed: readonly ChangedDocument[]): void {
    if (this.#ended || sequence <= this.#sequence || !(this.#held instanceof FollowedRows)) return
    this.#held.note(sequence, collection, changed)
    if (this.#held.isBehind) this.#loadSoon()
  }

  /** Tells subscribers what `apply` has changed. */
  notify(): void {
    for (const subscription of this.subscriptions) subscription.flush()
    this.#wake()
  }

  subscribe(subscriber: Subscriber): () => void {
    if (this.#ended) {
      tellListener(() => subscriber.onEnd?.(this.state.error))
      return () => {}
    }
    const subscription = new Subscription(subscriber, this.state, this.#updateBetween)
    this.subscriptions.add(subscription)
    queueMicrotask(() => {
      if (this.subscriptions.has(subscription)) subscription.flush()
    })
    return () => {
      subscription.stop()
      this.subscriptions.delete(subscription)
    }
  }

  iterate(): AsyncIterator<LiveUpdate<object> | number, undefined, undefined> {
    const state = this.state
    const waiting = new Set<() => void>()
    let seen: LiveView | undefined
    const wake = (): void => {
      for (const resolve of waiting) resolve()
      waiting.clear()
    }
    const next = async (): Promise<IteratorResult<LiveUpdate<object> | number, undefined>> => {
      while (this.#loops.has(wake) && !this.#ended) {
        const update = state.view && this.#updateBetween(seen, state.view)
        if (update !== undefined) {
          seen = state.view
          return { done: false, value: update }
        }
        await new Promise<void>((resolve) => waiting.add(resolve))
      }
      if (this.#loops.delete(wake) && this.#reason !== undefined) throw this.#reason
      return { done: true, value: undefined }
    }
    const end = (): Promise<IteratorResult<LiveUpdate<object> | number, undefined>> => {
      this.#loops.delete(wake)
      wake()
      return Promise.resolve({ done: true, value: undefined })
    }
    this.#loops.add(wake)
    return { next, return: end }
  }

  close(): void {
    this.#end(undefined, new PannierError('PANNIER_ABORTED', 'The live query was closed.'), undefined)
  }

  /** The database is closed, or lost: then the query has failed. */
  closed(reason: unknown): void {
    const error = isClosedByCaller(reason) ? undefined : reason
    this.#end(error, reason, error)
  }

  readonly #abort = (): void => {
    const error = cancelledError(this.request.signal!, 'The live query')
    this.#end(undefined, error, error)
  }

  fail(error: unknown): void {
    if (this.#ended) return
    const { closing } = this.#owner
    if (closing.aborted && isPannierError(error, 'PANNIER_CLOSED')) return this.closed(closing.reason)
    const isHeard =
      this.state.status === 'loading' ||
      this.#loops.size > 0 ||
      [...this.subscriptions].some(({ hearsEnd }) => hearsEnd)
    this.#end(error, error, error)
    if (!isHeard) tellListener(() => Promise.reject(error))
  }

  /** `error`: of a query that failed; `noRows`: why `ready` rejects; `reason`: what loops reject with. */
  #end(error: unknown, noRows: unknown, reason: unknown): void {
    if (this.#ended) return
    this.#ended = true
    this.#reason = reason
    this.state.status = error === undefined ? 'ended' : 'failed'
    this.state.error = error
    this.request.signal?.removeEventListener('abort', this.#abort)
    this.#held.forget()
    this.#pending.clear()
    // Readers learn of the end, whatever else fails.
    tellListener(() => this.#owner.remove(this))
    this.#settleReady?.reject(noRows)
    const subscriptions = [...this.subscriptions]
    this.subscriptions.clear()
    for (const subscription of subscriptions) subscription.end(error)
    this.#wake()
  }

  #wake(): void {
    for (const wake of this.#loops) wake()
  }

  /** When all collections have got the commit. */
  #loadSoon(): void {
    if (this.#loading) return
    this.#loading = true
    queueMicrotask(() => void this.#load())
  }

  async #load(): Promise<void> {
    const held = this.#held
    this.#loading = true
    if (!(held instanceof FollowedRows)) this.#owner.loading(this)
    try {
      await retryWhenStale(async () => {
        while (
          !this.#ended &&
          !(await (held instanceof FollowedRows
            ? this.#readFollowed(held)
            : this.#readFrom(await this.request.open(), held)))
        );
      })
    } catch (error) {
      this.fail(error)
    }
  }

  /** False if there is more to read. */
  async #readFollowed(held: FollowedRows): Promise<boolean> {
    this.reads++
    const found = await held.read(this.#owner)
    if (this.#ended) return true
    if (found === undefined || !found.takeIn()) return false
    this.#sequence = found.sequence
    this.#loading = held.isBehind
    this.#show()
    this.notify()
    return !this.#loading
  }

  /** False if they were outdated by then. */
  async #readFrom(query: QueryRun, held: HeldRows<StoredDocument> | HeldCount): Promise<boolean> {
    const { source } = query
    const { sequence, documents } = source
    try {
      if (this.#ended) return true
      this.reads++
      const takeIn = await this.#readHeld(query, held)
      if (this.#ended) return true
      const { number } = documents.collection
      // In another collection an equal revision may be another document.
      if (number !== this.#collection && this.#collection !== 0) held.forget()
      this.#collection = number
      takeIn()
    } finally {
      source.release()
    }
    this.#sequence = sequence
    if (this.#staleBefore <= sequence) return this.#catchUp(held)
    // Right as of that commit, and shown, or who writes all the time would keep it from ever being.
    this.#pending.clear()
    this.#show()
    this.notify()
    return false
  }

  async #readHeld(
    { source, query: specification }: QueryRun,
    held: HeldRows<StoredDocument> | HeldCount,
  ): Promise<() => void> {
    if (held instanceof HeldCount) return held.read(source, specification.condition)
    const found = this.isDeep
      ? { documents: await readWindow(source, specification), complete: true }
      : await readRows(source, specification, held.wanted)
    return () => held.reset(found.documents, found.complete)
  }

  /** Takes in what was committed while the rows were read. False if rows have to be read once more. */
  #catchUp(held: HeldRows<StoredDocument> | HeldCount): boolean {
    const test = this.#owner.loaded(this)
    const news = [...this.#pending].filter(([, change]) => change.sequence > this.#sequence)
    this.#pending.clear()
    const changes = new Map(news.map(([id, { document }]) => [id, document && test(document) ? document : undefined]))
    this.#sequence = news.reduce((last, [, change]) => Math.max(last, change.sequence), this.#sequence)
    if (!held.apply(changes)) {
      // A count is right as of its commit; who writes all the time must not keep it from being shown.
      if (this.isByRank) {
        this.#show()
        this.notify()
      }
      this.#owner.loading(this)
      return false
    }
    this.#loading = false
    this.#show()
    this.notify()
    return true
  }

  /** Sets what is shown, if that differs from what is. */
  #show(): void {
    const state = this.state
    const view = this.#held.view()
    if (state.view !== undefined && isSameView(state.view, view)) return
    state.view = view
    if (state.status === 'loading') state.status = 'live'
    this.#settleReady?.resolve()
    this.#settleReady = undefined
    this.#owner.changed(this)
  }
}
