/** Several writes of an actor in one transaction, with hooks around each. */
import type { Database, Transaction } from 'pannier'
import { pauseIn, type Pause } from 'pannier/internal'
import type { Environment } from 'pannier/types'
import type { Actor, RequestInfo } from '../../access/actor.ts'
import { toText } from '../../fields/cast.ts'
import type { AnswerBudget } from '../../gateway/answer-room.ts'
import type { Principal } from '../../gateway/principal.ts'
import { ServiceError } from '../../gateway/service-error.ts'
import type { HookApp } from '../../hooks/hook-app.ts'
import { BatchError, BatchTimeout, BatchTried, type RefusedOperation } from '../batch-error.ts'
import { type RecordTransaction, runInTransaction } from '../record-transaction.ts'
import { transactionApp } from '../transaction-app.ts'
import type { PreparedWrite, RecordOperation, WrittenRecord } from './operations.ts'
import { type RecordWriter, whileOutdated } from './record-writer.ts'
import type { HookedWrite } from './write-hooks.ts'
import { withViewRows } from './write-views.ts'

/** A write, and the request that it stands for. */
export type BatchedWrite = RecordOperation & { readonly request: RequestInfo }

export interface BatchOptions {
  /** How long its work may take. The wait for other writes is not counted. */
  readonly workMsMax: number
  /** The memory for records in the answer, and until then. */
  readonly budget?: AnswerBudget | undefined
  /** How often a file is named. */
  readonly namings?: number
  /** How many operations are refused before it ends; 1 when left out. */
  readonly refusedMax?: number
  /** Nothing is written: it ends with `BatchTried` where it would have been. */
  readonly isTrial?: boolean
  /** Begins the transaction. */
  readonly first?: (transaction: Transaction) => Promise<void>
  /** Ends it: what it writes is of the same commit. */
  readonly last?: (transaction: Transaction, written: readonly (WrittenRecord | undefined)[]) => Promise<void>
}

interface Batch extends Required<Pick<BatchOptions, 'namings' | 'refusedMax' | 'isTrial' | 'first' | 'last'>> {
  readonly by: Omit<Actor, 'request'>
  readonly isLate: () => boolean
  /** The pause between operations, in which others get a turn. */
  readonly pause: Pause
  /** Subtracts time in which the batch has waited. */
  readonly waited: (ms: number) => void
}

/**
 * A write whose hooks have begun. `dependent`: they begin in the transaction, as the record or what the rule leads to may be of an earlier
 * write of the batch.
 */
interface BegunStep {
  readonly operation: BatchedWrite
  readonly hooked: HookedWrite | undefined
  readonly isDependent: boolean
}

/** A write that is ready; one that is made ready in the transaction; one that is refused. */
type Step = PreparedWrite | BatchedWrite | ServiceError

type Written = readonly (WrittenRecord | undefined)[]

interface BatchWriterParts {
  readonly database: Database
  readonly environment: Environment
  readonly app: HookApp
  readonly writer: RecordWriter
}

export class BatchWriter {
  readonly #parts: BatchWriterParts

  constructor(parts: BatchWriterParts) {
    this.#parts = parts
  }

  /**
   * Writes all or nothing, one after another. Resolves with what is stored for each operation; undefined for a delete. An error stands
   * for an operation that is refused already.
   *
   * @throws BatchError for the operations that are refused; BatchTimeout; BatchTried
   */
  async write(
    principal: Principal,
    operations: readonly (BatchedWrite | ServiceError)[],
    options: BatchOptions,
  ): Promise<Written> {
    const { workMsMax, budget, namings = 1, refusedMax = 1, isTrial = false } = options
    const { first = async () => {}, last = async () => {} } = options
    const { environment } = this.#parts
    let end = environment.now() + workMsMax
    const batch: Batch = {
      by: { principal, budget },
      namings,
      refusedMax,
      isTrial,
      first,
      last,
      isLate: () => environment.now() >= end,
      pause: pauseIn(environment),
      waited: (ms) => (end += ms),
    }
    const steps = await this.#begin(batch, operations)
    const hooked = steps.map((step) => (step instanceof ServiceError ? undefined : step.hooked))
    let written: Written
    try {
      written = await whileOutdated(environment, () => this.#writeAll(batch, steps))
    } catch (error) {
      if (error instanceof BatchTried) throw error
      await Promise.allSettled(hooked.map(async (one) => one?.isWanted && one.failed(error)))
      throw error
    }
    // All are written, whatever a hook says now.
    const ended = await Promise.allSettled(
      hooked.map(async (one, index) => (one?.isWanted ? one.succeeded(written[index]) : written[index])),
    )
    return ended.map((one) => {
      if (one.status === 'rejected') throw one.reason
      return one.value
    })
  }

  /** Runs the hooks that come before the writes. */
  async #begin(
    batch: Batch,
    operations: readonly (BatchedWrite | ServiceError)[],
  ): Promise<readonly (BegunStep | ServiceError)[]> {
    const steps: (BegunStep | ServiceError)[] = []
    const named = new Set<string>()
    for (const operation of operations) {
      await batch.pause()
      const step =
        operation instanceof ServiceError ? operation : await this.#begun(batch, operation, named).catch(asRefused)
      steps.push(step)
      if (isOver(batch, steps)) break
    }
    return steps
  }

  /** `named`: the records of the operations before it. */
  async #begun({ by, namings }: Batch, operation: BatchedWrite, named: Set<string>): Promise<BegunStep> {
    const { writer } = this.#parts
    const { request, collection } = operation
    const isFirst = named.size === 0
    const id = 'id' in operation ? operation.id : toText(operation.input['id'])
    const record = writer.recordKey(collection, id)
    const isNamed = id !== '' && named.has(record)
    named.add(record)
    const hooked = isNamed ? undefined : await writer.begin({ ...by, request }, operation, { namings })
    const isDependent = hooked === undefined && !isFirst && writer.hasHooks(collection)
    return { hooked, isDependent, operation: { ...operation, ...hooked?.operation } as BatchedWrite }
  }

  async #writeAll(batch: Batch, begun: readonly (BegunStep | ServiceError)[]): Promise<Written> {
    const steps: Step[] = []
    try {
      for (const one of begun) {
        await batch.pause()
        const step = one instanceof ServiceError ? one : await this.#prepared(batch, one).catch(asRefused)
        steps.push(step)
        if (isOver(batch, steps)) break
      }
      const { database, environment, writer } = this.#parts
      const since = environment.now()
      let isBegun = false
      const begin = (): void => {
        // A transaction that is begun again waits no more.
        if (!isBegun) batch.waited(environment.now() - since)
        isBegun = true
      }
      const isDependent = begun.some((one) => !(one instanceof ServiceError) && one.isDependent)
      // Its actor is that of each operation.
      const actor: Actor = { ...batch.by, request: NO_REQUEST }
      const written = await withViewRows(() =>
        isDependent
          ? runInTransaction(database, writer, actor, (inside) => {
              begin()
              return this.#runAll(batch, steps, inside.place, inside)
            })
          : database.transaction((place: Transaction) => {
              begin()
              return this.#runAll(batch, steps, place)
            }),
      )
      for (const step of steps) if ('written' in step) step.written()
      return written
    } finally {
      for (const step of steps) if ('release' in step) step.release()
    }
  }

  async #prepared(
    { by, namings }: Batch,
    { operation, hooked, isDependent }: BegunStep,
  ): Promise<PreparedWrite | BatchedWrite> {
    if (isDependent) return operation
    if (hooked?.isWanted === false)
      return { isWide: false, run: async () => hooked.unwritten(), written: () => {}, release: () => {} }
    return this.#parts.writer.prepare({ ...by, request: operation.request }, operation, namings)
  }

  /** `inside`: for operations whose hooks begin now. @throws BatchError, BatchTimeout */
  async #runAll(
    batch: Batch,
    steps: readonly Step[],
    place: Transaction,
    inside?: RecordTransaction,
  ): Promise<Written> {
    const { by, namings, refusedMax, isTrial, isLate, pause, first, last } = batch
    const { app } = this.#parts
    const run = async (step: Exclude<Step, ServiceError>): Promise<WrittenRecord | undefined> => {
      if ('run' in step) return step.run(place)
      const within = transactionApp(app, inside!)
      return inside!.write({ ...by, request: step.request }, step, { app: within, namings })
    }
    await first(place)
    const written: (WrittenRecord | undefined)[] = []
    const refused: RefusedOperation[] = []
    for (const [index, step] of steps.entries()) {
      await pause()
      const outcome = step instanceof ServiceError ? step : await run(step).catch(asRefused)
      if (isLate()) throw new BatchTimeout()
      if (!(outcome instanceof ServiceError)) written.push(outcome)
      else if (refused.push({ index, reason: outcome }) >= refusedMax) break
    }
    const [wrong, ...others] = refused
    if (wrong !== undefined) throw new BatchError(wrong.index, wrong.reason, others)
    await last(place, written)
    if (isTrial) throw new BatchTried()
    return written
  }
}

const NO_REQUEST: RequestInfo = { context: 'batch', method: 'POST', query: {}, headers: {} }

/** Nothing will be written, and enough is known. */
function isOver({ refusedMax, isLate }: Batch, steps: readonly unknown[]): boolean {
  return isLate() || steps.filter((step) => step instanceof ServiceError).length >= refusedMax
}

/** Gives the refusal of an operation. Anything else fails the batch as it is. */
function asRefused(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error
  throw error
}
