/**
 * Permits for requests to one server. A browser gives a server six HTTP/1.1 connections, for all tabs together. Waiting
 * for changes, replicating, and the app's own requests share them. So the library uses some and leaves the rest.
 *
 * Guarantees: first come, first served; a released permit goes to the next request.
 */
import { cancelledError } from '../../base/long-work.ts'

/** Limited in a browser; elsewhere connections are plentiful. */
export const CONNECTIONS_MAX_DEFAULT: number = typeof location === 'object' ? 5 : Infinity

interface Permit {
  /** Whether it is wanted: somebody else waits for it. */
  readonly isWanted: boolean
  /** Calls back when somebody else begins to wait; at once if somebody waits already. */
  onWanted(callback: () => void): void
  /** Releases it. Idempotent. */
  release(): void
}

class Semaphore {
  readonly #most: number
  readonly #held = new Set<() => void>()
  readonly #queue: (() => void)[] = []

  constructor(most: number) {
    this.#most = most
  }

  /** @throws PannierError if the signal is aborted first. */
  async acquire(signal: AbortSignal): Promise<Permit> {
    return this.#held.size < this.#most ? this.#hold() : this.#wait(signal)
  }

  #hold(): Permit {
    let callback = (): void => {}
    const wanted = (): void => callback()
    this.#held.add(wanted)
    const isWanted = (): boolean => this.#queue.length > 0
    return {
      get isWanted() {
        return isWanted()
      },
      onWanted: (call) => {
        callback = call
        if (isWanted()) call()
      },
      release: () => {
        if (this.#held.delete(wanted)) this.#queue.shift()?.()
      },
    }
  }

  #wait(signal: AbortSignal): Promise<Permit> {
    return new Promise((resolve, reject) => {
      const next = (): void => {
        signal.removeEventListener('abort', giveUp)
        resolve(this.#hold())
      }
      const giveUp = (): void => {
        const at = this.#queue.indexOf(next)
        if (at >= 0) this.#queue.splice(at, 1)
        reject(cancelledError(signal, 'The replication'))
      }
      if (signal.aborted) return giveUp()
      signal.addEventListener('abort', giveUp)
      this.#queue.push(next)
      for (const wanted of Array.from(this.#held)) wanted()
    })
  }
}

/** The permits of one server: those that wait for changes, and all others. */
export interface Connections {
  readonly waits: Semaphore
  readonly requests: Semaphore
}

const known = new Map<string, Connections>()

/** Shared by all who ask the same origin within this page, worker or process. */
export function connectionsTo(origin: string, most: number): Connections {
  const key = `${most} ${origin}`
  const waits = most >= 4 ? 2 : 1
  const found = known.get(key) ?? {
    waits: new Semaphore(most === Infinity ? most : waits),
    requests: new Semaphore(Math.max(1, most - waits)),
  }
  known.set(key, found)
  return found
}
