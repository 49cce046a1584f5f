/** Long work on one request, in slices: others have their turn of the event loop in between. */
import { setImmediate as nextTurn } from 'node:timers/promises'

const SLICE_MS = 10

export class Slices {
  #startMs = performance.now()

  /** To be called after each part of the work: where there is a promise, it is to be awaited. */
  pause(): Promise<void> | undefined {
    return performance.now() - this.#startMs < SLICE_MS ? undefined : this.#next()
  }

  async #next(): Promise<void> {
    await nextTurn()
    this.#startMs = performance.now()
  }
}
