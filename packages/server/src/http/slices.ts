/** Splits long work of one request into slices, so that the event loop serves other requests in between. */
import { setImmediate as nextTurn } from 'node:timers/promises'

const SLICE_MS = 10

export class Slices {
  #startMs = performance.now()

  /** Call it after each part of the work, and await the promise if there is one. */
  pause(): Promise<void> | undefined {
    return performance.now() - this.#startMs < SLICE_MS ? undefined : this.#next()
  }

  async #next(): Promise<void> {
    await nextTurn()
    this.#startMs = performance.now()
  }
}
