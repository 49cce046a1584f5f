/**
 * Remembers for a short time which Basic credentials were right, so that not every request costs a password hash. Keeps
 * no password: its keys are hashes, made with a secret that lives only in this process. Equal requests at the same time
 * are verified once.
 */
import { hash, randomBytes } from 'node:crypto'
import type { Account } from './accounts.ts'

const KEPT_MS = 60_000
const ENTRIES_MAX = 1000

interface Entry {
  readonly name: string
  readonly salt: string
  readonly until: number
}

export class BasicCache {
  readonly #key = randomBytes(32).toString('base64')
  readonly #now: () => number
  readonly #entries = new Map<string, Entry>()
  readonly #running = new Map<string, Promise<Account | undefined>>()

  constructor(now: () => number) {
    this.#now = now
  }

  /** The user of the header, sent from one address. `find` looks up remembered users, as they are now; `verify` costs a hash. */
  async verify(
    addressAndHeader: string,
    find: (name: string) => Promise<Account | undefined>,
    verify: () => Promise<Account | undefined>,
  ): Promise<Account | undefined> {
    // Runs on each request. An HMAC of node:crypto takes several times as long, and is not needed: the hash is never
    // shown, so nobody can extend it.
    const key = hash('sha256', this.#key + addressAndHeader, 'base64')
    const entry = this.#entries.get(key)
    if (entry !== undefined && entry.until > this.#now()) {
      const account = await find(entry.name)
      if (account?.salt === entry.salt) return account
    }
    this.#entries.delete(key)
    const running = this.#running.get(key)
    if (running !== undefined) return await running
    const verified = verify()
    this.#running.set(key, verified)
    try {
      const account = await verified
      if (account !== undefined) this.#remember(key, account)
      return account
    } finally {
      this.#running.delete(key)
    }
  }

  #remember(key: string, { name, salt }: Account): void {
    this.#entries.set(key, { name, salt, until: this.#now() + KEPT_MS })
    if (this.#entries.size > ENTRIES_MAX) this.#entries.delete(this.#entries.keys().next().value!)
  }
}
