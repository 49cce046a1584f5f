/** A limit of all clients together. Each has a share of it, so nobody takes all of it from the others. */
import { isIP } from 'node:net'
import type { Principal } from './principal.ts'

export interface ShareLimits {
  readonly allMax: number
  /** The share: one client has at most this. */
  readonly shareMax: number
}

/** The limit that a client has exceeded. */
type Exceeded = 'share' | 'all'

export class Shares {
  readonly #limits: ShareLimits
  readonly #byClient = new Map<string, number>()
  #all = 0

  constructor(limits: ShareLimits) {
    this.#limits = limits
  }

  /** Undefined: there is room for more. */
  exceededBy(clients: readonly string[], more: number): Exceeded | undefined {
    const { allMax, shareMax } = this.#limits
    if (clients.some((client) => (this.#byClient.get(client) ?? 0) + more > shareMax)) return 'share'
    return this.#all + more > allMax ? 'all' : undefined
  }

  /** Takes more, or gives back. */
  add(clients: readonly string[], more: number): void {
    this.#all += more
    for (const client of clients) {
      const taken = (this.#byClient.get(client) ?? 0) + more
      if (taken === 0) this.#byClient.delete(client)
      else this.#byClient.set(client, taken)
    }
  }
}

/** The names of a principal for limits: its address and its account. Operators have no share. */
export function clientsOf({ account, isAdmin, address }: Principal): readonly string[] {
  if (isAdmin) return []
  const own = account === undefined ? [] : [`${account.collection} ${String(account.record['_id'])}`]
  return [`at ${networkOf(address ?? '')}`, ...own]
}

/**
 * The network of an address: an IPv6 /64, which is one client's. IPv4 in the form of IPv6 is IPv4. Texts that are no address are one network, as
 * a proxy may forward any text of a client. Some proxies add the port, which changes each time.
 */
export function networkOf(text: string): string {
  const [, address = text] = /^\[(.*)\](?::\d+)?$/.exec(text) ?? /^([\d.]+):\d+$/.exec(text) ?? []
  if (isIP(address) !== 6) return isIP(address) === 4 ? address : ''
  const [bare = ''] = address.split('%')
  const { hostname } = new URL(`http://[${bare}]`)
  const [start = [], end = []] = hostname
    .slice(1, -1)
    .split('::')
    .map((part) => part.split(':').filter(Boolean))
  const groups = [...start, ...Array<string>(8 - start.length - end.length).fill('0'), ...end]
  const isIPv4 = groups[5] === 'ffff' && groups.slice(0, 5).every((group) => group === '0')
  if (!isIPv4) return groups.slice(0, 4).join(':')
  const bytes = groups.slice(6).flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255])
  return bytes.join('.')
}
