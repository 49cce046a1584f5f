/** How long a device may open an account's database without sync. Loaded if the app has leases. docs/internals/client.md is the contract, docs/adr/0040 says against whom it helps. */
import type { Database, OpenOptions } from 'pannier'
import { accountKey, type Session } from './account.ts'
import type { Server } from './server.ts'
import { ACCOUNTS } from './store.ts'

type Encryption = NonNullable<OpenOptions['encryption']>

/** The record of a lease beside the database of an account. */
interface StoredLease {
  readonly _id: string
  /** Names the device at the server, which makes the share of it. */
  readonly device: string
  /** The server's half of the key; null: the lease is over. */
  readonly share: string | null
  /** By this device's clock: when the server was asked last, and when it was looked at last. */
  readonly renewedAt: number
  readonly seenAt: number
}

/** A clock may be set back by this, as when it is set right. */
const SET_BACK_MS_MAX = 10 * 60_000
/** Renewing writes to the disk, and happens at each sync. */
const RENEWED_MS = 60_000
const DAY_MS = 24 * 60 * 60_000

/** '30d' or '12h' or milliseconds. @throws TypeError */
export function leaseMs(lease: string | number): number {
  const [, count, unit] = /^(\d+)([dh])$/.exec(String(lease)) ?? []
  const ms = typeof lease === 'number' ? lease : Number(count) * (unit === 'd' ? DAY_MS : DAY_MS / 24)
  if (ms > 0) return ms
  throw new TypeError(`connect(): lease must be milliseconds, or as "30d" or "12h", got ${lease}.`)
}

/** The leases of the accounts of a device. */
export class Leases {
  readonly #accounts: Database
  readonly #server: Server
  readonly #ms: number

  constructor(accounts: Database, server: Server, ms: number) {
    this.#accounts = accounts
    this.#server = server
    this.#ms = ms
  }

  /** The server's half of the key, of a session that has just begun. @throws ClientError */
  async begin(session: Session): Promise<string> {
    const id = idOf(accountKey(session.record))
    const device = await this.#deviceOf(id)
    const { token } = session
    const { share } = await this.#server.send<{ share: string }>('POST /api/sync/lease', { device }, { token })
    const now = this.#server.environment.wallClock()
    const leases = this.#accounts.collection<StoredLease>(ACCOUNTS)
    await leases.upsert({ _id: id, device, share, renewedAt: now, seenAt: now })
    return share
  }

  /** The server's half of the key; undefined: the lease is over, and the device has forgotten it. */
  async shareOf(account: string): Promise<string | undefined> {
    const now = this.#server.environment.wallClock()
    const lease = await this.#change(account, (known) =>
      this.#isOver(known) ? { share: null } : { seenAt: Math.max(now, known.seenAt) },
    )
    return lease?.share ?? undefined
  }

  /** Whether `shareOf` would find it over. */
  async isOver(account: string): Promise<boolean> {
    const lease = await this.#accounts.collection<StoredLease>(ACCOUNTS).get(idOf(account))
    return !lease?.share || this.#isOver(lease)
  }

  /** The server has answered to the session. */
  async renew(account: string): Promise<void> {
    const now = this.#server.environment.wallClock()
    await this.#change(account, (known) => {
      const age = now - known.renewedAt
      return age >= 0 && age < RENEWED_MS && !this.#isOver(known) ? {} : { renewedAt: now, seenAt: now }
    })
  }

  /** The account has signed out. */
  async end(account: string): Promise<void> {
    await this.#change(account, () => ({ share: null }))
  }

  /** The key of the database, derived from both halves. @throws TypeError */
  async keyOf(encryption: Encryption, share: string): Promise<Encryption> {
    if ('password' in encryption) return { ...encryption, password: `${encryption.password}\n${share}` }
    if (!('key' in encryption))
      throw new TypeError('connect(): with a lease, encryption must be a password or a key, got a recovery key.')
    // What the key makes of the share is as random as the key, and the key need not be extractable.
    const bytes = Uint8Array.from(atob(share.replaceAll('-', '+').replaceAll('_', '/')), (char) => char.charCodeAt(0))
    const sealed = await crypto.subtle.encrypt({ name: 'AES-GCM', iv: bytes.slice(0, 12) }, encryption.key, bytes)
    const key = await crypto.subtle.digest('SHA-256', sealed)
    return { key: await crypto.subtle.importKey('raw', key, 'AES-GCM', false, ['encrypt', 'decrypt']) }
  }

  #isOver({ renewedAt, seenAt }: StoredLease): boolean {
    const now = this.#server.environment.wallClock()
    return now - renewedAt > this.#ms || seenAt - now > SET_BACK_MS_MAX
  }

  /** Several tabs may sign in at once, and open one database. */
  #deviceOf(_id: string): Promise<string> {
    return this.#accounts.transaction(async (tx) => {
      const leases = tx.collection<StoredLease>(ACCOUNTS)
      const known = await leases.get(_id)
      if (known !== undefined) return known.device
      const device = this.#server.environment.randomId()
      await leases.insert({ _id, device, share: null, renewedAt: 0, seenAt: 0 })
      return device
    })
  }

  /** Changes a lease that has its share. Tabs do it one after another: what one has deleted is not written again. */
  #change(account: string, change: (known: StoredLease) => Partial<StoredLease>): Promise<StoredLease | undefined> {
    return this.#accounts.transaction(async (tx) => {
      const leases = tx.collection<StoredLease>(ACCOUNTS)
      const known = await leases.get(idOf(account))
      if (!known?.share) return undefined
      const { _rev, ...lease } = known
      const changes = change(lease)
      const changed = { ...lease, ...changes }
      if (Object.keys(changes).length > 0) await leases.upsert(changed)
      return changed
    })
  }
}

function idOf(account: string): string {
  return `lease/${account}`
}
