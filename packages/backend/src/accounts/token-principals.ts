/** The principals of tokens. Those that are known cost no read. */
import type { Database, DatabaseChange } from 'pannier'
import { recordsName } from '../definitions/definition.ts'
import type { Definitions } from '../definitions/definitions.ts'
import type { Principal } from '../gateway/principal.ts'
import { KnownTokens, type KnownToken } from './known-tokens.ts'
import { accountInKey, SESSION_LAG_MS, SESSIONS_COLLECTION, type Sessions } from './sessions.ts'
import { claimsIn, holderOf, principalOf } from './tokens.ts'

interface TokenPrincipalsHost {
  readonly database: Database
  readonly definitions: Definitions
  readonly sessions: Sessions
  /** Milliseconds since 1970. */
  readonly now: () => number
}

export class TokenPrincipals {
  readonly #host: TokenPrincipalsHost
  readonly #known = new KnownTokens()
  readonly #stopListening: () => void
  /** The definitions that the known tokens were checked with. */
  #definitions: unknown

  constructor(host: TokenPrincipalsHost) {
    this.#host = host
    this.#stopListening = host.database.onChange(({ collections }) => {
      const changed = accountsIn(collections)
      if (changed === 'all') this.#known.clear()
      else for (const [collection, ids] of changed) this.#known.changed(collection, ids)
    })
  }

  /** Whose the token is. Undefined for a text that is no valid token of this type: then somebody is a guest. */
  async find(type: 'auth' | 'file', token: string): Promise<Principal | undefined> {
    const { definitions, sessions, now } = this.#host
    if (this.#definitions !== definitions.schema) {
      // A secret may have changed.
      this.#known.clear()
      this.#definitions = definitions.schema
    }
    const known = this.#known.get(`${type} ${token}`, now()) ?? (await this.#read(type, token))
    if (known === undefined) return undefined
    const { principal } = known
    if (principal.session !== undefined && now() - known.usedMs >= SESSION_LAG_MS) {
      known.usedMs = now()
      sessions.noteUse(principal.account!, principal.session)
    }
    return principal
  }

  close(): void {
    this.#stopListening()
  }

  async #read(type: 'auth' | 'file', token: string): Promise<KnownToken | undefined> {
    const { definitions, sessions, now } = this.#host
    const { version } = this.#known
    const holder = await holderOf(definitions, type, token, now())
    if (holder === undefined) return undefined
    const { sid, exp } = claimsIn(token)!
    const principal = principalOf(holder, sid)
    const usedMs = await sessions.usedMsOf(principal.account!, sid)
    if (usedMs === undefined) return undefined
    const known = { principal, expiresMs: exp * 1000, usedMs }
    this.#known.set(`${type} ${token}`, known, version)
    return known
  }
}

const RECORDS = recordsName({ id: '' })

/** The accounts that a change concerns, with their sessions: ids of records by collection; undefined for all of it. */
export function accountsIn(
  collections: DatabaseChange['collections'],
): 'all' | readonly (readonly [collection: string, ids: readonly string[] | undefined])[] {
  const changed: (readonly [string, readonly string[] | undefined])[] = []
  for (const [name, { ids, dropped }] of collections) {
    if (name.startsWith(RECORDS)) changed.push([name.slice(RECORDS.length), dropped ? undefined : ids])
    if (name !== SESSIONS_COLLECTION) continue
    if (ids === undefined) return 'all'
    changed.push(...ids.map(accountInKey).map(({ collection, record }) => [collection, [record]] as const))
  }
  return changed
}
