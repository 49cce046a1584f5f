/**
 * A replication that the server keeps running. Runs follow one another until one is complete, with growing pauses. It
 * has CouchDB's states: initializing, pending (waits for others), running, crashing (failed, will try again), and at
 * the end completed or failed.
 */
import type { FastifyBaseLogger } from 'fastify'
import { isPannierError } from 'pannier'
import type { ReplicationResult } from 'pannier'
import { pause } from 'pannier/internal'
import type { Environment, FetchFunction } from 'pannier/types'
import { toHttpError } from '../http/http-error.ts'
import { NODE_NAME } from '../http/server-identity.ts'
import { ServiceError } from '@pannier/backend'
import type { Principal } from '@pannier/backend'
import type { JsonObject } from '@pannier/backend/internal'
import type { ActiveTask } from './tasks.ts'
import { ReplicationRun } from './replication-run.ts'
import { nameOf } from './replication-spec.ts'
import type { ReplicationSpec } from './replication-spec.ts'
import type { ReplicatorContext } from './replicator-context.ts'
import type { RunQueue } from './run-queue.ts'

type JobState = 'initializing' | 'pending' | 'running' | 'crashing' | 'completed' | 'failed'

export interface JobHost {
  readonly context: ReplicatorContext
  readonly runQueue: RunQueue
  readonly log: FastifyBaseLogger
  readonly fetch: FetchFunction
  readonly retryMsMin: number
  readonly retryMsMax: number
  /** The wait (backOff) within a run. */
  readonly backOff: ((delayMs: number) => number) | undefined
}

interface JobOptions {
  readonly id: string
  readonly spec: ReplicationSpec
  /** Id of the document in `_replicator`; undefined for a job of `_replicate`. */
  readonly documentId: string | undefined
  /** The owner of the job: only this user and server admins may see it. */
  readonly owner: string | null
  /**
   * The user with current rights.
   *
   * @throws ServiceError if the user does not exist
   */
  readonly principal: () => Promise<Principal>
  /** Tries again for as long as it takes; otherwise the first run is the last. */
  readonly persistent: boolean
}

interface HistoryEntry extends JsonObject {
  readonly timestamp: string
  readonly type: 'added' | 'started' | 'crashed' | 'stopped'
  readonly reason?: string
}

const HISTORY_MAX = 20
/** Tries of a one-shot replication. More than are needed to skip a single bad document. */
const TRIES_MAX = 6
const TASK_UPDATE_MS_MIN = 500

export class Job {
  readonly options: JobOptions
  readonly startTime: string
  readonly #host: JobHost
  readonly #stop = new AbortController()
  readonly #history: HistoryEntry[] = []
  readonly #done: Promise<ReplicationResult>
  #state: JobState = 'initializing'
  #lastUpdated: string
  #errorCount = 0
  #error: string | undefined
  #run: ReplicationRun | undefined
  #task: ActiveTask | undefined
  #taskMs = 0

  constructor(host: JobHost, options: JobOptions) {
    this.#host = host
    this.options = options
    this.startTime = this.#lastUpdated = this.#timestamp()
    this.#note('added')
    this.#done = this.#work()
    this.#done.catch(() => {})
  }

  /** Resolves when it is done, and rejects with what has ended it. */
  get done(): Promise<ReplicationResult> {
    return this.#done
  }

  get state(): JobState {
    return this.#state === 'running' && this.#run?.waitsFor !== undefined ? 'crashing' : this.#state
  }

  get isOver(): boolean {
    return this.#state === 'completed' || this.#state === 'failed'
  }

  /** Stops it, and waits for that. */
  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#done.catch(() => {})
  }

  /** The rights of users have changed. */
  async recheck(): Promise<void> {
    const run = this.#run
    if (run !== undefined) await run.recheck(await this.options.principal().catch(() => undefined))
  }

  /** For `_scheduler/docs`. */
  describeDocument(): JsonObject {
    const { id, documentId } = this.options
    return {
      database: '_replicator',
      doc_id: documentId ?? null,
      id: this.isOver ? null : id,
      node: NODE_NAME,
      ...this.#sides(),
      state: this.state,
      info: this.#info(),
      error_count: this.#errorCount,
      start_time: this.startTime,
      last_updated: this.#lastUpdated,
    }
  }

  /** For `_scheduler/jobs`. */
  describeJob(): JsonObject {
    const { id, documentId, owner } = this.options
    return {
      database: documentId === undefined ? null : '_replicator',
      id,
      pid: null,
      ...this.#sides(),
      user: owner,
      doc_id: documentId ?? null,
      history: this.#history.toReversed(),
      info: this.#info(),
      node: NODE_NAME,
      start_time: this.startTime,
    }
  }

  #sides(): JsonObject {
    const { source, target } = this.options.spec
    return { source: nameOf(source), target: nameOf(target) }
  }

  #info(): JsonObject | null {
    const waitsFor = this.#error ?? this.#run?.waitsFor
    if (waitsFor !== undefined) return { error: waitsFor }
    return this.#run === undefined ? null : this.#run.facts()
  }

  async #work(): Promise<ReplicationResult> {
    const { runQueue, retryMsMin, retryMsMax } = this.#host
    const { signal } = this.#stop
    for (let delayMs = retryMsMin; ; delayMs = Math.min(retryMsMax, 2 * delayMs)) {
      this.#become('pending')
      const giveWay = new AbortController()
      const permit = await runQueue.acquire(signal, this.options.spec.continuous ? () => giveWay.abort() : undefined)
      try {
        signal.throwIfAborted()
        const result = await this.#once(AbortSignal.any([signal, giveWay.signal]))
        this.#become('completed')
        return result
      } catch (error) {
        this.#task?.end()
        if (signal.aborted) {
          this.#note('stopped')
          throw error
        }
        if (giveWay.signal.aborted) {
          this.#note('stopped')
          delayMs = retryMsMin / 2
          continue
        }
        if (this.#hasProgressed()) delayMs = retryMsMin
        this.#crashed(error)
        if (!this.options.persistent) {
          this.#become('failed')
          throw error
        }
      } finally {
        this.#task?.end()
        permit.release()
      }
      await pause(this.#host.context.environment, delayMs, signal)
      signal.throwIfAborted()
    }
  }

  async #once(signal: AbortSignal): Promise<ReplicationResult> {
    const { context, fetch, backOff } = this.#host
    const { spec, persistent } = this.options
    const run = new ReplicationRun(context, spec, await this.options.principal(), {
      fetch,
      backOff,
      triesMax: persistent ? Infinity : TRIES_MAX,
      signal,
      onChange: () => this.#told(),
    })
    this.#run = run
    this.#error = undefined
    this.#become('running')
    this.#note('started')
    this.#task = context.tasks.start('replication', this.#taskFacts())
    this.#taskMs = 0
    const result = await run.run()
    if (result.status !== 'complete') throw new ServiceError('UNAVAILABLE', 'The database was closed.')
    return result
  }

  #told(): void {
    const now = this.#host.context.environment.now()
    if (now - this.#taskMs < TASK_UPDATE_MS_MIN) return
    this.#taskMs = now
    this.#lastUpdated = this.#timestamp()
    this.#task?.update(this.#taskFacts())
  }

  #taskFacts(): JsonObject {
    const { id, documentId, owner, spec } = this.options
    return {
      node: NODE_NAME,
      replication_id: id,
      database: documentId === undefined ? null : '_replicator',
      doc_id: documentId ?? null,
      user: owner,
      ...this.#sides(),
      continuous: spec.continuous,
      checkpoint_interval: spec.checkpointIntervalMs,
      ...this.#run?.facts(),
    }
  }

  #hasProgressed(): boolean {
    return (this.#run?.facts().docs_written ?? 0) > 0
  }

  #crashed(error: unknown): void {
    this.#errorCount++
    this.#error = reasonOf(error)
    const isKnown = error instanceof ServiceError || isPannierError(error)
    const facts = { replication: this.options.id, document: this.options.documentId, reason: this.#error }
    this.#host.log.warn(isKnown ? facts : { ...facts, err: error }, 'a replication has failed')
    this.#note('crashed', this.#error)
    this.#become('crashing')
  }

  #become(state: JobState): void {
    this.#state = state
    this.#lastUpdated = this.#timestamp()
  }

  #note(type: HistoryEntry['type'], reason?: string): void {
    this.#history.push({ timestamp: this.#timestamp(), type, ...(reason !== undefined && { reason }) })
    if (this.#history.length > HISTORY_MAX) this.#history.shift()
  }

  #timestamp(): string {
    return timestamp(this.#host.context.environment)
  }
}

/** For people: what is known to be harmless. */
export function reasonOf(error: unknown): string {
  if (isPannierError(error)) return error.message
  const known = error instanceof ServiceError ? toHttpError(error) : undefined
  if (known !== undefined) return known.message
  return 'The replication has failed; the log of the server knows more.'
}

/** The timestamp in seconds, as CouchDB has it. */
export function timestamp(environment: Environment): string {
  return new Date(environment.wallClock()).toISOString().replace(/\.\d+Z$/, 'Z')
}
