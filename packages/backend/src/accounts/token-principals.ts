/** The principals of tokens. Those that are known cost no read. */
import type { Database, DatabaseChange } from 'pannier'
import { andThen, type MaybePromise } from 'pannier/internal'
import type { Environment } from 'pannier/types'
import { recordsName } from '../definitions/definition.ts'
import type { Definitions } from '../definitions/definitions.ts'
import { API_TOKENS_COLLECTION } from '../definitions/system-collections.ts'
import { errorText, LOG_LEVELS, type LogWriter } from '../gateway/log-entry.ts'
import type { Principal } from '../gateway/principal.ts'
import type { ApiTokens } from './api-tokens.ts'
import { KnownTokens, type KnownToken } from './known-tokens.ts'
import { accountInKey, SESSION_LAG_MS, SESSIONS_COLLECTION, type Sessions } from './sessions.ts'
import { claimsIn, holderOf, principalOf } from './tokens.ts'
import { ageMs } from '../gateway/seen-clock.ts'

interface TokenPrincipalsHost {
  readonly database: Database
  readonly definitions: Definitions
  readonly sessions: Sessions
  readonly apiTokens: ApiTokens
  readonly logs: LogWriter
  readonly environment: Environment
}

/** `api`: a token that a superuser has made. */
type BearerType = 'auth' | 'file' | 'api'

export class TokenPrincipals {
  readonly #host: TokenPrincipalsHost
  readonly #known = new KnownTokens()
  /** There are few of them, so any change of one forgets all. */
  readonly #knownApiTokens = new KnownTokens()
  readonly #noting = new Set<Promise<void>>()
  readonly #stopListening: () => void
  /** The definitions that the known tokens were checked with. */
  #definitions: unknown

  constructor(host: TokenPrincipalsHost) {
    this.#host = host
    this.#stopListening = host.database.subscribe(({ collections }) => {
      const changed = accountsIn(collections)
      if (collections.has(API_TOKENS_COLLECTION)) this.#knownApiTokens.clear()
      for (const known of [this.#known, this.#knownApiTokens])
        if (changed === 'all') known.clear()
        else for (const [collection, ids] of changed) known.changed(collection, ids)
    })
  }

  /**
   * The principal to whom the token belongs, at once if the token is known. Undefined for a text that is no valid token of this type: then
   * somebody is a guest.
   */
  find(type: BearerType, token: string): MaybePromise<Principal | undefined> {
    const { definitions, environment } = this.#host
    if (this.#definitions !== definitions.schema) {
      // A secret may have changed.
      this.#known.clear()
      this.#knownApiTokens.clear()
      this.#definitions = definitions.schema
    }
    return andThen(this.#find(type === 'api' ? this.#knownApiTokens : this.#known, type, token), (known) => {
      if (known !== undefined && ageMs(environment.wallClock(), known.usedMs) >= SESSION_LAG_MS) {
        known.usedMs = environment.wallClock()
        this.#noteUse(known.principal)
      }
      return known?.principal
    })
  }

  /** Whether what a principal was known by is no longer valid. */
  async hasEnded(principal: Principal): Promise<boolean> {
    const { sessions, apiTokens } = this.#host
    return principal.apiToken === undefined ? sessions.hasEnded(principal) : apiTokens.hasEnded(principal)
  }

  /** Resolves when what is noted is stored. */
  async close(): Promise<void> {
    this.#stopListening()
    await Promise.all(this.#noting)
  }

  #find(known: KnownTokens, type: BearerType, token: string): MaybePromise<KnownToken | undefined> {
    const key = `${type} ${token}`
    return known.get(key, this.#host.environment.wallClock()) ?? this.#readNew(known, key, type, token)
  }

  async #readNew(known: KnownTokens, key: string, type: BearerType, token: string): Promise<KnownToken | undefined> {
    const { version } = known
    const read = await (type === 'api' ? this.#host.apiTokens.read(token) : this.#read(type, token))
    if (read !== undefined) known.set(key, read, version)
    return read
  }

  async #read(type: 'auth' | 'file', token: string): Promise<KnownToken | undefined> {
    const { definitions, sessions, environment } = this.#host
    const holder = await holderOf(definitions, type, token, environment.wallClock())
    if (holder === undefined) return undefined
    const { sid, exp } = claimsIn(token)!
    const principal = principalOf(holder, sid)
    const usedMs = await sessions.usedMsOf(principal.account!, sid)
    return usedMs === undefined ? undefined : { principal, expiresMs: exp * 1000, usedMs }
  }

  /** Beside the request. */
  #noteUse({ account, session, apiToken }: Principal): void {
    const { sessions, apiTokens, logs } = this.#host
    const write = apiToken === undefined ? sessions.noteUse(account!, session) : apiTokens.noteUse(apiToken.id)
    const noting = write.catch((error: unknown) => {
      const data = { error: errorText(error) }
      logs.write({ level: LOG_LEVELS.warn, message: 'The use of a token is not stored.', data })
    })
    this.#noting.add(noting)
    void noting.then(() => this.#noting.delete(noting))
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
