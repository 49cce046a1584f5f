/**
 * Remembers which tokens were right, and whose they are, so that a request costs neither a signature nor a read. A change of the
 * record or of a session of it forgets its tokens.
 */
import { LruMap } from 'pannier/internal'
import type { Principal } from '../gateway/principal.ts'

const ENTRIES_MAX = 10_000

export interface KnownToken {
  readonly principal: Principal
  readonly expiresMs: number
  /** When one of its session was used last, as far as that is stored. */
  usedMs: number
}

export class KnownTokens {
  readonly #known = new LruMap<string, KnownToken>(ENTRIES_MAX, (known, token) => this.#forget(token, known))
  /** The tokens of a record. */
  readonly #byRecord = new Map<string, Set<string>>()
  /** Grows with each change: what was read before may be outdated. */
  version = 0

  get(token: string, nowMs: number): KnownToken | undefined {
    const known = this.#known.get(token)
    if (known === undefined) return undefined
    if (nowMs < known.expiresMs) return known
    this.#known.delete(token)
    return undefined
  }

  /** `version`: from before the record was read. */
  set(token: string, known: KnownToken, version: number): void {
    if (version !== this.version) return
    this.#known.set(token, known)
    const record = recordOf(known)
    const tokens = this.#byRecord.get(record)
    if (tokens === undefined) this.#byRecord.set(record, new Set([token]))
    else tokens.add(token)
  }

  /** Records of a collection were changed; all of them without `ids`. */
  changed(collection: string, ids: readonly string[] | undefined): void {
    this.version++
    if (ids === undefined) {
      for (const [token, known] of this.#known)
        if (known.principal.account?.collection === collection) this.#known.delete(token)
      return
    }
    for (const id of ids) {
      for (const token of this.#byRecord.get(keyOf(collection, id)) ?? []) this.#known.delete(token)
    }
  }

  clear(): void {
    this.version++
    this.#known.clear()
  }

  #forget(token: string, known: KnownToken): void {
    const record = recordOf(known)
    const tokens = this.#byRecord.get(record)
    tokens?.delete(token)
    if (tokens?.size === 0) this.#byRecord.delete(record)
  }
}

function recordOf({ principal: { account } }: KnownToken): string {
  return keyOf(account!.collection, String(account!.record['_id']))
}

function keyOf(collection: string, id: string): string {
  return `${collection}/${id}`
}
