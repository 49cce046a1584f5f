/** How the first superuser is made over HTTP: by the person who was shown a secret when the server started. */
import { timingSafeEqual } from 'node:crypto'
import type { Database } from 'pannier'
import type { Environment } from 'pannier/types'
import type { Definitions } from '../definitions/definitions.ts'
import { randomSecret } from '../gateway/chance.ts'
import { GUEST, type Principal } from '../gateway/principal.ts'

const MINUTES = 30
const SECRET_BYTES = 32

interface FirstSuperuserHost {
  readonly database: Database
  readonly definitions: Definitions
  readonly environment: Environment
}

interface Offer {
  readonly secret: Buffer
  readonly endsMs: number
}

export class FirstSuperuser {
  readonly #host: FirstSuperuserHost
  #offer: Offer | undefined

  constructor(host: FirstSuperuserHost) {
    this.#host = host
  }

  /** A secret for 30 minutes, which is in memory only. The one before ends. Undefined: there is a superuser. */
  async offer(): Promise<string | undefined> {
    if (await this.#exists()) return undefined
    const secret = randomSecret(this.#host.environment, SECRET_BYTES)
    this.#offer = { secret: Buffer.from(secret), endsMs: this.#host.environment.now() + MINUTES * 60_000 }
    return secret
  }

  /** Somebody who may make the first superuser. Undefined for any other text, and once there is one. */
  async principalOf(token: string): Promise<Principal | undefined> {
    if (this.#offer === undefined) return undefined
    const { secret, endsMs } = this.#offer
    const given = Buffer.from(token)
    if (given.length !== secret.length || !timingSafeEqual(given, secret)) return undefined
    if (this.#host.environment.now() >= endsMs || (await this.#exists())) this.#offer = undefined
    return this.#offer && { ...GUEST, by: 'setup' }
  }

  #exists(): Promise<boolean> {
    return this.#host.definitions.hasSuperuser(this.#host.database)
  }
}
