/** Runs a few pieces of work at a time. A few wait, the rest is refused. Clients take turns, and each has a share of the room. */
import { askingClient } from './asking-client.ts'
import type { ServiceError } from './service-error.ts'

/** The limits of a `WorkQueue`. */
export interface WorkQueueLimits {
  /** The most that is done at the same time (concurrency). */
  readonly concurrencyMax: number
  /** Pieces that may wait. One client has a quarter of them. */
  readonly waitingMax: number
}

interface WaitingWork {
  readonly client: string
  readonly begin: () => void
}

export class WorkQueue {
  readonly #limits: WorkQueueLimits
  readonly #refusal: () => ServiceError
  readonly #waiting: WaitingWork[] = []
  #running = 0
  #served = ''

  /** `refusal` makes what is thrown if too many wait already. */
  constructor(limits: WorkQueueLimits, refusal: () => ServiceError) {
    this.#limits = limits
    this.#refusal = refusal
  }

  /** `client`: that of the request by default. Work that no request has started has no share. */
  async run<T>(work: () => Promise<T>, client: string = askingClient()): Promise<T> {
    if (this.#running >= this.#limits.concurrencyMax) {
      if (!this.#hasRoom(client)) throw this.#refusal()
      await new Promise<void>((resolve) => this.#waiting.push({ client, begin: resolve }))
    } else this.#running++
    this.#served = client
    try {
      return await work()
    } finally {
      // The next one that waits takes this place.
      const next = this.#next()
      if (next === undefined) this.#running--
      else next.begin()
    }
  }

  #hasRoom(client: string): boolean {
    const { waitingMax } = this.#limits
    if (this.#waiting.length >= waitingMax) return false
    const own = this.#waiting.filter((one) => one.client === client).length
    return client === '' || own < Math.max(1, waitingMax / 4)
  }

  /** The next work: from another client than the last, if there is any. */
  #next(): WaitingWork | undefined {
    const at = this.#waiting.findIndex(({ client }) => client !== this.#served)
    return this.#waiting.splice(Math.max(0, at), 1)[0]
  }
}
