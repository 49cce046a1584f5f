/**
 * Outcomes of the transactions of devices, by account, device and number. An outcome is stored in the commit of its writes, so a backup
 * has both or neither. It has no record: what a device may see of one is asked when it is answered.
 */
import { isObject } from 'pannier/internal'
import { createHash } from 'node:crypto'
import type { Collection, Database, Transaction } from 'pannier'
import type { Account } from '../../gateway/principal.ts'
import type { StoredOutcome } from './push-format.ts'

interface OutcomeDocument {
  readonly _id: string
  /** Milliseconds since 1970 when it was stored. */
  readonly at: number
  /** The digest by which repeated writes are known. */
  readonly digest: string
  readonly outcome: StoredOutcome
}

/** The number of the last outcome of a device that is forgotten. */
interface ForgottenDocument {
  readonly _id: string
  readonly forgotten: number
}

/** The stored outcome of a transaction. */
export type KnownOutcome = Pick<OutcomeDocument, 'digest' | 'outcome'>

/** The collection of outcomes: no CouchDB database can have this name. */
const OUTCOMES_COLLECTION = '$outcomes'
const DAY_MS = 24 * 60 * 60 * 1000
/** A device may be away for so long with an answer that it has not got. */
const KEEP_MS = 90 * DAY_MS
const REMOVED_AT_ONCE = 1000

export class Outcomes {
  readonly #database: Database
  readonly #stored: Collection<OutcomeDocument>

  constructor(database: Database) {
    this.#database = database
    this.#stored = database.collection<OutcomeDocument>(OUTCOMES_COLLECTION, { indexes: ['at'] })
  }

  /** In the order of the numbers. Undefined: it is not known. */
  async get(device: string, numbers: readonly number[]): Promise<readonly (KnownOutcome | undefined)[]> {
    return this.#stored.get(numbers.map((n) => idOf(device, n)))
  }

  /** Stores an outcome with what else the transaction writes. */
  async keep(
    place: Pick<Transaction, 'collection'>,
    device: string,
    n: number,
    known: KnownOutcome,
    at: number,
  ): Promise<void> {
    await place.collection<OutcomeDocument>(OUTCOMES_COLLECTION).insert({ _id: idOf(device, n), at, ...known })
  }

  /** The number up to which outcomes of a device are forgotten, as they are old. 0: none. */
  async forgottenTo(device: string): Promise<number> {
    return ((await this.#stored.get(device)) as ForgottenDocument | undefined)?.forgotten ?? 0
  }

  /** Forgets outcomes that are older than `KEEP_MS`, and notes their numbers. Others may write between the steps. */
  async removeOld(now: number): Promise<void> {
    for (;;) {
      const found = await this.#stored
        .find({ at: { $lt: now - KEEP_MS } })
        .limit(REMOVED_AT_ONCE)
        .fields('_id')
        .toArray()
      if (found.length === 0) return
      await this.#database.transaction(async (transaction) => {
        const outcomes = transaction.collection<OutcomeDocument>(OUTCOMES_COLLECTION)
        // A deletion would leave a revision behind.
        for (const { _id } of found) await outcomes.purge(_id)
        await noteForgotten(
          transaction,
          found.map(({ _id }) => _id),
        )
      })
    }
  }
}

/** Else a device that was away would take what is forgotten for what a backup has lost, and send it again. */
async function noteForgotten(place: Pick<Transaction, 'collection'>, ids: readonly string[]): Promise<void> {
  const numbers = new Map<string, number>()
  for (const id of ids) {
    const [device, n] = id.split('/') as [string, string]
    numbers.set(device, Math.max(Number(n), numbers.get(device) ?? 0))
  }
  const forgotten = place.collection<ForgottenDocument>(OUTCOMES_COLLECTION)
  for (const [device, n] of numbers) {
    const known = await forgotten.get(device)
    await forgotten.upsert({ _id: device, forgotten: Math.max(n, known?.forgotten ?? 0) })
  }
}

/** Names a device of an account; of a guest, the device alone. Another account has other names. */
export function deviceOf(account: Account | undefined, device: string): string {
  const owner = account === undefined ? null : [account.collection, account.record['_id']]
  return digestOf([owner, device])
}

/** A digest that is equal for equal values, whatever the order of their keys. */
export function digestOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value, sorted)).digest('hex')
}

function sorted(_key: string, value: unknown): unknown {
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

function idOf(device: string, n: number): string {
  return `${device}/${n}`
}
