/**
 * The writes of one handle, one after another: the lease, group commit, and failures.
 *
 * Guarantees: writes run in the order of the calls. Writes that wait at the same time share one log append. Nothing is
 * visible or acknowledged before it is durable. If the outcome of an append is unknown, nothing more is written until
 * the store has reported it.
 */
import { assert, isPannierError, PannierError } from '../base/errors.ts'
import type { CommitSequence, Generation } from '../base/brand.ts'
import { loadedModule } from '../base/lazy-module.ts'
import { attempt, Miss } from '../base/miss.ts'
import { pauseIn, retryWhenStale, STALE_RETRIES_MAX, type Pause } from '../base/long-work.ts'
import { isPromise, type MaybePromise } from '../base/async.ts'
import { Checkpointer, skipsLog } from './checkpoint.ts'
import * as limits from './limits.ts'
import { encodeCommit, isWrittenBy } from './commit-record.ts'
import type { WriterLease } from '../storage/coordinator.ts'
import { notifyLocalHandles, type Core } from './core.ts'
import type { HeldTransaction, WriteTransaction } from './key-value-store.ts'
import type { StoreState } from '../storage/page-store.ts'
import { WaitWatch, type WaitLimits, type WaitingWork } from './wait-watch.ts'
import { Transaction, type SealedTransaction } from './transaction.ts'
import type { State } from './state.ts'

const NO_LIMIT: WaitLimits = { waitMsMax: Infinity, warn: () => {} }

interface QueuedWrite extends WaitingWork {
  readonly run: (transaction: WriteTransaction) => unknown
  readonly resolve: (value: unknown) => void
}

/** Exclusive work: anything else that runs alone. */
interface ExclusiveWork extends WaitingWork {
  readonly work: () => Promise<void>
}

/** Thrown to run a group once more on the state as it is now. */
class RunAgain extends Error {}

/** Reports the end of a write to its caller. */
type Outcome = () => void

export class Writer {
  readonly #core: Core
  readonly #checkpointer: Checkpointer
  readonly #queue: (QueuedWrite | ExclusiveWork)[] = []
  readonly #pause: Pause
  /** The store did, so nothing has released the thread. */
  #answeredAtOnce = false
  readonly #watch: WaitWatch
  /** The holder: the transaction that runs, as far as its caller has named it. */
  #holder: (() => string) | undefined
  #running: Promise<void> | undefined
  #lease: WriterLease | undefined
  #cancelIdle: (() => void) | undefined
  #lastCommitMs = 0
  /** Bytes in the log that make another storage checkpoint worth a try after one has failed. */
  #checkpointFrom = 0

  constructor(core: Core) {
    this.#core = core
    this.#checkpointer = new Checkpointer(core)
    const { environment, waits = NO_LIMIT } = core.options
    this.#pause = pauseIn(environment)
    this.#watch = new WaitWatch(environment, waits, () => this.#waitReason())
    core.options.coordinator.onHint(() => this.#catchUp())
  }

  write<T>(run: (transaction: WriteTransaction) => T): Promise<T> {
    this.#core.assertWritable()
    return new Promise<T>((resolve, reject) => {
      this.#enqueue({ run, resolve: resolve as (value: unknown) => void, reject })
    })
  }

  /** Runs `work` alone, with the lease and the newest state. */
  exclusively<T>(work: () => Promise<T>): Promise<T> {
    return this.#alone(work, () => this.#prepareToWrite())
  }

  /** Waits until it may write; others wait until the transaction ends. `name` says what it is to those who wait for long. */
  begin(name?: () => string): Promise<HeldTransaction> {
    const loading = loadedModule(import('./held-transaction.ts'))
    // A failure is reported by `prepare`.
    loading.catch(() => {})
    // Loaded before the lease is acquired: no other tab waits for the network of this one.
    const prepare = (): Promise<void> => loading.then(() => this.#prepareToWrite())
    return new Promise((resolve, reject) => {
      const run = async (): Promise<void> => {
        // Nothing may move the pages under a transaction that can't be run again.
        await this.#checkpointer.running?.catch(() => {})
        const { HeldPagedTransaction } = await loading
        const transaction = new HeldPagedTransaction(this.#core, (written) => this.commit(written))
        this.#holder = name
        resolve(transaction)
        await transaction.ended
        this.#holder = undefined
      }
      this.#alone(run, prepare).catch(reject)
    })
  }

  async refresh(): Promise<void> {
    return this.#alone(
      () => this.#core.refresh(),
      () => Promise.resolve(),
    )
  }

  /** Runs `work` when all before it have ended and `prepare` has resolved. */
  #alone<T>(work: () => Promise<T>, prepare: () => Promise<void>): Promise<T> {
    this.#core.assertOpen()
    return new Promise<T>((resolve, reject) => {
      const queued: ExclusiveWork = {
        reject,
        work: async () => {
          try {
            await prepare()
            if (this.#watch.begin(queued)) resolve(await work())
          } catch (error) {
            this.#watch.begin(queued)
            reject(error)
          }
        },
      }
      this.#enqueue(queued)
    })
  }

  /** When another handle gets ahead (this one was frozen and its lease given away), it acquires the lease once more. */
  checkpoint(): Promise<void> {
    return retryWhenStale(() => this.exclusively(() => this.#checkpoint()))
  }

  /** As `exclusively`, while no storage checkpoint runs. */
  withoutCheckpoint<T>(work: () => Promise<T>): Promise<T> {
    return this.exclusively(async () => {
      await this.#checkpointer.running?.catch(() => {})
      return work()
    })
  }

  /** As `withoutCheckpoint`, when everything that was committed is in pages. */
  afterCheckpoint<T>(work: () => Promise<T>): Promise<T> {
    return this.withoutCheckpoint(async () => {
      const { sequence, baseSequence } = this.#core.state
      if (sequence !== baseSequence) await this.#checkpoint()
      return work()
    })
  }

  /** Closes it. Finishes what was asked for. */
  async close(): Promise<void> {
    this.#cancelIdle?.()
    await this.#running
    this.#watch.close()
    await this.#checkpointer.running?.catch(() => {})
    this.#dropLease()
  }

  /** Makes a transaction durable and visible. Only while this handle holds the lease. */
  async commit(transaction: Transaction): Promise<void> {
    const sealed = transaction.seal()
    if (!sealed.changed) return
    const core = this.#core
    try {
      if (!skipsLog(sealed, core.logBytes) || !(await this.#commitDirect(sealed))) {
        await this.#append(sealed)
      }
    } catch (error) {
      if (isPannierError(error, 'PANNIER_STALE')) this.#dropLease()
      throw error
    }
    const { sequence, generation } = core.state
    const told = notifyLocalHandles(core, sealed.sequence)
    if (isPromise(told)) await told
    core.options.coordinator.announce({ sequence, generation })
    this.#afterCommit()
  }

  /** False if there was no room for its pages; a log record is smaller, and the store may have kept room for a small one. */
  async #commitDirect(sealed: SealedTransaction): Promise<boolean> {
    const core = this.#core
    await this.#checkpointer.running?.catch(() => {})
    if (core.state.sequence >= sealed.sequence) throw new PannierError('PANNIER_STALE', 'Others have written since.')
    // Its draft stands on pages that the storage checkpoint has just replaced.
    if (sealed.base !== core.state && sealed.body === undefined) throw new RunAgain()
    try {
      await this.#settled(sealed, () => this.#checkpointer.commitDirect(sealed))
      return true
    } catch (error) {
      const roomFailed = isPannierError(error, 'PANNIER_QUOTA_EXCEEDED') && core.failure === undefined
      if (!roomFailed || sealed.body === undefined || sealed.base !== core.state) throw error
      return false
    }
  }

  async #append(sealed: SealedTransaction): Promise<void> {
    const core = this.#core
    const { base, sequence, result, body } = sealed
    assert(body !== undefined, 'what goes to the log is known')
    const bytes = encodeCommit(sequence, core.writerId, body)
    await this.#settled(
      sealed,
      () => core.options.store.append({ sequence, bytes }, core.options.durability),
      () => {
        const before = core.state
        core.committed(base, result, { sequence, body, bytes: bytes.length })
        commitInspection.inspect?.(before, bytes, core.state)
      },
    )
  }

  /**
   * Waits for a write, and calls `written` when it has happened. If it fails, reads the store. If the write has
   * happened all the same, the state has it already. Otherwise the error is thrown.
   */
  async #settled(
    { sequence }: SealedTransaction,
    write: () => MaybePromise<void>,
    written?: () => void,
  ): Promise<void> {
    const core = this.#core
    const { generation, sequence: before } = core.state
    try {
      const writing = write()
      this.#answeredAtOnce = !isPromise(writing)
      if (isPromise(writing)) await writing
    } catch (error) {
      if (isPannierError(error, 'PANNIER_STALE')) throw error
      core.noticeLoss(error)
      core.failure = error
      const state = core.state
      const found = await this.#lookAgain(generation, before)
      if (found === undefined) {
        if (!isPannierError(error, 'PANNIER_IO_FAILED')) throw error
        throw new PannierError('PANNIER_OUTCOME_UNKNOWN', 'The write may be lost.', { cause: error })
      }
      if (core.state === state) core.adopt(found)
      core.failure = undefined
      if (found.log.some((record) => record.sequence === sequence && isWrittenBy(record, core.writerId))) return
      throw error
    }
    // Others may have written on before the answer came: then the state has it already.
    if (core.state.sequence < sequence) written?.()
  }

  async #lookAgain(generation: Generation, sequence: CommitSequence): Promise<StoreState | undefined> {
    try {
      return await this.#core.options.store.read({ generation, sequence })
    } catch {
      // The failure that matters is the one before; this one leaves its outcome open.
      return undefined
    }
  }

  #enqueue(item: QueuedWrite | ExclusiveWork): void {
    this.#queue.push(item)
    this.#watch.add(item)
    // One microtask later, so that everything asked for in the same step shares a group.
    this.#running ??= Promise.resolve().then(() => this.#drain())
  }

  async #drain(): Promise<void> {
    for (let item = this.#queue.shift(); item !== undefined; item = this.#queue.shift()) {
      if ('work' in item) await item.work()
      else {
        const end = this.#queue.findIndex((next) => 'work' in next)
        const others = this.#queue.splice(0, end < 0 ? this.#queue.length : end) as QueuedWrite[]
        await this.#commitGroup([item, ...others])
      }
      // A caller that awaits one write after another would keep everybody else from the thread.
      const paused = this.#answeredAtOnce ? this.#pause() : undefined
      if (isPromise(paused)) await paused
      // Last: others that want the lease from now on find this handle at rest, or wait for its next lease.
      this.#yieldLease()
    }
    // In the same step as the last look at the queue: what is put there from now on starts a new run.
    this.#running = undefined
  }

  async #commitGroup(asked: readonly QueuedWrite[]): Promise<void> {
    let group = asked
    try {
      for (let retries = 0; ; retries++) {
        if (!this.#canWrite) await this.#prepareToWrite()
        group = group.filter((one) => this.#watch.begin(one, true))
        const release = this.#core.hold(this.#core.state.generation)
        try {
          const run = attempt(() => this.#runWrites(group))
          const { transaction, outcomes } = isPromise(run) ? await run : run
          await this.commit(transaction)
          for (const tell of outcomes) tell()
          return
        } catch (error) {
          const again = error instanceof RunAgain || isPannierError(error, 'PANNIER_STALE')
          if (!again || retries >= STALE_RETRIES_MAX) throw error
        } finally {
          release()
        }
      }
    } catch (error) {
      for (const one of group) {
        this.#watch.begin(one)
        one.reject(error)
      }
    } finally {
      for (const one of asked) this.#watch.answered(one)
    }
  }

  #waitReason(): string | undefined {
    if (this.#holder !== undefined)
      return `The transaction ${this.#holder()} has not ended. Inside db.transaction use tx.collection(…), never the database itself: docs/internals/transactions.md.`
    return this.#lease === undefined
      ? 'Another tab, worker or handle holds the lease to write: a transaction that runs, or a frozen tab?'
      : undefined
  }

  /** Runs all writes in one transaction. A write that throws leaves nothing behind and does not disturb the others. */
  #runWrites(group: readonly QueuedWrite[]): { transaction: Transaction; outcomes: Outcome[] } {
    const { state, cache } = this.#core
    const transaction = new Transaction(state, cache)
    const outcomes: Outcome[] = []
    let miss: Miss | undefined
    for (const { run, resolve, reject } of group) {
      try {
        const value = transaction.step(run)
        outcomes.push(() => resolve(value))
      } catch (error) {
        // The others continue, so that what they miss is fetched with it; then all run again.
        if (error instanceof Miss) miss = error
        else outcomes.push(() => reject(error))
      }
    }
    if (miss !== undefined) throw miss
    return { transaction, outcomes }
  }

  /** Nothing has to be waited for. */
  get #canWrite(): boolean {
    const { failure, logBytes } = this.#core
    return this.#lease?.lost === false && failure === undefined && logBytes <= limits.WAITING_LOG_BYTES
  }

  /** Has the lease, the newest state and room in the log, or throws. */
  async #prepareToWrite(): Promise<void> {
    const core = this.#core
    if (this.#lease === undefined || this.#lease.lost) {
      this.#dropLease()
      this.#lease = await core.options.coordinator.acquireWriter()
      this.#lease.onWanted(() => this.#yieldWhenIdle())
      // Others may have written since this handle last looked.
      await this.#recover()
    } else if (core.failure !== undefined) {
      await this.#recover()
    }
    if (core.logBytes > limits.WAITING_LOG_BYTES && core.logBytes >= this.#checkpointFrom) {
      await this.#checkpoint().catch((error: unknown) => {
        if (core.logBytes > limits.FAILING_LOG_BYTES) throw error
      })
    }
  }

  #dropLease(): void {
    this.#lease?.release()
    this.#lease = undefined
  }

  async #recover(): Promise<void> {
    const core = this.#core
    try {
      await core.refresh()
      core.failure = undefined
    } catch (error) {
      if (core.failure === undefined || isPannierError(error, 'PANNIER_CLOSED')) throw error
      const message = 'An earlier write failed and the database could not be read since. Nothing was written.'
      throw new PannierError('PANNIER_RECOVERY_NEEDED', message, { cause: error })
    }
  }

  /** Yields the lease when nothing runs: running work keeps it to its end; then `#drain` yields. */
  #yieldWhenIdle(): void {
    if (this.#running === undefined) this.#yieldLease()
  }

  /** Between two writes: lets another handle have the lease, unless a storage checkpoint is under way. */
  #yieldLease(): void {
    if (this.#lease === undefined || this.#checkpointer.running !== undefined) return
    if (this.#lease.wanted || this.#lease.lost) this.#dropLease()
  }

  /** Another handle may have committed. While this one has the lease none can. */
  #catchUp(): void {
    const { closed } = this.#core
    if (closed || (this.#lease !== undefined && !this.#lease.lost && this.#lease.isShared !== true)) return
    // A failure shows itself to the next operation.
    this.refresh().catch(() => {})
  }

  #afterCommit(): void {
    const { logBytes, logRecords } = this.#core
    if (logBytes >= limits.LOG_BYTES_MAX || logRecords >= limits.LOG_RECORDS_MAX) {
      // A failure costs only room in the log; it is tried again when the log has grown.
      if (logBytes >= this.#checkpointFrom) this.#checkpoint().catch(() => {})
    } else if (logBytes >= limits.IDLE_CHECKPOINT_BYTES_MIN) {
      this.#lastCommitMs = this.#core.options.environment.now()
      this.#checkpointWhenIdle()
    }
  }

  async #checkpoint(): Promise<void> {
    try {
      await this.#checkpointer.start()
      this.#checkpointFrom = 0
    } catch (error) {
      this.#checkpointFrom = this.#core.logBytes + limits.RETRY_BYTES
      // Whether its last step has happened is for the store to tell, before anything else is written.
      if (!isPannierError(error, 'PANNIER_MODULE_NOT_LOADED')) this.#core.failure ??= error
      throw error
    } finally {
      this.#yieldWhenIdle()
    }
  }

  /** One timer at a time: when it rings it looks whether there were writes meanwhile. */
  #checkpointWhenIdle(): void {
    const { environment } = this.#core.options
    this.#cancelIdle ??= environment.after(limits.IDLE_CHECKPOINT_DELAY_MS, () => {
      this.#cancelIdle = undefined
      if (this.#core.closed || this.#core.logBytes === 0) return
      if (environment.now() - this.#lastCommitMs < limits.IDLE_CHECKPOINT_DELAY_MS) this.#checkpointWhenIdle()
      else this.checkpoint().catch(() => {})
    })
  }
}

/**
 * For tests (`testing/replay-check.ts`): called when a record is in the log and its changes are in memory. What it throws
 * fails the write.
 */
type CommitInspection = (before: State, record: Uint8Array, after: State) => void

export const commitInspection: { inspect: CommitInspection | undefined } = { inspect: undefined }
