/** Runs a few pieces of work at a time. A few wait, the rest is refused. */
import type { ServiceError } from './service-error.ts'

/** The limits of a `WorkQueue`. */
export interface WorkQueueLimits {
  /** Done at the same time. */
  readonly concurrencyMax: number
  /** Pieces that may wait. */
  readonly waitingMax: number
}

export class WorkQueue {
  readonly #limits: WorkQueueLimits
  readonly #refusal: () => ServiceError
  readonly #waiting: (() => void)[] = []
  #running = 0

  /** `refusal` makes what is thrown if too many wait already. */
  constructor(limits: WorkQueueLimits, refusal: () => ServiceError) {
    this.#limits = limits
    this.#refusal = refusal
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#limits.concurrencyMax) {
      if (this.#waiting.length >= this.#limits.waitingMax) throw this.#refusal()
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    } else this.#running++
    try {
      return await work()
    } finally {
      // The next one that waits takes this place.
      const next = this.#waiting.shift()
      if (next === undefined) this.#running--
      else next()
    }
  }
}
