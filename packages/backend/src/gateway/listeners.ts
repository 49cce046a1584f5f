/**
 * Functions that are called after something has happened. It has happened, so no listener can refuse it: what one throws is reported,
 * and the others are called.
 */

/** Reports what a listener has thrown. */
export type ReportFailure = (error: unknown) => void

export class Listeners<Args extends readonly unknown[] = []> {
  readonly #report: ReportFailure
  readonly #all = new Set<(...args: Args) => unknown>()

  /** Without `report` an error becomes an uncaught one, as in the listeners of the library. */
  constructor(report: ReportFailure = throwLater) {
    this.#report = report
  }

  /** Calls `listener` each time, until the function that it gives is called. */
  add(listener: (...args: Args) => unknown): () => void {
    // A function of its own, so that one listener that is added twice is called twice.
    const own = (...args: Args): unknown => listener(...args)
    this.#all.add(own)
    return () => void this.#all.delete(own)
  }

  /** Calls all that listen now. What they do later is reported, too, if it fails. */
  call(...args: Args): void {
    callAll(
      Array.from(this.#all, (listener) => () => listener(...args)),
      this.#report,
    )
  }

  clear(): void {
    this.#all.clear()
  }
}

/** Calls all of them, whatever one of them throws. */
export function callAll(listeners: readonly (() => unknown)[], report: ReportFailure = throwLater): void {
  for (const listener of listeners)
    try {
      const later = listener()
      if (later instanceof Promise) later.catch(report)
    } catch (error) {
      report(error)
    }
}

function throwLater(error: unknown): void {
  queueMicrotask(() => {
    throw error
  })
}
