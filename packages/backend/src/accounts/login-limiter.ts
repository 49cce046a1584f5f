/**
 * Slows down guessing of passwords, at all doors together. Counts failed logins by address, by address and name, and by name. An attempt
 * counts as failed until it has succeeded, so simultaneous attempts count too. Signing up counts as a failed login.
 */
import type { Environment } from 'pannier/types'
import type { Fleet } from '../fleet/fleet.ts'
import { Windows } from '../fleet/windows.ts'
import { ServiceError } from '../gateway/service-error.ts'
import { networkOf } from '../gateway/shares.ts'

/** The limits of failed logins: how many there may be in a window of time. */
export interface LoginLimits {
  /** The time of a window, in milliseconds. */
  readonly windowMs: number
  /** Failed logins with one name from one address. */
  readonly sameMax: number
  /** Failed logins from one address (IPv6: one /64). */
  readonly addressMax: number
  /** Failed logins with one name, from everywhere. High, because anybody can use it up. */
  readonly nameMax: number
}

/** The limits of a login, unless others are given. */
const LOGIN_LIMITS: LoginLimits = { windowMs: 60_000, sameMax: 10, addressMax: 60, nameMax: 300 }

export class LoginLimiter {
  readonly #limits: LoginLimits
  /** Each kind has its own, so invented names push out no counter of an address. */
  readonly #same: Windows
  readonly #addresses: Windows
  readonly #names: Windows

  constructor(limits: Partial<LoginLimits> | undefined, environment: Environment, fleet?: Fleet) {
    this.#limits = { ...LOGIN_LIMITS, ...limits }
    this.#same = new Windows(environment, 'logins by address and name', fleet)
    this.#addresses = new Windows(environment, 'logins by address', fleet)
    this.#names = new Windows(environment, 'logins by name', fleet)
  }

  /** Runs the work that compares a secret. Undefined and false: the secret was wrong. Any other result, or an error, is no failed login. @throws ServiceError TOO_MANY_REQUESTS */
  async compare<T>(address: string, name: string, work: () => Promise<T>): Promise<T> {
    const giveBack = this.attempt(address, name)
    let isWrong = false
    try {
      const result = await work()
      isWrong = result === undefined || result === false
      return result
    } finally {
      if (!isWrong) giveBack()
    }
  }

  /** An attempt of a login with the name. Call the result when it has succeeded. An attempt that is refused leaves no trace. @throws ServiceError TOO_MANY_REQUESTS */
  attempt(address: string, name: string): () => void {
    const { sameMax, addressMax, nameMax, windowMs } = this.#limits
    const network = networkOf(address)
    // Where an index ignores case, all spellings are one account.
    const folded = name.toLowerCase()
    const counted = [
      { windows: this.#same, key: `${network} ${folded}`, most: sameMax },
      { windows: this.#addresses, key: network, most: addressMax },
      { windows: this.#names, key: folded, most: nameMax },
    ]
    for (const { windows, key, most } of counted) {
      const waitMs = windows.waitMs(key, most)
      if (waitMs > 0) throw tooManyLogins(Math.ceil(waitMs / 1000))
    }
    const taken = counted.map(({ windows, key, most }) => windows.count(key, most, windowMs / 1000))
    return () => {
      for (const giveBack of taken) giveBack()
    }
  }
}

function tooManyLogins(retryAfterSeconds: number): ServiceError {
  return new ServiceError('TOO_MANY_REQUESTS', 'Too many failed logins or new users. Try again later.', {
    retryAfterSeconds,
  })
}
