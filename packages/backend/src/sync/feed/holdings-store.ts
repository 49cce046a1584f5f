/**
 * Holdings of accounts as of their answers, by content: a token names them. Equal holdings are stored once. Long lists are stored in
 * chunks, and equal chunks once: who loses one ground of 10,000 stores one chunk, and the names of the others.
 */
import { createHash } from 'node:crypto'
import type { Holding, Holdings, ValueSet } from '@pannier/rules/cut'
import type { Collection, Database } from 'pannier'
import { LruMap } from 'pannier/internal'

/** The time when a token named the document last. A token may have named it later, by less than a renewal. */
interface Used {
  readonly _id: string
  readonly usedMs: number
}

interface StoredHoldings extends Used {
  /** Without their lists. */
  readonly holdings: Holdings
  /** In the order of `listsOf`. */
  readonly lists: readonly StoredList[]
}

type StoredList = { readonly values: readonly string[] } | { readonly chunks: readonly string[] }

interface StoredChunk extends Used {
  readonly values: readonly string[]
}

interface Known {
  readonly holdings: Holdings
  readonly usedMs: number
}

interface StoreOptions {
  readonly database: Database
  /** The time within which a named document is kept. */
  readonly horizonMs: number
}

/** The collection of holdings: no CouchDB database can have this name. */
const HOLDINGS_COLLECTION = '$holdings'
/** Values of holdings that are kept in memory. */
const CACHED_VALUES_MAX = 1_000_000
/** Longer lists are stored in chunks. */
const LIST_MAX = 256
/** A chunk ends behind one value of this number, which depends on that value alone. */
const CHUNK_VALUES = 128
const FORGOTTEN_AT_ONCE = 1000

/** How often the time of what is used is stored again: once a day if the horizon has 30. */
export function renewalOf(horizonMs: number): number {
  return horizonMs / 30
}

export class HoldingsStore {
  readonly #stored: Collection<StoredHoldings | StoredChunk>
  readonly #renewMs: number
  readonly #cached = new LruMap<string, Known>(CACHED_VALUES_MAX)
  readonly #names = new WeakMap<Holdings, string>()

  constructor({ database, horizonMs }: StoreOptions) {
    this.#stored = database.collection<StoredHoldings | StoredChunk>(HOLDINGS_COLLECTION, { indexes: ['usedMs'] })
    this.#renewMs = renewalOf(horizonMs)
  }

  /** Holdings that a token names, and will name again. Undefined if they are not stored any more. */
  async get(name: string, nowMs: number): Promise<Holdings | undefined> {
    const known = this.#cached.get(name) ?? (await this.#read(name))
    return known && this.#use(name, known, nowMs)
  }

  /** Resolves with the name of the holdings when they are stored. */
  async keep(holdings: Holdings, nowMs: number): Promise<string> {
    const name = this.#names.get(holdings) ?? nameOf(holdings)
    this.#names.set(holdings, name)
    // After a start of the server most of them are stored.
    const known = this.#cached.get(name) ?? (await this.#read(name)) ?? { holdings, usedMs: -Infinity }
    await this.#use(name, known, nowMs)
    return name
  }

  /** Forgets what no token of this time or later names. */
  async forget(tokensMs: number): Promise<void> {
    const beforeMs = tokensMs - this.#renewMs
    for (;;) {
      const old = await this.#stored
        .find({ usedMs: { $lt: beforeMs } })
        .limit(FORGOTTEN_AT_ONCE)
        .fields('_id')
        .toArray()
      // A tombstone of each would stay for ever.
      for (const { _id } of old) await this.#stored.purge(_id)
      if (old.length < FORGOTTEN_AT_ONCE) break
    }
    for (const [name, { usedMs }] of this.#cached) if (usedMs < beforeMs) this.#cached.delete(name)
  }

  async #use(name: string, known: Known, nowMs: number): Promise<Holdings> {
    const isFresh = nowMs - known.usedMs < this.#renewMs
    const usedMs = isFresh ? known.usedMs : nowMs
    if (!isFresh) await this.#write(name, known.holdings, usedMs)
    this.#cached.set(name, { holdings: known.holdings, usedMs }, weightOf(known.holdings))
    return known.holdings
  }

  async #read(name: string): Promise<Known | undefined> {
    const stored = (await this.#stored.get(name)) as StoredHoldings | undefined
    if (stored === undefined) return undefined
    const lists: (readonly string[])[] = []
    for (const list of stored.lists) {
      if ('values' in list) lists.push(list.values)
      else {
        const chunks = await this.#stored.get(list.chunks)
        if (chunks.includes(undefined)) return undefined
        lists.push((chunks as StoredChunk[]).flatMap(({ values }) => values))
      }
    }
    return { holdings: withLists(stored.holdings, lists), usedMs: stored.usedMs }
  }

  /** Writes what is not stored, or was not used for long. */
  async #write(name: string, holdings: Holdings, usedMs: number): Promise<void> {
    const chunks = new Map<string, StoredChunk>()
    const lists = listsOf(holdings).map((values): StoredList => {
      if (values.length <= LIST_MAX) return { values }
      const made = chunksOf(values).map((each) => ({ _id: nameOf(each), usedMs, values: each }))
      for (const chunk of made) chunks.set(chunk._id, chunk)
      return { chunks: made.map(({ _id }) => _id) }
    })
    const before = await this.#stored.get([...chunks.keys()])
    for (const chunk of before)
      if (chunk !== undefined && usedMs - chunk.usedMs < this.#renewMs) chunks.delete(chunk._id)
    const stored: StoredHoldings = { _id: name, usedMs, holdings: withoutLists(holdings), lists }
    await this.#stored.upsert([...chunks.values(), stored])
  }
}

function nameOf(value: Holdings | readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 32)
}

/** The lists that may be long, in an order. */
function listsOf(holdings: Holdings): (readonly string[])[] {
  return holdings.flatMap((holding) =>
    holding === null ? [] : [holding.grounds ?? [], ...holding.sets.map(({ values }) => values)],
  )
}

/** The weight of holdings: how many values they have. */
export function weightOf(holdings: Holdings): number {
  return listsOf(holdings).reduce((sum, { length }) => sum + length, 1)
}

function withoutLists(holdings: Holdings): Holdings {
  return withLists(
    holdings,
    listsOf(holdings).map(() => []),
  )
}

function withLists(holdings: Holdings, lists: readonly (readonly string[])[]): Holdings {
  let next = 0
  return holdings.map((holding): Holding | null => {
    if (holding === null) return null
    const grounds = lists[next++]!
    const sets = holding.sets.map((set): ValueSet => ({ ...set, values: lists[next++]! }))
    return holding.grounds === undefined ? { ...holding, sets } : { ...holding, grounds, sets }
  })
}

/** A change of one value changes the chunk that it is in, and seldom the next one. */
function chunksOf(values: readonly string[]): string[][] {
  const chunks: string[][] = [[]]
  for (const value of values) {
    chunks.at(-1)!.push(value)
    if (endsChunk(value)) chunks.push([])
  }
  return chunks.filter(({ length }) => length > 0)
}

function endsChunk(value: string): boolean {
  // FNV-1a.
  let hash = 0x81_1c_9d_c5
  for (let at = 0; at < value.length; at++) hash = Math.imul(hash ^ value.charCodeAt(at), 0x01_00_01_93)
  return (hash >>> 8) % CHUNK_VALUES === 0
}
