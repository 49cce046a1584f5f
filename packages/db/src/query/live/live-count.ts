/** A live count as its user sees it: a live query that has one row, the count, and tells of that number alone (subscription.ts). */
import { makeDisposable } from '../../base/async.ts'
import type { CountRow } from './held-count.ts'
import { LiveQuery } from './live-query.ts'
import type { LiveHost, LiveRequest, LiveStatus } from './live-types.ts'

/**
 * How many documents match, now and after each commit that changes it, of whichever handle. It is at work until it is closed:
 * by `close`, its signal, or the database.
 *
 * @example
 * using unread = messages.find({ read: false }).liveCount()
 * unread.subscribe((count) => show(count))
 */
export class LiveCount implements AsyncIterable<number> {
  readonly #rows: LiveQuery<CountRow>

  /** @internal Use `query.liveCount`. */
  constructor(host: Promise<LiveHost>, request: Omit<LiveRequest, 'counts'>) {
    this.#rows = new LiveQuery(host, { ...request, counts: true })
  }

  /** Resolves when the first count is there. Rejects when there will be none, with the reason. */
  get ready(): Promise<void> {
    return this.#rows.ready
  }

  /** The count now; undefined before the first. */
  get value(): number | undefined {
    return this.#rows.value?.[0]!.count
  }

  get status(): LiveStatus {
    return this.#rows.status
  }

  /** What it failed with. */
  get error(): unknown {
    return this.#rows.error
  }

  /**
   * Calls back with the count, in a moment, then once for each commit that changes it. `onEnd` is called when nothing more
   * will come: with an error if that is why. The function returned ends the subscription, not the count.
   */
  subscribe(listener: (count: number) => void, onEnd?: (error: unknown) => void): () => void {
    return this.#rows.subscribe(listener as never, onEnd)
  }

  /** The same in a loop, as of a live query: commits that come while the loop is at work make one step. */
  [Symbol.asyncIterator](): AsyncIterableIterator<number, undefined, undefined> {
    return this.#rows[Symbol.asyncIterator]() as never
  }

  /** Ends it and lets go of everything. `value` stays as it is. Idempotent. */
  close(): void {
    this.#rows.close()
  }

  [Symbol.dispose](): void {
    this.close()
  }
}

makeDisposable(LiveCount, 'dispose')
