/**
 * Watches waiting writes: a wait that never ends (a transaction waits for a write of its own database) must be
 * reported.
 *
 * Guarantees: a long wait is reported once. Work that has waited for the limit is cancelled and never runs. A write that the storage has not
 * answered by then fails: its outcome is not known. One timer serves all, and rings only after a long wait: a write that runs soon costs
 * a look at the clock.
 */
import type { Environment } from '../base/environment.ts'
import { PannierError } from '../base/errors.ts'

/** The console reports a wait of this length. */
export const WAIT_TOLD_MS = 5000

export interface WaitLimits {
  /** The longest wait; Infinity: no limit. */
  readonly waitMsMax: number
  /** Called once when others have waited so long for the one that runs. */
  warn(message: string): void
}

/** Something that waits to run in the writer's queue. */
export interface WaitingWork {
  readonly reject: (error: unknown) => void
}

export class WaitWatch {
  readonly #environment: Environment
  readonly #limits: WaitLimits
  /** Says what is waited for; undefined if it is nothing unusual. */
  readonly #reason: () => string | undefined
  /** Waiting work in the order in which it came, with the time. */
  readonly #waiting = new Map<WaitingWork, number>()
  /** Work that waits for the storage, with the time when it was asked for. */
  readonly #running = new Map<WaitingWork, number>()
  readonly #cancelled = new WeakSet<WaitingWork>()
  #told = false
  #cancel: (() => void) | undefined

  constructor(environment: Environment, limits: WaitLimits, reason: () => string | undefined) {
    this.#environment = environment
    this.#limits = limits
    this.#reason = reason
  }

  add(one: WaitingWork): void {
    this.#waiting.set(one, this.#environment.now())
    this.#watch()
  }

  /** Begins the work: true, unless it was cancelled before. A write that has begun waits for the storage until `answered`. */
  begin(one: WaitingWork, isWrite = false): boolean {
    const since = this.#waiting.get(one)
    if (isWrite && since !== undefined && this.#limits.waitMsMax !== Infinity) this.#running.set(one, since)
    this.#waiting.delete(one)
    this.#told = false
    this.#stopIfIdle()
    return !this.#cancelled.has(one)
  }

  answered(one: WaitingWork): void {
    this.#running.delete(one)
    this.#stopIfIdle()
  }

  close(): void {
    this.#waiting.clear()
    this.#running.clear()
    this.#stopIfIdle()
  }

  #stopIfIdle(): void {
    if (this.#waiting.size + this.#running.size > 0) return
    this.#cancel?.()
    this.#cancel = undefined
  }

  #watch(): void {
    const [oldest = Infinity] = this.#waiting.values()
    const [running = Infinity] = this.#running.values()
    if (this.#cancel !== undefined) return
    const { waitMsMax } = this.#limits
    const waitMs = this.#told ? waitMsMax : Math.min(waitMsMax, WAIT_TOLD_MS)
    const at = Math.min(oldest + waitMs, running + waitMsMax)
    if (at === Infinity) return
    const look = (): void => {
      this.#cancel = undefined
      this.#look()
      this.#watch()
    }
    // A caller waits for the write.
    this.#cancel = this.#environment.after(Math.max(1, at - this.#environment.now()), look, true)
  }

  #look(): void {
    const now = this.#environment.now()
    const { waitMsMax, warn } = this.#limits
    for (const [one, since] of this.#running) {
      if (now - since < waitMsMax) break
      this.#running.delete(one)
      one.reject(unanswered(waitMsMax))
    }
    for (const [one, since] of this.#waiting) {
      const waitedMs = now - since
      const reason = this.#reason()
      if (!this.#told && waitedMs >= WAIT_TOLD_MS) {
        this.#told = true
        if (reason !== undefined) warn(`Pannier: a write has waited for ${Math.round(waitedMs / 1000)} s. ${reason}`)
      }
      if (waitedMs < waitMsMax) return
      this.#waiting.delete(one)
      this.#cancelled.add(one)
      one.reject(tooLong(waitMsMax, reason))
    }
  }
}

function tooLong(waitMsMax: number, reason = ''): PannierError {
  const message =
    `The write has waited for ${waitMsMax} ms (writeWaitMsMax) and was cancelled: nothing was written. ${reason}`.trimEnd()
  return new PannierError('PANNIER_WRITE_TIMEOUT', message, { details: { waitMsMax } })
}

function unanswered(waitMsMax: number): PannierError {
  return new PannierError('PANNIER_OUTCOME_UNKNOWN', 'The write may still happen: the storage is silent.', {
    details: { waitMsMax },
  })
}
