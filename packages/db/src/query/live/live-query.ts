/// <reference lib="esnext.disposable" preserve="true" />
/** The public classes of live queries and live counts. The code that runs them is loaded with the first one. */
import { makeDisposable } from '../../base/async.ts'
import { checkListener } from '../../base/options.ts'
import type {
  LiveHost,
  LiveRequest,
  LiveState,
  LiveStatus,
  LiveUpdate,
  LiveWork,
  SubscribeOptions,
} from './live-types.ts'
import type { CountRow } from './held-count.ts'

/**
 * The rows of a query as they are now, and how they change with each commit, of whichever handle. It is at work until it is
 * closed: by `close`, its signal, or the database.
 *
 * @example
 * using live = people.find({ city: 'Oslo' }).sort('name').limit(20).live()
 * live.subscribe(({ rows, changes }) => render(rows))
 */
export class LiveQuery<Row extends object> implements AsyncIterable<LiveUpdate<Row>> {
  /** Resolves when the first rows are there. Rejects when there will be none, with the reason. */
  readonly ready: Promise<void>
  readonly #state: LiveState = { view: undefined, status: 'loading', error: undefined }
  readonly #work: Promise<LiveWork>

  /** @internal Use `query.live`. */
  constructor(host: Promise<LiveHost>, request: LiveRequest) {
    const state = this.#state
    this.#work = host.then((loaded) => loaded.start(request, state))
    this.ready = this.#work.then(({ ready }) => ready)
    // The caller gets this failure: code could not be loaded.
    this.ready.catch(() => {})
    this.#work.catch((error: unknown) => {
      state.status = 'failed'
      state.error = error
    })
  }

  /** The rows now; undefined before the first. Never change them: other live queries may share them. */
  get value(): readonly Row[] | undefined {
    return this.#state.view?.rows as readonly Row[] | undefined
  }

  /** Whether the rows are loaded, and whether they are up to date. */
  get status(): LiveStatus {
    return this.#state.status
  }

  /** The error of a failed query. */
  get error(): unknown {
    return this.#state.error
  }

  /**
   * Calls back with the rows, soon, then once for each commit that changes them. The function returned ends that, not the query.
   *
   * @example
   * const live = query.live()
   * const stop = live.subscribe(({ rows }) => render(rows))
   */
  subscribe(listener: (update: LiveUpdate<Row>) => void, options: SubscribeOptions = {}): () => void {
    checkListener(listener, options)
    let stop: (() => void) | undefined
    let stopped = false
    this.#work.then(
      (work) => stopped || (stop = work.subscribe({ ...options, update: listener as never })),
      (error: unknown) => stopped || options.onEnd?.(error),
    )
    return () => {
      stopped = true
      stop?.()
    }
  }

  /**
   * The updates in a loop. Commits that come while the loop is at work make one update, so nothing piles up. Leaving it ends the loop,
   * not the query. It ends with the query; rejects if that failed, and with PANNIER_ABORTED if its signal fired.
   */
  [Symbol.asyncIterator](): AsyncIterableIterator<LiveUpdate<Row>, undefined, undefined> {
    const iterator = this.#work.then((work) => work.iterate())
    iterator.catch(() => {})
    return {
      next: async () => (await iterator).next() as Promise<IteratorResult<LiveUpdate<Row>, undefined>>,
      return: async () => (await iterator).return!() as Promise<IteratorResult<LiveUpdate<Row>, undefined>>,
      [Symbol.asyncIterator]() {
        return this
      },
    }
  }

  /**
   * Ends it and releases everything. `value` stays as it is. Idempotent.
   *
   * @example
   * const live = query.live()
   * live.close()
   */
  close(): void {
    this.#work.then(
      (work) => work.close(),
      () => {},
    )
  }

  /** Closes it, for `using`. */
  [Symbol.dispose](): void {
    this.close()
  }
}

makeDisposable(LiveQuery, 'dispose')

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

  /** Resolves when it is ready: the first count is there. Rejects when there will be none, with the reason. */
  get ready(): Promise<void> {
    return this.#rows.ready
  }

  /** The count now; undefined before the first. */
  get value(): number | undefined {
    return this.#rows.value?.[0]!.count
  }

  /** The status: whether the count is loaded, and whether it is up to date. */
  get status(): LiveStatus {
    return this.#rows.status
  }

  /** The error of a failed count. */
  get error(): unknown {
    return this.#rows.error
  }

  /**
   * Calls back with the count, soon, then once for each commit that changes it. The function returned ends that, not the count.
   *
   * @example
   * const unread = messages.find({ read: false }).liveCount()
   * const stop = unread.subscribe((count) => show(count))
   */
  subscribe(listener: (count: number) => void, options?: SubscribeOptions): () => void {
    return this.#rows.subscribe(listener as never, options)
  }

  /** The counts in a loop, as of a live query: commits that come while the loop is at work make one step. */
  [Symbol.asyncIterator](): AsyncIterableIterator<number, undefined, undefined> {
    return this.#rows[Symbol.asyncIterator]() as never
  }

  /**
   * Ends it and releases everything. `value` stays as it is. Idempotent.
   *
   * @example
   * const unread = messages.find({ read: false }).liveCount()
   * unread.close()
   */
  close(): void {
    this.#rows.close()
  }

  /** Closes it, for `using`. */
  [Symbol.dispose](): void {
    this.close()
  }
}

makeDisposable(LiveCount, 'dispose')
