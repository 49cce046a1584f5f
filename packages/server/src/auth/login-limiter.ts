/**
 * Slows down those who guess passwords: failed logins are counted by address, by address and name, and by name. An attempt counts
 * as failed until it has succeeded, so many at the same time are counted too. Memory is bounded: the oldest counters go.
 */
import ipaddr from 'ipaddr.js'
import { HttpError } from '../http/http-error.ts'

export interface LoginLimits {
  readonly windowMs: number
  /** Failed logins with one name from one address. */
  readonly sameMax: number
  /** From one address (IPv6: one /64). */
  readonly addressMax: number
  /** With one name, from everywhere; high, as anybody can use it up. */
  readonly nameMax: number
}

export const LOGIN_LIMITS: LoginLimits = { windowMs: 60_000, sameMax: 10, addressMax: 60, nameMax: 300 }
const COUNTERS_MAX = 20_000

export class TooManyLoginsError extends HttpError {
  readonly retryAfterSeconds: number

  constructor(retryAfterSeconds: number) {
    super(429, 'too_many_requests', 'Too many failed logins. Try again later.')
    this.retryAfterSeconds = retryAfterSeconds
  }
}

interface Counter {
  count: number
  /** When it starts again. */
  until: number
}

export class LoginLimiter {
  readonly #limits: LoginLimits
  readonly #now: () => number
  readonly #counters = new Map<string, Counter>()

  constructor(limits: Partial<LoginLimits> = {}, now: () => number = Date.now) {
    this.#limits = { ...LOGIN_LIMITS, ...limits }
    this.#now = now
  }

  /** Call the result when the login has succeeded. @throws TooManyLoginsError */
  attempt(address: string, name: string): () => void {
    const { sameMax, addressMax, nameMax } = this.#limits
    const network = networkOf(address)
    const counted: (readonly [key: string, max: number])[] = [
      [`s ${network} ${name}`, sameMax],
      [`a ${network}`, addressMax],
      [`n ${name}`, nameMax],
    ]
    const counters = counted.map(([key, max]) => {
      const counter = this.#counter(key)
      if (counter.count >= max) throw new TooManyLoginsError(Math.ceil((counter.until - this.#now()) / 1000))
      return counter
    })
    for (const counter of counters) counter.count++
    return () => {
      for (const counter of counters) counter.count--
    }
  }

  #counter(key: string): Counter {
    const now = this.#now()
    let counter = this.#counters.get(key)
    if (counter === undefined || counter.until <= now) {
      counter = { count: 0, until: now + this.#limits.windowMs }
      this.#counters.delete(key)
      this.#counters.set(key, counter)
      if (this.#counters.size > COUNTERS_MAX) this.#counters.delete(this.#counters.keys().next().value!)
    }
    return counter
  }
}

function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  return parsed.kind() === 'ipv4' ? parsed.toString() : parsed.toByteArray().slice(0, 8).join('.')
}
