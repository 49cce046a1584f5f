/** Shares the thread: work that takes long lets others have a turn now and then. */
import { setImmediate } from 'node:timers/promises'

const TURN_MS = 4

export class Turns {
  #endMs: number = performance.now() + TURN_MS

  /** Whether it is the turn of others. */
  get isOver(): boolean {
    return performance.now() >= this.#endMs
  }

  /** Lets others have theirs if this one is over. */
  async next(): Promise<void> {
    if (!this.isOver) return
    await setImmediate()
    this.#endMs = performance.now() + TURN_MS
  }
}
