/**
 * Schedules feeds so that thousands of them don't delay other requests. Each feed reads a batch in its own turn of the
 * event loop. One timer ends waits, a limited number of them in one turn.
 */

/** The longest delay of a call of `after`. */
const LOOK_MS = 250
const TOLD_IN_ONE_TURN = 50

interface Waiting {
  readonly untilMs: number
  readonly tell: () => void
}

export class FeedTurns {
  readonly #readers: (() => void)[] = []
  #isReading = false
  readonly #waiting = new Set<Waiting>()
  #timer: NodeJS.Timeout | undefined

  /** Resolves when the caller may read a batch: first come, first served. */
  toRead(): Promise<void> {
    return new Promise((resolve) => {
      this.#readers.push(resolve)
      if (this.#isReading) return
      this.#isReading = true
      setImmediate(() => this.#handOn())
    })
  }

  /** Calls back once after that long, or a little later. The function returned ends the wait. */
  after(ms: number, tell: () => void): () => void {
    const waiting = { untilMs: performance.now() + ms, tell }
    this.#waiting.add(waiting)
    this.#timer ??= setInterval(() => this.#look(), LOOK_MS).unref()
    return () => void this.#waiting.delete(waiting)
  }

  #handOn(): void {
    const next = this.#readers.shift()
    this.#isReading = next !== undefined
    if (next === undefined) return
    next()
    setImmediate(() => this.#handOn())
  }

  #look(): void {
    if (this.#waiting.size === 0) {
      clearInterval(this.#timer)
      this.#timer = undefined
      return
    }
    const nowMs = performance.now()
    this.#tell([...this.#waiting].filter(({ untilMs }) => untilMs <= nowMs))
  }

  #tell(due: readonly Waiting[]): void {
    // A wait may have ended since the last turn.
    for (const one of due.slice(0, TOLD_IN_ONE_TURN)) if (this.#waiting.delete(one)) one.tell()
    if (due.length > TOLD_IN_ONE_TURN) setImmediate(() => this.#tell(due.slice(TOLD_IN_ONE_TURN)))
  }
}

/** Shared by all servers of this process, because they share one event loop. */
export const feedTurns: FeedTurns = new FeedTurns()
