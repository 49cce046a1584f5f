/** Limits password hashes: each takes tens of megabytes and milliseconds. A few run, a few wait, the rest is refused. */
import { ServiceError } from '../gateway/service-error.ts'

/** The limits of a `HashQueue`. */
export interface HashQueueLimits {
  /** Made at the same time. */
  readonly concurrencyMax: number
  /** Hashes that may wait. */
  readonly waitingMax: number
}

/** The limits unless others are given: 2 at the same time, 64 waiting. */
export const HASH_QUEUE_LIMITS: HashQueueLimits = { concurrencyMax: 2, waitingMax: 64 }

/** Runs few password hashes at a time, and refuses those beyond its limits. */
export class HashQueue {
  readonly #limits: HashQueueLimits
  readonly #waiting: (() => void)[] = []
  #running = 0

  constructor(limits: Partial<HashQueueLimits> = {}) {
    this.#limits = { ...HASH_QUEUE_LIMITS, ...limits }
  }

  /** @throws ServiceError TOO_MANY_REQUESTS if too many wait already */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#limits.concurrencyMax) {
      if (this.#waiting.length >= this.#limits.waitingMax)
        throw new ServiceError('TOO_MANY_REQUESTS', 'Too many logins at the same time. Try again later.')
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
