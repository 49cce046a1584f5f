/**
 * The only access to time, chance and the event loop. It is passed in, so that a seed replays a whole run. Only the
 * entries of packages call `Date.now`, `Math.random` and `setTimeout`; lint forbids the rest.
 */

export interface Environment {
  /** Milliseconds on a clock that never runs backwards; for slices and statistics, never stored. */
  now(): number
  /** Milliseconds since 1970, by the clock on the wall. It may jump, both ways. */
  wallClock(): number
  /** Bytes that nobody can guess. */
  randomBytes(length: number): Uint8Array<ArrayBuffer>
  /** 128 random bits as 32 lower-case hex digits. */
  randomId(): string
  /** Resolves in a later task, after the event loop had a chance to do other work (paint, input, I/O). */
  yield(): Promise<void>
  /** Calls back once, not before `delayMs`; the function returned cancels it. A Node process stays alive for it only if `isAwaited`. */
  after(delayMs: number, callback: () => void, isAwaited?: boolean): () => void
}

/** Whether it is Chromium: for what can only be known by measurement. Nothing decides by it what is right, only what is fast. */
export const isChromium: boolean = /Chrome\//.test(globalThis.navigator?.userAgent ?? '')

type Timers = Pick<Environment, 'after'>

/** Resolves when the time is over, or the signal is aborted. A Node process stays alive for it, unless `isAwaited` is false. */
export function pause(environment: Timers, ms: number, signal?: AbortSignal, isAwaited = true): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) return resolve()
    const end = (): void => {
      cancel()
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const cancel = environment.after(ms, end, isAwaited)
    signal?.addEventListener('abort', end)
  })
}

/** The time until it is renewed: far below what a timer takes. */
const KEPT_MS = 3_600_000

/** A caller waits for this work: until its end a Node process stays alive, also where only timers that keep nothing alive lead there. */
export function awaited<T>(environment: Timers, work: Promise<T>): Promise<T> {
  let cancel = (): void => {}
  const keep = (): void => {
    cancel = environment.after(KEPT_MS, keep, true)
  }
  keep()
  return work.finally(() => cancel())
}

/** Calls back again and again; the function returned ends it. Keeps no process alive. */
export function every(environment: Timers, ms: number, callback: () => void): () => void {
  const again = (): void => {
    cancel = environment.after(ms, again)
    callback()
  }
  let cancel = environment.after(ms, again)
  return () => cancel()
}
