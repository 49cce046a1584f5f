/**
 * Slows down guessing of passwords. Counts failed logins by address, by address and name, and by name. An attempt
 * counts as failed until it has succeeded, so simultaneous attempts count too. Signing up counts as a failed login.
 * Memory is bounded: the lowest counters are removed first.
 */
import ipaddr from 'ipaddr.js'
import { ServiceError } from '@pannier/backend'

export interface LoginLimits {
  readonly windowMs: number
  /** Failed logins with one name from one address. */
  readonly sameMax: number
  /** Failed logins from one address (IPv6: one /64). */
  readonly addressMax: number
  /** Failed logins with one name, from everywhere. High, because anybody can use it up. */
  readonly nameMax: number
}

export const LOGIN_LIMITS: LoginLimits = { windowMs: 60_000, sameMax: 10, addressMax: 60, nameMax: 300 }
const COUNTERS_MAX = 20_000

interface Counter {
  count: number
  /** When it starts again. */
  until: number
}

export class LoginLimiter {
  readonly #limits: LoginLimits
  readonly #now: () => number
  /** Each kind has its own, so invented names push out no counter of an address. */
  readonly #same = new Map<string, Counter>()
  readonly #addresses = new Map<string, Counter>()
  readonly #names = new Map<string, Counter>()

  constructor(limits: Partial<LoginLimits> = {}, now: () => number = Date.now) {
    this.#limits = { ...LOGIN_LIMITS, ...limits }
    this.#now = now
  }

  /** Call the result when the login has succeeded. An attempt that is refused leaves no trace. @throws ServiceError TOO_MANY_REQUESTS */
  attempt(address: string, name: string): () => void {
    const { sameMax, addressMax, nameMax } = this.#limits
    const network = networkOf(address)
    // Where an index ignores case, all spellings are one account.
    const folded = name.toLowerCase()
    const counted = [
      { counters: this.#same, key: `${network} ${folded}`, max: sameMax },
      { counters: this.#addresses, key: network, max: addressMax },
      { counters: this.#names, key: folded, max: nameMax },
    ]
    const now = this.#now()
    for (const { counters, key, max } of counted) {
      const counter = counters.get(key)
      if (counter !== undefined && counter.until > now && counter.count >= max)
        throw tooManyLogins(Math.ceil((counter.until - now) / 1000))
    }
    const passed = counted.map(({ counters, key }) => this.#counter(counters, key, now))
    for (const counter of passed) counter.count++
    return () => {
      for (const counter of passed) counter.count--
    }
  }

  #counter(counters: Map<string, Counter>, key: string, now: number): Counter {
    const known = counters.get(key)
    if (known !== undefined && known.until > now) return known
    const counter = { count: 0, until: now + this.#limits.windowMs }
    counters.delete(key)
    if (counters.size >= COUNTERS_MAX) makeRoom(counters, now)
    counters.set(key, counter)
    return counter
  }
}

function tooManyLogins(retryAfterSeconds: number): ServiceError {
  return new ServiceError('TOO_MANY_REQUESTS', 'Too many failed logins or new users. Try again later.', {
    retryAfterSeconds,
  })
}

/** Those that are over go, or else the oldest of those that have counted least: who guesses is not forgotten. */
function makeRoom(counters: Map<string, Counter>, now: number): void {
  const least = leastOf(counters, now)
  let left = COUNTERS_MAX / 10
  for (const [key, { count, until }] of counters) {
    if (until > now && count > least) continue
    counters.delete(key)
    if (--left === 0) return
  }
}

function leastOf(counters: ReadonlyMap<string, Counter>, now: number): number {
  let least = Infinity
  for (const { count, until } of counters.values()) least = Math.min(least, until <= now ? 0 : count)
  return least
}

/** All that is no address counts as one: a proxy may hand on what anybody has sent. Some proxies add the port, which changes each time. */
function networkOf(address: string): string {
  const [, bare = address] = /^\[(.*)\](?::\d+)?$/.exec(address) ?? /^([\d.]+):\d+$/.exec(address) ?? []
  if (!ipaddr.isValid(bare)) return ''
  const parsed = ipaddr.process(bare)
  return parsed.kind() === 'ipv4' ? parsed.toString() : parsed.toByteArray().slice(0, 8).join('.')
}
