/**
 * The public class of a replication. It is small, because it is always loaded; the code that replicates is loaded on
 * first use.
 */
import { loadedModule } from '../../base/lazy-module.ts'
import { checkListener } from '../../base/options.ts'
import type {
  ReplicationEvent,
  ReplicationPart,
  ReplicationProgress,
  ReplicationResult,
  ReplicationStatus,
} from '../../replication/types.ts'
import type { DatabaseContext } from '../database-context.ts'
import type {
  ReplicationRequest,
  ReplicationOptions,
  ReplicationState,
  ReplicationView,
} from './replication-options.ts'

/**
 * Under way since it was made. Awaiting it gives the result, when it is complete or was cancelled; of a live one that is only then.
 *
 * @example
 * const sync = people.sync('https://example.org/people', { live: true })
 * sync.subscribe((event) => { if (event.type === 'status') show(sync.status) })
 * const { docsWritten } = await people.replicate({ from: 'https://example.org/people' })
 */
export class Replication implements PromiseLike<ReplicationResult>, AsyncIterable<ReplicationEvent> {
  readonly #state: ReplicationState
  readonly #result: Promise<ReplicationResult>
  readonly #begun: Promise<unknown>
  readonly #pending: Set<Promise<unknown>>

  /** @internal Use `sync` or `replicate`. */
  constructor(context: DatabaseContext, request: ReplicationRequest, options: ReplicationOptions) {
    const progress = {
      docsRead: 0,
      docsWritten: 0,
      docsDenied: 0,
      changesChecked: 0,
      pending: undefined,
      lastSeq: undefined,
    }
    const view: ReplicationView = { status: 'active', error: undefined, progress, parts: [] }
    const state = {
      paused: false,
      cancelled: false,
      view,
      unsent: undefined,
      listeners: new Set<never>(),
      changed: undefined,
    }
    this.#state = state
    this.#pending = context.pending
    const loading = loadedModule(import('./start-replication.ts'))
    this.#result = loading.then(({ startReplication }) => startReplication(context, state, request, options))
    this.#begun = loading.then(
      () => {},
      () => {},
    )
    // Awaiting it reports a failure; others see the status, also before any part exists.
    this.#awaited(this.#result).catch((error: unknown) => {
      if (state.view.parts.length === 0) state.view = { ...view, status: 'failed', error }
    })
  }

  /** The most important status of several parts (push and pull, collections). */
  get status(): ReplicationStatus {
    return this.#state.view.status
  }

  /** The error: why it waits to try again, or has failed. */
  get error(): unknown {
    return this.#state.view.error
  }

  /** The sum of all parts. */
  get progress(): ReplicationProgress {
    return this.#state.view.progress
  }

  /** Each direction of each collection. */
  get parts(): readonly ReplicationPart[] {
    return this.#state.view.parts
  }

  /**
   * How many local changes are not sent yet, as far as is known here; also without a network. Never too low: it ignores
   * filters, and changes that have just arrived count until the push has looked at them. Always 0 for a pull.
   * `close()` of the database waits for counts, also those of listeners that hear of the end. Later calls fail.
   *
   * @throws PANNIER_CLOSED
   * @example
   * const left = await sync.unsent()
   * show(left === 0 ? 'Everything is saved on the server.' : `${left} changes wait to be sent.`)
   */
  unsent(): Promise<number> {
    return this.#awaited(this.#begun.then(async () => (await this.#state.unsent?.()) ?? 0))
  }

  /**
   * Calls back with each event from now on. The function returned ends it.
   *
   * @example
   * const stop = sync.subscribe((event) => show(event.type))
   */
  subscribe(listener: (event: ReplicationEvent) => void): () => void {
    checkListener(listener)
    const own = (event: ReplicationEvent): void => listener(event)
    this.#state.listeners.add(own)
    return () => void this.#state.listeners.delete(own)
  }

  /**
   * Releases connections until `resume()`.
   *
   * @example
   * sync.pause()
   */
  pause(): void {
    this.#change({ paused: true })
  }

  /**
   * Continues after `pause()`.
   *
   * @example
   * sync.pause()
   * sync.resume()
   */
  resume(): void {
    this.#change({ paused: false })
  }

  /**
   * Ends it; what was done stays done. Awaiting it then gives the result, with the status 'cancelled'.
   *
   * @example
   * sync.cancel()
   * const { status } = await sync // 'cancelled'
   */
  cancel(): void {
    this.#change({ cancelled: true })
  }

  /** Makes it awaitable: resolves with the result. */
  // oxlint-disable-next-line unicorn/no-thenable
  then<Result = ReplicationResult, Failure = never>(
    fulfilled?: ((result: ReplicationResult) => Result | PromiseLike<Result>) | null,
    rejected?: ((error: unknown) => Failure | PromiseLike<Failure>) | null,
  ): Promise<Result | Failure> {
    return this.#result.then(fulfilled, rejected)
  }

  /**
   * As of a promise.
   *
   * @example
   * sync.catch((error) => show(error))
   */
  catch<Failure = never>(
    rejected?: ((error: unknown) => Failure | PromiseLike<Failure>) | null,
  ): Promise<ReplicationResult | Failure> {
    return this.#result.catch(rejected)
  }

  /**
   * As of a promise.
   *
   * @example
   * sync.finally(() => show('The sync has ended.')).catch(() => {})
   */
  finally(ended?: (() => void) | null): Promise<ReplicationResult> {
    return this.#result.finally(ended)
  }

  /** Events from now on, to the end of the replication. Its failure is thrown. */
  async *[Symbol.asyncIterator](): AsyncGenerator<ReplicationEvent, void, undefined> {
    const early: ReplicationEvent[] = []
    const stop = this.subscribe((event) => early.push(event))
    const { replicationEvents } = await loadedModule(import('./start-replication.ts'))
    yield* replicationEvents(this, early, stop)
  }

  /** The database closes after it. */
  #awaited<T>(work: Promise<T>): Promise<T> {
    const done = (): void => void this.#pending.delete(work)
    this.#pending.add(work)
    work.then(done, done)
    return work
  }

  #change(wish: Partial<ReplicationState>): void {
    Object.assign(this.#state, wish)
    this.#state.changed?.()
  }
}
