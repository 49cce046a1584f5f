/** Shares the thread: long work runs in slices, and others run between them. */
import type { Environment } from 'pannier/types'

const SLICE_MS = 4

export class Slices {
  readonly #environment: Pick<Environment, 'now' | 'yield'>
  #endMs: number

  constructor(environment: Pick<Environment, 'now' | 'yield'>) {
    this.#environment = environment
    this.#endMs = environment.now() + SLICE_MS
  }

  /** Whether the slice is over, so that others may run. */
  get isOver(): boolean {
    return this.#environment.now() >= this.#endMs
  }

  /** The next slice: others run before it if this one is over. */
  async next(): Promise<void> {
    if (!this.isOver) return
    await this.#environment.yield()
    this.#endMs = this.#environment.now() + SLICE_MS
  }
}
