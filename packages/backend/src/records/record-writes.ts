/** Writing of records for actors, with their view of the record afterwards. */
import type { Transaction } from 'pannier'
import { pauseIn } from 'pannier/internal'
import type { Actor } from '../access/actor.ts'
import type { Definition } from '../definitions/definition.ts'
import { SUPERUSERS } from '../definitions/system-collections.ts'
import type { JsonObject } from '../gateway/documents.ts'
import type { Principal } from '../gateway/principal.ts'
import { ServiceError } from '../gateway/service-error.ts'
import type { HookRecord } from '../hooks/hook-record.ts'
import { BatchError, BatchTried, type RefusedOperation } from './batch-error.ts'
import type { FoundRecords, RecordReads } from './record-reads.ts'
import { runInTransaction, type RecordTransaction } from './record-transaction.ts'
import type { RecordInput, RecordJson, ShowOptions } from './record-types.ts'
import { type BatchedWrite, type BatchOptions, BatchWriter } from './write/batch-writer.ts'
import { NO_FIELD, readsName } from './write/prepare-input.ts'
import { ITSELF, saving, type PreparedWrite, type RecordOperation, type WrittenRecord } from './write/operations.ts'
import { RecordWriter, whileOutdated, type RecordWriterParts } from './write/record-writer.ts'
import { unlessGone } from './write/write-errors.ts'

interface RecordWritesParts extends RecordWriterParts {
  readonly reads: Pick<RecordReads, 'show' | 'findIn' | 'inSnapshot'>
}

interface ChangeOptions extends ShowOptions {
  /** The write is a CONFLICT unless this is the revision of the record. */
  readonly rev?: string
}

/** One operation of a batch, and the request that it stands for. */
export type BatchOperation = BatchedWrite & { readonly show?: ShowOptions }

interface ImportOptions extends Pick<BatchOptions, 'workMsMax' | 'budget' | 'isTrial'> {
  /** The action for each record. `create` refuses a record whose id is in use. */
  readonly action: 'create' | 'upsert'
}

/** Reports have that many; a file whose columns are wrong has as many as records. */
const REFUSED_MAX = 100
/** PocketBase names the files of a batch twice. */
const NAMINGS_IN_BATCH = 2

export class RecordWrites {
  readonly #parts: RecordWritesParts
  readonly #writer: RecordWriter
  readonly #batches: BatchWriter

  constructor(parts: RecordWritesParts) {
    this.#parts = parts
    this.#writer = new RecordWriter(parts)
    this.#batches = new BatchWriter({ ...parts, writer: this.#writer })
  }

  /**
   * Refuses a write that no input can make right. Ask it before you read a body. Gives the definition of the collection.
   *
   * @throws ServiceError NOT_FOUND; INVALID for a view; FORBIDDEN if the collection is locked
   */
  assertOpen(actor: Actor, collection: string, action: 'create' | 'update'): Definition {
    const acting = action === 'create' ? this.#settingUp(actor, collection) : actor
    return this.#writer.assertOpen(acting, collection, action)
  }

  /**
   * Makes a record.
   *
   * @throws ServiceError NOT_FOUND, FORBIDDEN if the collection is locked; INVALID with data
   */
  async create(actor: Actor, collection: string, input: RecordInput, options: ShowOptions = {}): Promise<RecordJson> {
    const acting = this.#settingUp(actor, collection)
    const written = await this.#writer.write(acting, { action: 'create', collection, input })
    return this.#shown(acting, written!, options)
  }

  /**
   * Changes the fields of a record that the input names.
   *
   * @throws ServiceError NOT_FOUND: also if the rule does not admit the record; FORBIDDEN if the collection is locked; CONFLICT; INVALID with
   *   data
   */
  async update(
    actor: Actor,
    collection: string,
    id: string,
    input: RecordInput,
    { rev, ...options }: ChangeOptions = {},
  ): Promise<RecordJson> {
    const operation: RecordOperation = { action: 'update', collection, id, input, ...(rev !== undefined && { rev }) }
    const written = await this.#writer.write(actor, operation)
    return this.#shown(actor, written!, options)
  }

  /**
   * Changes a record as the server itself does, unless somebody has changed it since it was read. Resolves with what is stored.
   *
   * @throws ServiceError NOT_FOUND, CONFLICT, INVALID with data
   */
  async change({ id: collection }: Definition, read: JsonObject, input: RecordInput): Promise<JsonObject> {
    const operation: RecordOperation = {
      action: 'update',
      collection,
      id: String(read['_id']),
      input,
      rev: String(read['_rev']),
    }
    return (await this.#writer.write(ITSELF, operation))!.document
  }

  /**
   * Deletes a record, with those that can't be without it.
   *
   * @throws ServiceError as `update`; INVALID if a record needs it
   */
  async delete(actor: Actor, collection: string, id: string, { rev }: Pick<ChangeOptions, 'rev'> = {}): Promise<void> {
    await this.#writer.write(actor, { action: 'delete', collection, id, ...(rev !== undefined && { rev }) })
  }

  /** Runs a function that writes all or nothing. @throws what it throws, or a hook of its writes */
  inTransaction<T>(actor: Actor, body: (transaction: RecordTransaction) => Promise<T>): Promise<T> {
    return runInTransaction(this.#parts.database, this.#writer, actor, body)
  }

  /** Stores what a hook has set: a new record, or the changes of one. @throws ServiceError */
  async save(actor: Actor, record: HookRecord, isUnchecked = false): Promise<void> {
    const written = await this.#writer.write(actor, saving(record, isUnchecked))
    record.settle(written!.document)
  }

  /**
   * Writes all or nothing, one after another. Resolves with a record for each operation; undefined for a delete. An error stands
   * for an operation that is refused already.
   *
   * @throws BatchError for the first operation that is refused; ServiceError INVALID if it takes too long
   */
  async batch(
    principal: Principal,
    operations: readonly (BatchOperation | ServiceError)[],
    options: Pick<BatchOptions, 'workMsMax' | 'budget'>,
  ): Promise<readonly (RecordJson | undefined)[]> {
    const written = await this.#batches.write(principal, operations, { ...options, namings: NAMINGS_IN_BATCH })
    const { reads } = this.#parts
    const asked = written.map((record, index) => {
      const { request, show = {} } = operations[index] as BatchOperation
      return record && { record, show, actor: seeing({ ...options, principal, request }, record) }
    })
    const pause = pauseIn(this.#parts.environment)
    // They are one answer, so one budget of bytes and one of rows and time are for all of them.
    const found: (FoundRecords | undefined)[] = []
    await reads
      .inSnapshot(async (snapshot) => {
        found.length = 0
        for (const one of asked) {
          await pause()
          const finding =
            one && reads.findIn(snapshot, one.actor, one.record.definition, [one.record.document], one.show)
          found.push(await finding?.catch(() => undefined))
        }
      })
      // All are written.
      .catch(() => {})
    return Promise.all(
      asked.map(async (one, index) => {
        const shown = await found[index]?.show().catch(() => undefined)
        return one && (shown?.[0] ?? this.#shown(one.actor, one.record, { ...one.show, expand: '' }))
      }),
    )
  }

  /**
   * Writes records of a collection, all or none. Resolves with those that are refused; none: all are written, or would be after a trial.
   *
   * @throws ServiceError NOT_FOUND; INVALID for a view, or if it takes too long; FORBIDDEN if the collection is locked
   */
  async import(
    actor: Actor,
    collection: string,
    records: readonly RecordInput[],
    { action, ...options }: ImportOptions,
  ): Promise<readonly RefusedOperation[]> {
    const definition = this.#writer.assertOpen(actor, collection, 'create')
    const request = { ...actor.request, context: 'batch', method: action === 'create' ? 'POST' : 'PUT' } as const
    const operations = records.map(
      (input): BatchedWrite | ServiceError =>
        unknownFields(definition, input) ?? { action, collection, input, isForm: false, request },
    )
    try {
      await this.#batches.write(actor.principal, operations, { ...options, refusedMax: REFUSED_MAX })
    } catch (error) {
      if (error instanceof BatchError) return error.refused
      if (!(error instanceof BatchTried)) throw error
    }
    return []
  }

  /** As `batch`, without what is shown. `first` and `last` are of the same transaction. @throws as `batch`, or what they throw */
  writeTogether(
    principal: Principal,
    operations: readonly (BatchedWrite | ServiceError)[],
    options: Pick<BatchOptions, 'workMsMax' | 'first' | 'last'>,
  ): Promise<readonly (WrittenRecord | undefined)[]> {
    return this.#batches.write(principal, operations, options)
  }

  /** A guest who may make the first superuser is an admin for that write. */
  #settingUp(actor: Actor, collection: string): Actor {
    const { principal } = actor
    const isSettingUp = principal.by === 'setup' && this.#parts.definitions.find(collection)?.name === SUPERUSERS
    return isSettingUp ? { ...actor, principal: { ...principal, isAdmin: true } } : actor
  }

  /**
   * Writes all or nothing, as the server itself, without hooks. A record that is gone already is one that is deleted. `check` throws
   * if definitions are no longer those that the operations are about.
   *
   * @throws ServiceError for the first operation that is refused
   */
  async apply(operations: readonly RecordOperation[], check: () => void): Promise<void> {
    const released = pauseIn(this.#parts.environment)
    await whileOutdated(this.#parts.environment, async () => {
      const steps: PreparedWrite[] = []
      try {
        for (const operation of operations) {
          steps.push(await this.#writer.prepare(ITSELF, operation))
          await released()
        }
        check()
        await this.#parts.database.transaction(async (transaction: Transaction) => {
          for (const [index, { run }] of steps.entries()) await run(transaction).catch(unlessGone(operations[index]!))
        })
        for (const { written } of steps) written()
      } finally {
        for (const { release } of steps) release()
      }
    })
  }

  async #shown(actor: Actor, written: WrittenRecord, options: ShowOptions): Promise<RecordJson> {
    const { definition, document } = written
    const asking = seeing(actor, written)
    const show = (shown: ShowOptions): Promise<RecordJson[]> =>
      this.#parts.reads.show(asking, definition, [document], shown)
    // It is written: an answer with too much in it is given without what is expanded.
    const [json] = await show(options).catch((error: unknown) => {
      if (!(error instanceof ServiceError) || (options.expand ?? '') === '') throw error
      return show({ ...options, expand: '' })
    })
    return json!
  }
}

/** Names that a server adds to the records that it shows. */
const SHOWN: ReadonlySet<string> = new Set(['collectionId', 'collectionName', 'expand'])

/** The error for a column that nobody reads: its values would be lost without a word. */
function unknownFields(definition: Definition, input: RecordInput): ServiceError | undefined {
  const unknown = Object.keys(input).filter((name) => !SHOWN.has(name) && !readsName(definition, name))
  if (unknown.length === 0) return undefined
  const message = `The collection "${definition.name}" has no field ${unknown.join(', ')}.`
  return new ServiceError('INVALID', message, { data: Object.fromEntries(unknown.map((name) => [name, NO_FIELD])) })
}

/** The actor, with what it has sent. */
function seeing(actor: Actor, { body }: WrittenRecord): Actor {
  if (body === undefined) return actor
  const { request } = actor
  const { context, method } = request
  // As in the request itself: few rules read them.
  const asked = {
    context,
    method,
    body,
    get query() {
      return request.query
    },
    get headers() {
      return request.headers
    },
  }
  return { ...actor, request: asked }
}
