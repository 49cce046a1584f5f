/**
 * An open store: the database of one user, and the transaction that is under way in it. What collections read and write goes
 * through here, so that it is part of that transaction.
 */
import type { TransactionCollection, Database, Transaction } from 'pannier'
import type { Environment } from 'pannier/types'
import { failure } from './errors.ts'
import type { StoredDocument } from './stored-document.ts'

/** Pannier's collections by name: of the database, or inside a transaction. */
export type Access = (name: string) => TransactionCollection<StoredDocument>

interface OpenTransaction {
  readonly begun: Promise<Transaction>
  readonly finished: Promise<void>
  readonly end: (rollback: boolean) => void
  /** The operation in it that was asked for last. */
  last: Promise<unknown>
}

type SessionParts = Pick<Session, 'username' | 'database' | 'environment' | 'isEncrypted'>

export class Session {
  readonly username: string
  readonly database: Database
  readonly environment: Environment
  readonly isEncrypted: boolean
  #held: OpenTransaction | undefined
  #lastDirty = 0

  constructor({ username, database, environment, isEncrypted }: SessionParts) {
    this.username = username
    this.database = database
    this.environment = environment
    this.isEncrypted = isEncrypted
  }

  get inTransaction(): boolean {
    return this.#held !== undefined
  }

  /** `work` writes nothing. */
  read<R>(work: (access: Access) => Promise<R>): Promise<R> {
    return this.#held === undefined
      ? work((name) => this.database.collection<StoredDocument>(name))
      : this.#inHeld(this.#held, work)
  }

  /** Runs `work` in a transaction: all of it is done, or nothing. It may be called again. */
  write<R>(work: (access: Access) => Promise<R>): Promise<R> {
    return this.#held === undefined
      ? this.database.transaction((tx) => work(accessOf(tx)))
      : this.#inHeld(this.#held, work)
  }

  /** When a document becomes dirty; later ones come later. */
  dirtyNow(): number {
    this.#lastDirty = Math.max(this.environment.wallClock(), this.#lastDirty + 1)
    return this.#lastDirty
  }

  async start(): Promise<void> {
    if (this.#held !== undefined) throw failure('TRANSACTION_IN_PROGRESS')
    const held = hold(this.database)
    this.#held = held
    try {
      await held.begun
    } catch (error) {
      this.#held = undefined
      throw error
    }
  }

  async end(rollback: boolean): Promise<void> {
    const held = this.#held
    if (held === undefined) throw failure('NO_TRANSACTION_IN_PROGRESS')
    await held.begun
    await settled(held.last)
    held.end(rollback)
    this.#held = undefined
    await held.finished
  }

  /** Runs works in turn: nothing is written while a query reads. */
  #inHeld<R>(held: OpenTransaction, work: (access: Access) => Promise<R>): Promise<R> {
    const result = Promise.all([held.begun, settled(held.last)]).then(([tx]) => work(accessOf(tx)))
    held.last = result
    return result
  }
}

/** A transaction of the database that is open until `end` is called. */
function hold(database: Database): OpenTransaction {
  const begun = Promise.withResolvers<Transaction>()
  const ended = Promise.withResolvers<void>()
  let runs = 0
  const finished = database
    .transaction(async (tx) => {
      // What the app did in it can't be done again.
      if (runs++ > 0) throw failure('TRANSACTION_FAILURE')
      begun.resolve(tx)
      await ended.promise
    })
    .catch((error: unknown) => {
      if (error !== ROLLED_BACK) throw error
    })
  finished.catch(begun.reject)
  return {
    begun: begun.promise,
    finished,
    end: (rollback) => (rollback ? ended.reject(ROLLED_BACK) : ended.resolve()),
    last: Promise.resolve(),
  }
}

const ROLLED_BACK: Error = new Error('The transaction is rolled back.')

function accessOf(tx: Transaction): Access {
  return (name) => tx.collection<StoredDocument>(name)
}

async function settled(work: Promise<unknown>): Promise<void> {
  await work.catch(() => {})
}
