/**
 * Schedules feeds so that thousands of them don't delay other requests. Each feed reads a batch by itself in a pass of the
 * event loop. One timer ends waits, a limited number of them at once.
 */
import { every } from 'pannier/internal'
import type { Environment } from 'pannier/types'

/** The longest delay of a call of `after`. */
const LOOK_MS = 250
const DUE_AT_ONCE = 50

interface Waiting {
  readonly untilMs: number
  readonly tell: () => void
}

export class FeedSchedule {
  readonly #environment: Environment
  readonly #readers: (() => void)[] = []
  #isReading = false
  readonly #waiting = new Set<Waiting>()
  #stopLooking: (() => void) | undefined

  constructor(environment: Environment) {
    this.#environment = environment
  }

  /** Resolves when the caller may read a batch: first come, first served. */
  toRead(): Promise<void> {
    return new Promise((resolve) => {
      this.#readers.push(resolve)
      if (this.#isReading) return
      this.#isReading = true
      void this.#environment.yield().then(() => this.#handOn())
    })
  }

  /** Calls back once after that long, or a little later. The function returned ends the wait. */
  after(ms: number, tell: () => void): () => void {
    const waiting = { untilMs: this.#environment.now() + ms, tell }
    this.#waiting.add(waiting)
    this.#stopLooking ??= every(this.#environment, LOOK_MS, () => this.#look())
    return () => void this.#waiting.delete(waiting)
  }

  #handOn(): void {
    const next = this.#readers.shift()
    this.#isReading = next !== undefined
    if (next === undefined) return
    next()
    void this.#environment.yield().then(() => this.#handOn())
  }

  #look(): void {
    if (this.#waiting.size === 0) {
      this.#stopLooking?.()
      this.#stopLooking = undefined
      return
    }
    const nowMs = this.#environment.now()
    this.#tell([...this.#waiting].filter(({ untilMs }) => untilMs <= nowMs))
  }

  #tell(due: readonly Waiting[]): void {
    // A wait may have ended since.
    for (const one of due.slice(0, DUE_AT_ONCE)) if (this.#waiting.delete(one)) one.tell()
    if (due.length > DUE_AT_ONCE) void this.#environment.yield().then(() => this.#tell(due.slice(DUE_AT_ONCE)))
  }
}
