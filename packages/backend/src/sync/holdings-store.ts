/** What accounts held when they were answered, by its content: a token names it. Equal holdings are stored once. */
import { createHash } from 'node:crypto'
import type { Holding, Holdings } from '@pannier/rules/cut'
import type { Collection, Database } from 'pannier'
import type { AccountRules } from './sync-rules.ts'

interface StoredHoldings {
  readonly _id: string
  readonly holdings: Holdings
}

/** No CouchDB database can have this name. */
const HOLDINGS_COLLECTION = '$holdings'
/** Holdings that are kept in memory. */
const CACHED_MAX = 1000

export class HoldingsStore {
  readonly #stored: Collection<StoredHoldings>
  readonly #cached = new Map<string, Holdings>()

  constructor(database: Database) {
    this.#stored = database.collection<StoredHoldings>(HOLDINGS_COLLECTION)
  }

  /** Undefined if they are not stored any more. */
  async get(hash: string): Promise<Holdings | undefined> {
    const known = this.#cached.get(hash) ?? (await this.#stored.get(hash))?.holdings
    if (known !== undefined) this.#cache(hash, known)
    return known
  }

  /** Resolves with the name of the holdings when they are stored. */
  async keep(holdings: Holdings): Promise<string> {
    const hash = hashOf(holdings)
    if (this.#cached.has(hash)) return hash
    if ((await this.#stored.get(hash)) === undefined) await this.#stored.upsert({ _id: hash, holdings })
    this.#cache(hash, holdings)
    return hash
  }

  #cache(hash: string, holdings: Holdings): void {
    this.#cached.delete(hash)
    this.#cached.set(hash, holdings)
    if (this.#cached.size > CACHED_MAX) this.#cached.delete(this.#cached.keys().next().value!)
  }
}

function hashOf(holdings: Holdings): string {
  return createHash('sha256').update(JSON.stringify(holdings)).digest('hex').slice(0, 32)
}

/** What both surely show. Where they test otherwise, or have no common range, nothing of an alternative. */
export function meet({ rule }: AccountRules, one: Holdings, other: Holdings): Holdings {
  return one.map((first, index) => {
    const second = other[index]
    if (first === null || second === null || second === undefined || !testsAlike(first, second)) return null
    const { grounds, bound, ...rest } = first
    const met: Holding = {
      ...rest,
      ...(grounds === undefined ? {} : { grounds: commonOf(grounds, second.grounds ?? []) }),
      ...(bound === undefined ? {} : { bound: nearer(rule.alternatives[index]!.range!.operator, bound, second.bound) }),
    }
    return met.grounds?.length === 0 ? null : met
  })
}

function commonOf(one: readonly string[], other: readonly string[]): readonly string[] {
  const others = new Set(other)
  return one.filter((ground) => others.has(ground))
}

type Bound = NonNullable<Holding['bound']> | null

/** The bound that has less within it. */
function nearer(operator: string, one: Bound, other: Bound | undefined): Bound {
  if (one === null || other === null || other === undefined || typeof one !== typeof other) return null
  return operator.startsWith('<') === compareBounds(one, other) < 0 ? one : other
}

/** In the order of the index: numbers, and texts by code points. */
export function compareBounds(one: string | number, other: string | number): number {
  if (typeof one === 'number' || typeof other === 'number') return Number(one) - Number(other)
  return Buffer.compare(Buffer.from(one), Buffer.from(other))
}

/** Whether two holdings of an alternative test own values alike. */
export function testsAlike(one: Holding, other: Holding): boolean {
  return JSON.stringify([one.sets, one.account ?? null]) === JSON.stringify([other.sets, other.account ?? null])
}
