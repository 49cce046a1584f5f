/** Several writes of an actor in one transaction, with hooks around each. */
import type { Database, Transaction } from 'pannier'
import type { RequestInfo } from '../../access/actor.ts'
import type { Principal } from '../../gateway/principal.ts'
import { ServiceError } from '../../gateway/service-error.ts'
import { BatchError, BatchTimeout } from '../batch-error.ts'
import type { PreparedWrite, RecordOperation, WrittenRecord } from './operations.ts'
import { type RecordWriter, whileOutdated } from './record-writer.ts'
import type { HookedWrite } from './write-hooks.ts'

/** A write, and the request that it stands for. */
export type BatchedWrite = RecordOperation & { readonly request: RequestInfo }

export interface BatchOptions {
  readonly timeoutMs: number
  /** How often a file is named. */
  readonly namings?: number
  /** Begins the transaction. */
  readonly first?: (transaction: Transaction) => Promise<void>
  /** Ends it: what it writes is of the same commit. */
  readonly last?: (transaction: Transaction, written: readonly (WrittenRecord | undefined)[]) => Promise<void>
}

/** A write whose hooks have begun. */
interface BegunStep {
  readonly operation: BatchedWrite
  readonly hooked: HookedWrite | undefined
}

type PreparedStep = PreparedWrite | ServiceError

export class BatchWriter {
  readonly #database: Database
  readonly #writer: RecordWriter

  constructor(database: Database, writer: RecordWriter) {
    this.#database = database
    this.#writer = writer
  }

  /**
   * Writes all or nothing, one after another. Resolves with what is stored for each operation; undefined for a delete. An error stands
   * for an operation that is refused already.
   *
   * @throws BatchError for the first operation that is refused; ServiceError INVALID if it takes too long
   */
  async write(
    principal: Principal,
    operations: readonly (BatchedWrite | ServiceError)[],
    { timeoutMs, namings = 1, first = async () => {}, last = async () => {} }: BatchOptions,
  ): Promise<readonly (WrittenRecord | undefined)[]> {
    const end = performance.now() + timeoutMs
    const batch: Batch = { principal, namings, first, last, isLate: () => performance.now() >= end }
    const steps = await this.#begin(batch, operations)
    const hooked = steps.map((step) => (step instanceof ServiceError ? undefined : step.hooked))
    let written: readonly (WrittenRecord | undefined)[]
    try {
      written = await whileOutdated(() => this.#writeAll(batch, steps))
    } catch (error) {
      await Promise.allSettled(hooked.map(async (one) => one?.isWanted && one.failed(error)))
      throw error
    }
    // All are written, whatever a hook says now.
    const ended = await Promise.allSettled(
      hooked.map(async (one, index) => (one?.isWanted ? one.succeeded(written[index]) : undefined)),
    )
    const failure = ended.find((one) => one.status === 'rejected')
    if (failure !== undefined) throw failure.reason
    return written
  }

  /** Runs the hooks that come before the writes. */
  async #begin(
    batch: Batch,
    operations: readonly (BatchedWrite | ServiceError)[],
  ): Promise<readonly (BegunStep | ServiceError)[]> {
    const steps: (BegunStep | ServiceError)[] = []
    for (const operation of operations) {
      const step = operation instanceof ServiceError ? operation : await this.#begun(batch, operation).catch(asRefused)
      steps.push(step)
      // Nothing after it will be written.
      if (step instanceof ServiceError || batch.isLate()) break
    }
    return steps
  }

  async #begun({ principal, namings }: Batch, operation: BatchedWrite): Promise<BegunStep> {
    const { request } = operation
    const hooked = await this.#writer.begin({ principal, request }, operation, { namings })
    return { hooked, operation: { ...operation, ...hooked?.operation } as BatchedWrite }
  }

  async #writeAll(
    batch: Batch,
    begun: readonly (BegunStep | ServiceError)[],
  ): Promise<readonly (WrittenRecord | undefined)[]> {
    const steps: PreparedStep[] = []
    try {
      for (const one of begun) {
        const step = one instanceof ServiceError ? one : await this.#prepared(batch, one).catch(asRefused)
        steps.push(step)
        if (step instanceof ServiceError || batch.isLate()) break
      }
      return await this.#database.transaction((transaction: Transaction) => runAll(steps, transaction, batch))
    } finally {
      for (const step of steps) if (!(step instanceof ServiceError)) step.release()
    }
  }

  async #prepared({ principal, namings }: Batch, { operation, hooked }: BegunStep): Promise<PreparedWrite> {
    if (hooked?.isWanted === false) return { isWide: false, run: async () => hooked.unwritten(), release: () => {} }
    return this.#writer.prepare({ principal, request: operation.request }, operation, namings)
  }
}

interface Batch extends Required<Pick<BatchOptions, 'namings' | 'first' | 'last'>> {
  readonly principal: Principal
  readonly isLate: () => boolean
}

/** @throws BatchError; ServiceError INVALID if it takes too long */
async function runAll(
  steps: readonly PreparedStep[],
  transaction: Transaction,
  { isLate, first, last }: Batch,
): Promise<readonly (WrittenRecord | undefined)[]> {
  await first(transaction)
  const written: (WrittenRecord | undefined)[] = []
  for (const [index, step] of steps.entries()) {
    const outcome = step instanceof ServiceError ? step : await step.run(transaction).catch(asRefused)
    if (isLate()) throw new BatchTimeout()
    if (outcome instanceof ServiceError) throw new BatchError(index, outcome)
    written.push(outcome)
  }
  await last(transaction, written)
  return written
}

/** What refuses an operation. Anything else fails the batch as it is. */
function asRefused(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error
  throw error
}
