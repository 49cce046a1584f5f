/**
 * Long work: operations in slices that a user can cancel and watch.
 *
 * Guarantees: cancelled work fails with one error, `cancelledError`. Reported progress never falls and ends with 1. The
 * thread is free again after some milliseconds. A step that was fenced, because another handle wrote first, runs again.
 */
import type { Environment } from './environment.ts'
import { tellListener } from './callback.ts'
import { isPannierError, PannierError } from './errors.ts'
import type { MaybePromise } from './async.ts'

/** Options of long work. */
export interface LongWork {
  /** Cancels it: it fails with PANNIER_ABORTED, whose `cause` is the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /** Called with the part that is done, 0 to 1. It never falls. */
  readonly onProgress?: ((done: number) => void) | undefined
}

/** The thread is released this often. */
const SLICE_MS = 8
/** The most retries: how often a stale step is overtaken, one time after another, before it fails. */
export const STALE_RETRIES_MAX = 20
/** The highest progress of unfinished work. */
const UNFINISHED_MAX = 0.999

/** PANNIER_ABORTED, or the library's own reason (PANNIER_CLOSED). `name` begins the message: 'The import'. */
export function cancelledError({ reason: cause }: AbortSignal, name: string): PannierError {
  return cause instanceof PannierError
    ? cause
    : new PannierError('PANNIER_ABORTED', `${name} was cancelled.`, { cause })
}

/** @throws PannierError as `cancelledError` makes it */
export function throwIfCancelled(signal: AbortSignal | undefined, name: string): void {
  if (signal?.aborted === true) throw cancelledError(signal, name)
}

/** Waits for work until the signal is aborted. @throws PannierError as `cancelledError` makes it */
export async function untilCancelled<T>(work: Promise<T>, signal: AbortSignal | undefined, name: string): Promise<T> {
  if (signal === undefined) return work
  const { promise, reject } = Promise.withResolvers<never>()
  const cancel = (): void => reject(cancelledError(signal, name))
  signal.addEventListener('abort', cancel)
  if (signal.aborted) cancel()
  return Promise.race([work, promise]).finally(() => signal.removeEventListener('abort', cancel))
}

/** Aborted by either. */
export function eitherSignal(closing: AbortSignal, signal: AbortSignal | undefined): AbortSignal {
  return signal === undefined ? closing : AbortSignal.any([signal, closing])
}

/**
 * Runs `work` again, after `refresh`, when another handle was faster. That handle wrote first, or freed pages that this
 * one still read (after a tab was frozen, for example).
 */
export async function retryWhenStale<T>(
  work: () => Promise<T>,
  refresh: () => Promise<unknown> = async () => {},
): Promise<T> {
  for (let retries = 0; ; retries++) {
    try {
      return await work()
    } catch (error) {
      const isStale = isPannierError(error, 'PANNIER_STALE') || isPannierError(error, 'PANNIER_SNAPSHOT_EXPIRED')
      if (!isStale || retries === STALE_RETRIES_MAX) throw error
      await refresh()
    }
  }
}

/**
 * Call it after each step, and await it if it returns a promise. It returns one when it is time to release the thread.
 */
export type Pause = () => MaybePromise<void>

/** For long work: its thread is free again after some milliseconds. */
export function pauseIn(environment: Pick<Environment, 'now' | 'yield'>): Pause {
  let startMs = environment.now()
  return () => {
    if (environment.now() - startMs < SLICE_MS) return undefined
    return environment.yield().then(() => {
      startMs = environment.now()
    })
  }
}

export interface WorkOptions extends LongWork {
  /** The name begins the message when it is cancelled: 'The import'. */
  readonly name: string
  readonly environment: Pick<Environment, 'now' | 'yield'>
}

/** Long work under way. */
export class RunningWork {
  readonly #options: WorkOptions
  readonly #pause: Pause
  #reported = 0

  constructor(options: WorkOptions) {
    this.#options = options
    this.#pause = pauseIn(options.environment)
  }

  /** @throws PANNIER_ABORTED */
  throwIfCancelled(): void {
    throwIfCancelled(this.#options.signal, this.#options.name)
  }

  /**
   * Await it after each step: it releases the thread if a slice is over. True if it did.
   *
   * @throws PANNIER_ABORTED
   */
  pause(): MaybePromise<boolean> {
    this.throwIfCancelled()
    return this.#pause()?.then(() => true) ?? false
  }

  /** How much is done, of how much. */
  report(done: number, total = 1): void {
    const share = total > 0 ? done / total : 0
    this.#reported = Math.max(this.#reported, Math.min(share, UNFINISHED_MAX))
    this.#tell(this.#reported)
  }

  /** Reports that it is complete: nothing is left. */
  complete(): void {
    this.#tell(1)
  }

  /** Reports progress. An error of a listener fails no work: nothing is left to be undone at its end. */
  #tell(done: number): void {
    tellListener(() => this.#options.onProgress?.(done))
  }
}

export interface StepOptions extends WorkOptions {
  /** Does a part of the work, and finds its position by itself. False when nothing is left. */
  readonly step: (work: RunningWork) => Promise<boolean>
  /** Learns what other handles have written, before a step that was overtaken runs again. */
  readonly refresh: () => Promise<unknown>
}

/** Runs `step` until nothing is left. */
export async function runInSteps({ step, refresh, ...options }: StepOptions): Promise<void> {
  const work = new RunningWork(options)
  do work.throwIfCancelled()
  while (await retryWhenStale(() => step(work), refresh))
  work.complete()
}
