/**
 * How synchronous reads get what is not in memory.
 *
 * Code that reads is plain synchronous code. When something is missing, the code notes what it needs and throws a
 * `Miss`. `attempt` loads everything noted so far, together, and runs the code again. So cached reads cost no promise,
 * and the misses of one step are loaded in one batch.
 */
import { isPromise, type MaybePromise } from './async.ts'

/** A miss: thrown by reads for what is not in memory yet. Not an error. */
export class Miss {
  /**
   * Fetches what was noted. The returned function releases it: until then it stays in memory, so that the next attempt
   * gets further even with a tiny cache.
   */
  readonly load: () => MaybePromise<() => void>
  /** The number of pages that `load` will ask for; for statistics. */
  readonly pages: () => number

  constructor(load: () => MaybePromise<() => void>, pages: () => number = () => 0) {
    this.load = load
    this.pages = pages
  }
}

/** Runs `step` until it returns or throws something else than a Miss. Synchronous when nothing has to be waited for. */
export function attempt<T>(step: () => T): MaybePromise<T> {
  try {
    return step()
  } catch (thrown) {
    return continued(thrown, step)
  }
}

/** The values of items together, as `map`. Those after one that misses are read too, so that everything that is missing is fetched together. */
export function together<Item, Value>(items: readonly Item[], read: (item: Item, at: number) => Value): Value[] {
  const values: Value[] = []
  let miss: Miss | undefined
  for (let at = 0; at < items.length; at++) {
    try {
      values.push(read(items[at]!, at))
    } catch (thrown) {
      if (!(thrown instanceof Miss)) throw thrown
      miss = thrown
    }
  }
  if (miss !== undefined) throw miss
  return values
}

/** Continues after a miss. Loaded pages are held to the end. */
function continued<T>(thrown: unknown, step: () => T): MaybePromise<T> {
  const holds: (() => void)[] = []
  let waiting = false
  try {
    const result = load(thrown, step, holds)
    waiting = isPromise(result)
    return isPromise(result) ? result.finally(() => release(holds)) : result
  } finally {
    if (!waiting) release(holds)
  }
}

function load<T>(thrown: unknown, step: () => T, holds: (() => void)[]): MaybePromise<T> {
  for (;;) {
    if (!(thrown instanceof Miss)) throw thrown
    const loaded = thrown.load()
    if (isPromise(loaded)) return loaded.then((hold) => again(hold, step, holds))
    holds.push(loaded)
    try {
      return step()
    } catch (error) {
      thrown = error
    }
  }
}

function again<T>(hold: () => void, step: () => T, holds: (() => void)[]): MaybePromise<T> {
  holds.push(hold)
  try {
    return step()
  } catch (thrown) {
    return load(thrown, step, holds)
  }
}

function release(holds: (() => void)[]): void {
  for (const hold of holds) hold()
}
