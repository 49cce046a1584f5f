/**
 * Slows down guessing of passwords. Counts failed logins by address, by address and name, and by name. An attempt
 * counts as failed until it has succeeded, so simultaneous attempts count too. Signing up counts as a failed login.
 */
import ipaddr from 'ipaddr.js'
import type { Environment } from 'pannier/types'
import { ServiceError } from '@pannier/backend'
import { Windows } from '@pannier/backend/internal'
import type { Fleet } from '@pannier/backend/internal'

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

  /** Call the result when the login has succeeded. An attempt that is refused leaves no trace. @throws ServiceError TOO_MANY_REQUESTS */
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

/**
 * The network of an address. Texts that are no address count as one network: a proxy may forward any text of a client.
 * Some proxies add the port, which changes each time.
 */
function networkOf(address: string): string {
  const [, bare = address] = /^\[(.*)\](?::\d+)?$/.exec(address) ?? /^([\d.]+):\d+$/.exec(address) ?? []
  if (!ipaddr.isValid(bare)) return ''
  const parsed = ipaddr.process(bare)
  return parsed.kind() === 'ipv4' ? parsed.toString() : parsed.toByteArray().slice(0, 8).join('.')
}
