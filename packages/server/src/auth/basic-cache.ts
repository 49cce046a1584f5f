/**
 * Remembers for a short time which Basic credentials were right, so that not every request costs a password hash. Keeps
 * no password: its keys are hashes, made with a secret that lives only in this process. Equal requests at the same time
 * are verified once.
 */
import { hash } from 'node:crypto'
import { LruMap } from 'pannier/internal'
import type { Environment } from 'pannier/types'

const ENTRIES_MAX = 1000

interface CachedLogin<Login> {
  readonly login: Login
  readonly until: number
}

/** A login that was right, and how long it is remembered, in milliseconds. */
interface Rememberable {
  readonly keptMs: number
}

export class BasicCache<Login extends Rememberable> {
  readonly #environment: Environment
  readonly #key: string
  readonly #entries = new LruMap<string, CachedLogin<Login>>(ENTRIES_MAX)
  readonly #running = new Map<string, Promise<Login>>()

  constructor(environment: Environment) {
    this.#environment = environment
    this.#key = Buffer.from(environment.randomBytes(32)).toString('base64')
  }

  /** The login of the header, sent from one address. `again` gives a remembered one as it is now; `verify` costs a hash. */
  async verify(
    addressAndHeader: string,
    again: (login: Login) => Promise<Login | undefined>,
    verify: () => Promise<Login>,
  ): Promise<Login> {
    // Runs on each request. An HMAC of node:crypto takes several times as long, and is not needed: the hash is never
    // shown, so nobody can extend it.
    const key = hash('sha256', this.#key + addressAndHeader, 'base64')
    const entry = this.#entries.get(key)
    if (entry !== undefined && entry.until > this.#environment.now()) {
      const login = await again(entry.login)
      if (login !== undefined) return login
    }
    this.#entries.delete(key)
    const running = this.#running.get(key)
    if (running !== undefined) return await running
    const verified = verify()
    this.#running.set(key, verified)
    try {
      const login = await verified
      this.#entries.set(key, { login, until: this.#environment.now() + login.keptMs })
      return login
    } finally {
      this.#running.delete(key)
    }
  }
}
