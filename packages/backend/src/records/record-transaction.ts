/** Writes of a program that are all or nothing, with hooks around each, as it goes along. */
import type { Database, Transaction, TransactionCollection } from 'pannier'
import type { GuardReader } from 'pannier/internal'
import type { Environment } from 'pannier/types'
import type { Actor } from '../access/actor.ts'
import { recordsName, type Definition } from '../definitions/definition.ts'
import type { JsonObject } from '../gateway/documents.ts'
import { ServiceError } from '../gateway/service-error.ts'
import { withTimeLimit } from '../gateway/time-limit.ts'
import type { HookApp } from '../hooks/hook-app.ts'
import type { HookRecord } from '../hooks/hook-record.ts'
import { ITSELF, saving, type PreparedWrite, type RecordOperation, type WrittenRecord } from './write/operations.ts'
import type { RecordWriter } from './write/record-writer.ts'
import { unlessGone } from './write/write-errors.ts'
import { readWithin, type BeginOptions, type HookedWrite } from './write/write-hooks.ts'

/** The longest time of a transaction: all other writers wait meanwhile. */
const TRANSACTION_MS_MAX = 10_000

/** A transaction, for `HookApp`. */
export interface RecordTransaction {
  /** The place of the writes: the library's transaction. */
  readonly place: Transaction
  readonly environment: Environment
  readonly isOpen: boolean
  readonly hasWritten: boolean
  records(definition: Definition): TransactionCollection<JsonObject>
  /** Reads what is stored, and what it has written. `collection`: any one that there is. */
  read<T>(collection: string, read: (reader: GuardReader) => T): Promise<T>
  /** Writes as the server itself, without hooks. @throws ServiceError: then the transaction ends with it, also if the caller catches it */
  apply(operations: readonly RecordOperation[]): Promise<void>
  /** `app`: what hooks of the write get. @throws ServiceError */
  save(record: HookRecord, app: HookApp, isUnchecked?: boolean): Promise<void>
  delete(record: HookRecord, app: HookApp): Promise<void>
  /** Resolves with undefined after a delete. @throws ServiceError */
  write(actor: Actor, operation: RecordOperation, options: WriteOptions): Promise<WrittenRecord | undefined>
}

type WriteOptions = Required<Pick<BeginOptions, 'app'>> & Pick<BeginOptions, 'namings'>

interface BegunWrite {
  readonly hooked: HookedWrite
  readonly written: WrittenRecord | undefined
}

/** The writes of one run of the function: the library may run it again. */
class TransactionRun implements RecordTransaction {
  readonly begun: BegunWrite[] = []
  readonly stored: PreparedWrite[] = []
  isOpen = true
  hasWritten = false
  /** Why it can't end well: a part of operations that belong together is written. */
  failure: Error | undefined
  readonly place: Transaction
  readonly environment: Environment
  readonly #writer: RecordWriter
  readonly #actor: Actor

  constructor(writer: RecordWriter, actor: Actor, transaction: Transaction) {
    this.#writer = writer
    this.#actor = actor
    this.place = transaction
    this.environment = writer.environment
  }

  records(definition: Definition): TransactionCollection<JsonObject> {
    return this.place.collection<JsonObject>(recordsName(definition))
  }

  read<T>(collection: string, read: (reader: GuardReader) => T): Promise<T> {
    return readWithin(this.place.collection<JsonObject>(collection), read, this.environment)
  }

  async apply(operations: readonly RecordOperation[]): Promise<void> {
    this.hasWritten ||= operations.length > 0
    try {
      for (const operation of operations) await this.#stored(ITSELF, operation).catch(unlessGone(operation))
    } catch (error) {
      this.failure ??= error as Error
      throw error
    }
  }

  async #stored(actor: Actor, operation: RecordOperation, namings?: number): Promise<WrittenRecord | undefined> {
    const prepared = await this.#writer.prepare(actor, operation, namings)
    const written = await prepared.run(this.place).finally(prepared.release)
    this.stored.push(prepared)
    return written
  }

  async save(record: HookRecord, app: HookApp, isUnchecked = false): Promise<void> {
    const written = await this.write(this.#actor, saving(record, isUnchecked), { app })
    if (written !== undefined) record.settle(written.document)
  }

  async delete(record: HookRecord, app: HookApp): Promise<void> {
    const operation: RecordOperation = { action: 'delete', collection: record.collection().id, id: record.id }
    await this.write(this.#actor, operation, { app })
  }

  async write(actor: Actor, operation: RecordOperation, options: WriteOptions): Promise<WrittenRecord | undefined> {
    this.hasWritten = true
    const { place } = this
    const hooked = await this.#writer.begin(actor, operation, { ...options, place })
    if (hooked?.isWanted === false) return hooked.unwritten()
    try {
      const written = await this.#stored(actor, hooked?.operation ?? operation, options.namings)
      if (hooked !== undefined) this.begun.push({ hooked, written })
      return written
    } catch (error) {
      return hooked === undefined ? Promise.reject(error as Error) : hooked.failed(error)
    }
  }

  async failed(error: unknown): Promise<void> {
    this.isOpen = false
    await Promise.allSettled(this.begun.splice(0).map(({ hooked }) => hooked.failed(error)))
  }
}

/** Runs a function in a transaction. @throws what it throws, or a hook */
export async function runInTransaction<T>(
  database: Database,
  writer: RecordWriter,
  actor: Actor,
  body: (transaction: RecordTransaction) => Promise<T>,
): Promise<T> {
  let run: TransactionRun | undefined
  const outdated = new ServiceError('UNAVAILABLE', 'The transaction has begun again.')
  let result: T
  try {
    result = await database.transaction(async (transaction: Transaction) => {
      await run?.failed(outdated)
      run = new TransactionRun(writer, actor, transaction)
      const result = await inTime(writer.environment, body(run))
      if (run.failure !== undefined) throw run.failure
      return result
    })
  } catch (error) {
    await run?.failed(error)
    throw error
  }
  run!.isOpen = false
  for (const { written } of run!.stored) written()
  const ended = await Promise.allSettled(run!.begun.map(({ hooked, written }) => hooked.succeeded(written)))
  const failure = ended.find((one) => one.status === 'rejected')
  if (failure !== undefined) throw failure.reason
  return result
}

function inTime<T>(environment: Environment, body: Promise<T>): Promise<T> {
  const message = `The transaction takes more than ${TRANSACTION_MS_MAX / 1000} seconds. Nothing is written.`
  const reason = new ServiceError('UNAVAILABLE', message)
  const ended = (late: AbortSignal): Promise<never> =>
    new Promise((_, reject) => late.addEventListener('abort', () => reject(reason)))
  return withTimeLimit(environment, TRANSACTION_MS_MAX, (late) => Promise.race([body, ended(late)]))
}
