/**
 * Sessions: each login makes one, its token names it, and a refresh keeps it. One that has ended stays until its tokens have expired.
 * docs/internals/sessions.md is the contract.
 */
import { createHash } from 'node:crypto'
import { isPannierError } from 'pannier'
import type { Collection, Database, Transaction } from 'pannier'
import type { Environment } from 'pannier/types'
import type { Actor } from '../access/actor.ts'
import { LOWER, randomText } from '../gateway/chance.ts'
import type { Definitions } from '../definitions/definitions.ts'
import { dateText } from '../fields/date-text.ts'
import type { JsonObject } from '../gateway/documents.ts'
import type { Account, Principal } from '../gateway/principal.ts'
import { ageMs, isClockTrusted } from '../gateway/seen-clock.ts'

interface SessionsHost {
  readonly database: Database
  readonly definitions: Definitions
  readonly environment: Environment
}

/** How a session has begun. */
export type SessionMethod = 'password' | 'otp' | 'oauth2' | 'passkey' | 'impersonate' | 'refresh'

/** A session, as its account sees it. */
export interface SessionInfo {
  /** The id that the session's tokens have as `sid`. */
  readonly id: string
  readonly method: SessionMethod
  /** The address where it began. */
  readonly address: string
  readonly userAgent: string
  /** Dates as records have them. */
  readonly created: string
  /** When a token of it was used last, to ten minutes. */
  readonly used: string
  readonly expires: string
  /** Whether the token of the request is one of it. */
  readonly current: boolean
}

interface StoredNote {
  readonly _id: string
  /** The definition and the record of the account. */
  readonly collection: string
  readonly record: string
  /** The record's `tokenKey` at that time: another key has ended the session. */
  readonly key: string
}

interface StoredSession extends StoredNote {
  readonly method: SessionMethod
  readonly address: string
  readonly userAgent: string
  /** When it was created, in milliseconds since 1970. */
  readonly createdMs: number
  readonly usedMs: number
  readonly expiresMs: number
  readonly isEnded?: true
}

/** The facts of a login about the session that it begins. */
interface NewSession {
  /** The id of the session; a random one when left out. */
  readonly id?: string | undefined
  readonly method: SessionMethod
  /** The duration in seconds. */
  readonly duration: number
}

/** The collection of sessions: no CouchDB database can have this name. */
export const SESSIONS_COLLECTION = '$sessions'
const ID_CHARS = 15
/** `used` lags behind by at most this, so that few requests write. */
export const SESSION_LAG_MS: number = 10 * 60 * 1000
/** How many an account has. Those that were not used for longest go. */
const SESSIONS_MAX = 1000
/** How many sessions are spared at a time. */
const SESSIONS_SPARE = 100
const AGENT_CHARS_MAX = 300
/** In place of an id: tokens of the account whose session is not stored are refused. */
const ONLY_STORED = 'only-stored'

export class Sessions {
  readonly #host: SessionsHost
  readonly #stored: Collection<StoredSession>

  constructor(host: SessionsHost) {
    this.#host = host
    this.#stored = host.database.collection<StoredSession>(SESSIONS_COLLECTION)
  }

  /** Resolves with the id of a new session. One that is there is kept. */
  async begin({ principal, request }: Actor, account: Account, session: NewSession): Promise<string> {
    const { id = randomText(this.#host.environment, ID_CHARS, LOWER), method, duration } = session
    await this.#makeRoom(account)
    const nowMs = this.#host.environment.wallClock()
    const stored: StoredSession = {
      ...noteOf(account, id),
      method,
      address: principal.address ?? '',
      userAgent: (request.headers['user_agent'] ?? '').slice(0, AGENT_CHARS_MAX),
      createdMs: nowMs,
      usedMs: nowMs,
      expiresMs: nowMs + duration * 1000,
    }
    await this.#stored.insert(stored).catch((error: unknown) => {
      if (!isPannierError(error, 'PANNIER_CONFLICT')) throw error
    })
    return id
  }

  /** A token of it is made. `duration`: how many seconds it is valid. */
  async extend(account: Account, id: string, duration: number): Promise<'extended' | 'ended' | 'unknown'> {
    const nowMs = this.#host.environment.wallClock()
    const expiresMs = nowMs + duration * 1000
    const session = await this.#stored.get(keyOf(account, id))
    if (session === undefined) return 'unknown'
    if (session.isEnded) return 'ended'
    if (expiresMs <= session.expiresMs + SESSION_LAG_MS) return 'extended'
    return (await this.#change(session._id, { usedMs: nowMs, expiresMs })) ? 'extended' : 'ended'
  }

  /**
   * When a token was used last, as far as it is stored; undefined: its session has ended. `id`: as its claims have it. The session of
   * a token may be unknown: it is from before there were sessions, or from after the backup that was restored.
   */
  async usedMsOf(account: Account, id: string | undefined): Promise<number | undefined> {
    const session = id === undefined ? undefined : await this.#stored.get(keyOf(account, id))
    if (session !== undefined) return session.isEnded ? undefined : session.usedMs
    const note = await this.#stored.get(keyOf(account, ONLY_STORED))
    return note?.key === fingerprint(account.record) ? undefined : Infinity
  }

  /** How long ago the account of a principal has logged in; Infinity if that is not known. */
  async loginAgeMsOf({ account, session }: Principal): Promise<number> {
    const stored = account && session !== undefined ? await this.#stored.get(keyOf(account, session)) : undefined
    if (stored === undefined || stored.method === 'impersonate' || stored.method === 'refresh') return Infinity
    return ageMs(this.#host.environment.wallClock(), stored.createdMs)
  }

  /** Whether the session of the principal has ended, if it has an account. */
  async hasEnded({ account, session }: Principal): Promise<boolean> {
    return account !== undefined && (await this.usedMsOf(account, session)) === undefined
  }

  /** Stores that a session is used now. */
  async noteUse(account: Account, id: string | undefined): Promise<void> {
    if (id !== undefined) await this.#change(keyOf(account, id), { usedMs: this.#host.environment.wallClock() })
  }

  /** Sessions of an account that have not ended, the one that was used last first. `current`: of the request. */
  async list(account: Account, current: string | undefined): Promise<readonly SessionInfo[]> {
    const nowMs = this.#host.environment.wallClock()
    return (await this.#of(account))
      .filter((session) => session.isEnded !== true && isKept(session, account.record, nowMs))
      .sort((one, other) => other.usedMs - one.usedMs)
      .map((session) => {
        const { _id, method, address, userAgent, createdMs, usedMs, expiresMs } = session
        const id = _id.slice(-ID_CHARS)
        const dates = { created: dateText(createdMs), used: dateText(usedMs), expires: dateText(expiresMs) }
        return { id, method, address, userAgent, ...dates, current: id === current }
      })
  }

  /** False: there is no such session. */
  async end(account: Account, id: string): Promise<boolean> {
    return this.#change(keyOf(account, id), { isEnded: true })
  }

  /** Ends all but `kept`, and those that are not stored. */
  async endOthers(account: Account, kept: string | undefined): Promise<void> {
    const others = (await this.#of(account)).filter(({ _id }) => _id !== keyOf(account, kept ?? ''))
    await this.#drop(account, others)
  }

  /** Deletes those whose tokens are worth nothing any more. */
  async deleteEnded(): Promise<void> {
    const { database, definitions, environment } = this.#host
    const now = environment.wallClock()
    // An end that is forgotten too soon would be none.
    const nowMs = (await isClockTrusted(database, now)) ? now : 0
    for await (const session of this.#stored.find({})) {
      const definition = definitions.find(session.collection)
      const record = definition?.type === 'auth' ? await definitions.records(definition).get(session.record) : undefined
      if (record === undefined || !isKept(session, record, nowMs)) await this.#stored.delete(session._id)
    }
  }

  /** Stored sessions of an account, without the note about others. */
  async #of(account: Account): Promise<readonly StoredSession[]> {
    const { record } = idsOf(account)
    const found = await this.#stored.find(rangeOf(account)).toArray()
    return found.filter((session) => session.record === record && !session._id.endsWith(`/${ONLY_STORED}`))
  }

  async #makeRoom(account: Account): Promise<void> {
    if ((await this.#stored.find(rangeOf(account)).count()) < SESSIONS_MAX) return
    const sessions = [...(await this.#of(account))].sort((one, other) => one.usedMs - other.usedMs)
    await this.#drop(account, sessions.slice(0, SESSIONS_SPARE))
  }

  /** Deletes sessions: a session that is not stored has ended. */
  async #drop(account: Account, sessions: readonly StoredSession[]): Promise<void> {
    await this.#host.database.transaction(async (transaction: Transaction) => {
      const stored = transaction.collection<StoredNote>(SESSIONS_COLLECTION)
      await stored.upsert(noteOf(account, ONLY_STORED))
      await stored.delete(sessions.map(({ _id }) => _id))
    })
  }

  /** False: it has ended. */
  async #change(id: string, change: Partial<StoredSession>): Promise<boolean> {
    try {
      let isOpen = false
      await this.#stored.update(id, (old) => {
        isOpen = old.isEnded !== true
        return isOpen ? { ...old, ...change } : old
      })
      return isOpen
    } catch (error) {
      if (isPannierError(error, 'PANNIER_NOT_FOUND')) return false
      throw error
    }
  }
}

/** The account whose session has this key in the collection. */
export function accountInKey(key: string): { readonly collection: string; readonly record: string } {
  const [, collection = '', ...rest] = key.split('/')
  return { collection, record: rest.slice(0, -1).join('/') }
}

/** A token without a session gets the same one whenever it is refreshed. */
export function sessionIdFor(token: string): string {
  return createHash('sha256').update(token).digest('hex').slice(0, ID_CHARS)
}

/** Whether tokens may still be valid. A note about sessions that are not stored does not expire. */
function isKept({ key, expiresMs }: StoredNote & Partial<StoredSession>, record: JsonObject, nowMs: number): boolean {
  return key === fingerprint(record) && (expiresMs === undefined || nowMs < expiresMs + SESSION_LAG_MS)
}

function noteOf(account: Account, id: string): StoredNote {
  return { _id: keyOf(account, id), ...idsOf(account), key: fingerprint(account.record) }
}

function idsOf({ collection, record }: Account): Pick<StoredNote, 'collection' | 'record'> {
  return { collection, record: String(record['_id']) }
}

/** Ids of definitions may begin with a `_`, and those of documents may not. */
function keyOf(account: Account, id: string): string {
  const { collection, record } = idsOf(account)
  return `of/${collection}/${record}/${id}`
}

/** Ids may have slashes: an account whose id begins with this one and a slash is in the range, too. */
function rangeOf(account: Account): { readonly _id: { readonly $gte: string; readonly $lt: string } } {
  return { _id: { $gte: keyOf(account, ''), $lt: `${keyOf(account, '').slice(0, -1)}0` } }
}

function fingerprint({ tokenKey }: JsonObject): string {
  return createHash('sha256').update(String(tokenKey)).digest('base64url')
}
