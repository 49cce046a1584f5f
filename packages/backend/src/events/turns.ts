/** Shares the thread: work that takes long lets others have a turn now and then. */
import type { Environment } from 'pannier/types'

const TURN_MS = 4

export class Turns {
  readonly #environment: Pick<Environment, 'now' | 'yield'>
  #endMs: number

  constructor(environment: Pick<Environment, 'now' | 'yield'>) {
    this.#environment = environment
    this.#endMs = environment.now() + TURN_MS
  }

  /** Whether it is the turn of others. */
  get isOver(): boolean {
    return this.#environment.now() >= this.#endMs
  }

  /** Lets others have theirs if this one is over. */
  async next(): Promise<void> {
    if (!this.isOver) return
    await this.#environment.yield()
    this.#endMs = this.#environment.now() + TURN_MS
  }
}
