/** The collections of an account's database, and what the client keeps in them. docs/internals/client.md is the contract. */
import type { CollectionDefinition, FieldDefinition } from '@pannier/rules'
import type { Database, JsonObject, OpenOptions, Transaction, TransactionCollection } from 'pannier'
import { keyOf, type SentWrite, type Values } from './writes.ts'

/** A transaction that waits for its answer, or that has one and is not covered by a pull. */
export interface Queued {
  readonly _id: string
  readonly n: number
  readonly writes: readonly SentWrite[]
  /** The values that each write found in the fields that it changes; null: no record. */
  readonly was: readonly (Values | null)[]
  /** Keys of the records that show it. None: it is kept for a server that is restored from a backup. */
  readonly touches: readonly string[]
  /** `waiting`: it is to be sent. `done`: the server has it. */
  readonly status: 'waiting' | 'done'
  /** The start of the server that has it; null while it waits. */
  readonly boot: string | null
  /** The revision that each write has made at the server; null: of a delete. None while it waits. */
  readonly revs: readonly (string | null)[]
  /** Refused transactions of this device that it takes the place of, merged. */
  readonly merges: readonly number[]
  /** How often a function of the app has merged it. */
  readonly tries: number
}

/** Transactions that wait and can be sent: together, and with files by itself. */
export interface Sendable {
  readonly ready: readonly Queued[]
  readonly upload: Queued | undefined
}

/** The server's version of a record that shows writes of this device. */
interface BaseRecord {
  readonly _id: string
  readonly record: Values | null
}

/** A row of a sweep that is not complete. Without `record`: the one that is there stays. */
export interface Staged {
  readonly _id: string
  readonly record?: Values | null
}

/** A refused transaction with those that build on it. */
export interface Refused {
  readonly _id: string
  /** The number of the first one, and those of all. */
  readonly n: number
  readonly members: readonly number[]
  readonly writes: readonly SentWrite[]
  readonly was: readonly (Values | null)[]
  /** The position of the write that was refused. */
  readonly at: number
  readonly code: string
  readonly message: string
  readonly data: Values
  /** The record of that write as the account may see it now. */
  readonly current: Values | null
  readonly tries: number
  /** Whether it is over: the write was retried or discarded. It has no texts any more. */
  readonly isOver: boolean
}

/** How far a collection is. */
export interface CollectionState {
  readonly _id: string
  readonly token: string
  /** The collection was complete once: its records change from one complete state to another. */
  readonly isShown: boolean
  /** All records come again: what did not come goes. */
  readonly isReset: boolean
}

/** This device, for one account. */
export interface Device {
  readonly _id: '$device'
  readonly device: string
  /** The number of the next transaction. */
  readonly next: number
  /** The start of the server that answered last. */
  readonly boot: string | null
}

/** As the server gives it: without what the account may not know. '' admits all, null nobody. */
export type DeviceRule = string | null

/** A collection with its rules, and the fields that a device knows. */
export interface DeviceCollection extends CollectionDefinition {
  readonly id: string
  readonly fields: readonly (FieldDefinition & { readonly empty: unknown; readonly updateRule?: DeviceRule })[]
  /** The account sees each of its records. */
  readonly isOpen: boolean
  readonly rules: { readonly create: DeviceRule; readonly update: DeviceRule; readonly delete: DeviceRule }
}

/** The rules that the server has given. docs/internals/client-rules.md is the contract. */
export interface Rules {
  readonly _id: '$rules'
  readonly version: string
  /** As it sees itself; null: a guest. */
  readonly account: Values | null
  readonly collections: readonly DeviceCollection[]
}

/** Ids in `$state` of states that belong to no collection. Names of collections have no `$`. */
export type StateId = '$device' | '$rules' | '$session'

/** The collection of the database that is beside those of accounts. */
export const ACCOUNTS = 'accounts'
export const QUEUE = '$queue'
const BASES = '$bases'
const STAGED = '$staged'
export const REJECTED = '$rejected'
export const STATE = '$state'
/** Content of files that the server does not have, or that a restored one may need again. */
export const FILES = '$files'

/** The field of a shown record that holds the server's revision. Names of fields are letters, digits and `_`, so it can't clash. */
export const REV = '$rev'

/** The library has nothing to replicate from here: revisions need no history. */
const LOCAL = { revisionsLimit: 1 } as const

/** Declarations of all collections, for `open`. */
export function storedCollections(
  collections: Readonly<Record<string, object>>,
): NonNullable<OpenOptions['collections']> {
  const own = Object.entries(collections).map(([name, options]) => [name, { ...options, ...LOCAL }])
  return {
    ...Object.fromEntries(own),
    [QUEUE]: { ...LOCAL, indexes: ['status', ...['touches', 'revs', 'merges'].map((on) => ({ on, multi: true }))] },
    [BASES]: LOCAL,
    [STAGED]: LOCAL,
    [REJECTED]: { ...LOCAL, indexes: [{ on: 'members', multi: true }] },
    [STATE]: LOCAL,
    [FILES]: LOCAL,
  }
}

/** The collections inside a transaction, or outside. */
export class Store {
  readonly #from: Transaction

  constructor(from: Database | Transaction) {
    this.#from = from as Transaction
  }

  get queue(): TransactionCollection<Queued> {
    return this.#from.collection<Queued>(QUEUE)
  }

  get bases(): TransactionCollection<BaseRecord> {
    return this.#from.collection<BaseRecord>(BASES)
  }

  get staged(): TransactionCollection<Staged> {
    return this.#from.collection<Staged>(STAGED)
  }

  get rejected(): TransactionCollection<Refused> {
    return this.#from.collection<Refused>(REJECTED)
  }

  /** Refused writes that the user has to decide about, the oldest first. */
  async undecided(): Promise<Refused[]> {
    const found = await this.rejected.find({ isOver: false }).sort('_id').toArray()
    return found.map(storedOf)
  }

  records(collection: string): TransactionCollection<JsonObject> {
    return this.#from.collection<JsonObject>(collection)
  }

  async state<T extends CollectionState | Device | Rules>(id: string): Promise<T | undefined> {
    const found = await this.#from.collection<JsonObject>(STATE).get(id)
    return found && (storedOf(found) as unknown as T)
  }

  async setState(state: CollectionState | Device | Rules): Promise<void> {
    await this.#from.collection<JsonObject>(STATE).upsert({ ...state })
  }

  /** Transactions that a record shows, in their order. */
  async touching(key: string): Promise<Queued[]> {
    return await this.queue.find({ touches: key }).sort('_id').toArray()
  }

  /** The transaction that has made a revision of the server. */
  async maker(rev: string): Promise<Queued | undefined> {
    return await this.queue.find({ revs: rev }).first()
  }

  /** A transaction that an earlier start of the server has taken. This start has not said whether it knows it. */
  async unasked(boot: string | null): Promise<Queued | undefined> {
    return await this.queue.find({ status: 'done', boot: { $ne: boot } }).first()
  }

  /** The next transactions to send. */
  async waiting(limit: number = Number.MAX_SAFE_INTEGER): Promise<Queued[]> {
    return await this.queue.find({ status: 'waiting' }).sort('_id').limit(limit).toArray()
  }

  /** The version of the server that a record has. */
  async baseOf(collection: string, id: string): Promise<Values | null> {
    const base = await this.bases.get(keyOf(collection, id))
    if (base !== undefined) return base.record
    const shown = await this.records(collection).get(id)
    return shown === undefined ? null : contentOf(shown)
  }
}

/** Ids order transactions as their numbers do. */
export function queueId(n: number): string {
  return String(n).padStart(12, '0')
}

/** A record without what the library adds. */
export function contentOf({ _id, _rev, ...content }: Values): Values {
  return content
}

/** A document of the client as it was stored. */
export function storedOf<T extends object>(document: T & { readonly _rev: string }): T {
  const { _rev, ...stored } = document
  return stored as unknown as T
}
