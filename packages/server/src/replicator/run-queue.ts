/**
 * Lets a limited number of replications run at a time. Others wait: first come, first served. A live replication never
 * ends, so it gives way: when others wait and it has run for a minimum time, it is asked to release its permit. The
 * oldest is asked first, one at a time.
 */
import type { Environment } from 'pannier/types'

interface Permit {
  /** Releases it, and lets the next one run. */
  release(): void
}

interface Running {
  readonly sinceMs: number
  /** Undefined for a replication that ends by itself, and for one that was asked already. */
  giveWay: (() => void) | undefined
}

export class RunQueue {
  readonly #environment: Environment
  readonly #most: number
  readonly #runMsMax: number
  /** The running ones, oldest first. */
  readonly #running = new Set<Running>()
  readonly #waiting: (() => void)[] = []
  /** Places that were given to those who waited and have not come yet. */
  #promised = 0
  #cancel: () => void = () => {}

  constructor(environment: Environment, most: number, runMsMax: number) {
    this.#environment = environment
    this.#most = most
    this.#runMsMax = runMsMax
  }

  /**
   * Waits for a permit to run. `giveWay` asks the caller to release it and to acquire another. If the signal is
   * aborted, the wait ends without a permit.
   */
  async acquire(signal: AbortSignal, giveWay?: () => void): Promise<Permit> {
    if (this.#running.size + this.#promised >= this.#most && !signal.aborted) {
      const isPromised = await this.#wait(signal)
      if (isPromised) this.#promised--
      if (isPromised && signal.aborted) this.#handOn()
    }
    if (signal.aborted) return { release: () => {} }
    const running: Running = { sinceMs: this.#environment.now(), giveWay }
    this.#running.add(running)
    this.#askInTime()
    return {
      release: () => {
        if (!this.#running.delete(running)) return
        this.#handOn()
        this.#askInTime()
      },
    }
  }

  /** Gives the permit to the next that waits: a job that releases and acquires at once must not be faster. */
  #handOn(): void {
    const next = this.#waiting.shift()
    if (next === undefined) return
    this.#promised++
    next()
  }

  /** Resolves with whether there is a place, which then is promised. */
  async #wait(signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const wake = (): void => {
        signal.removeEventListener('abort', leave)
        resolve(true)
      }
      const leave = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(wake), 1)
        resolve(false)
      }
      signal.addEventListener('abort', leave, { once: true })
      this.#waiting.push(wake)
      this.#askInTime()
    })
  }

  #askInTime(): void {
    this.#cancel()
    if (this.#waiting.length === 0) return
    const longest = [...this.#running].find(({ giveWay }) => giveWay !== undefined)
    if (longest === undefined) return
    const ask = (): void => {
      if (this.#waiting.length === 0 || !this.#running.has(longest)) return
      longest.giveWay?.()
      longest.giveWay = undefined
    }
    this.#cancel = this.#environment.after(longest.sinceMs + this.#runMsMax - this.#environment.now(), ask)
  }
}
