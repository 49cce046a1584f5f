/** How long a device may open an account's database without sync. docs/internals/client.md is the contract, docs/adr/0040 says against whom it helps. */
import type { Database, OpenOptions } from 'pannier'
import { accountKey, type Session } from './account.ts'
import type { Server } from './server.ts'
import { ACCOUNTS } from './store.ts'

type Encryption = NonNullable<OpenOptions['encryption']>

/** What is kept beside the database of an account. */
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
    const { device = crypto.randomUUID() } = (await this.#stored(id)) ?? {}
    const { token } = session
    const { share } = await this.#server.send<{ share: string }>('POST /api/sync/lease', { device }, { token })
    const now = this.#server.now()
    await this.#store({ _id: id, device, share, renewedAt: now, seenAt: now })
    return share
  }

  /** The server's half of the key; undefined: the lease is over, and the device has forgotten it. */
  async shareOf(account: string): Promise<string | undefined> {
    const lease = await this.#stored(idOf(account))
    if (!lease?.share) return undefined
    const isOver = this.#isOver(lease)
    await this.#store({
      ...lease,
      ...(isOver ? { share: null } : { seenAt: Math.max(this.#server.now(), lease.seenAt) }),
    })
    return isOver ? undefined : lease.share
  }

  /** Whether `shareOf` would find it over. */
  async isOver(account: string): Promise<boolean> {
    const lease = await this.#stored(idOf(account))
    return !lease?.share || this.#isOver(lease)
  }

  /** The server has answered to the session. */
  async renew(account: string): Promise<void> {
    const lease = await this.#stored(idOf(account))
    const now = this.#server.now()
    const age = now - (lease?.renewedAt ?? 0)
    if (!lease?.share || (age >= 0 && age < RENEWED_MS && !this.#isOver(lease))) return
    await this.#store({ ...lease, renewedAt: now, seenAt: now })
  }

  /** The account has signed out. */
  async end(account: string): Promise<void> {
    const lease = await this.#stored(idOf(account))
    if (lease !== undefined) await this.#store({ ...lease, share: null })
  }

  #isOver({ renewedAt, seenAt }: StoredLease): boolean {
    const now = this.#server.now()
    return now - renewedAt > this.#ms || seenAt - now > SET_BACK_MS_MAX
  }

  #stored(id: string): Promise<StoredLease | undefined> {
    return this.#accounts.collection<StoredLease>(ACCOUNTS).get(id)
  }

  async #store({ _id, device, share, renewedAt, seenAt }: StoredLease): Promise<void> {
    await this.#accounts.collection<StoredLease>(ACCOUNTS).upsert({ _id, device, share, renewedAt, seenAt })
  }
}

/** What opens the database: both halves. @throws TypeError */
export async function withShare(encryption: Encryption, share: string): Promise<Encryption> {
  if ('password' in encryption) return { ...encryption, password: `${encryption.password}\n${share}` }
  if (!('key' in encryption))
    throw new TypeError('connect(): with a lease, encryption must be a password or a key, got a recovery key.')
  // What the key makes of the share is as random as the key, and the key need not be extractable.
  const bytes = Uint8Array.from(atob(share.replaceAll('-', '+').replaceAll('_', '/')), (char) => char.charCodeAt(0))
  const sealed = await crypto.subtle.encrypt({ name: 'AES-GCM', iv: bytes.slice(0, 12) }, encryption.key, bytes)
  const key = await crypto.subtle.digest('SHA-256', sealed)
  return { key: await crypto.subtle.importKey('raw', key, 'AES-GCM', false, ['encrypt', 'decrypt']) }
}

function idOf(account: string): string {
  return `lease/${account}`
}
