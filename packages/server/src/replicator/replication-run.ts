/** One run of a replication, from the check of its user's rights to its end. */
import type { Replication, ReplicationEvent, ReplicationResult } from 'pannier'
import type { FetchFunction, ReplicationSequence, ReplicationSide } from 'pannier/types'
import { ServiceError } from '@pannier/backend'
import type { Principal } from '@pannier/backend'
import type { JsonObject } from '@pannier/backend/internal'
import { checkAccess, openEndpoints } from './open-endpoints.ts'
import type { ReplicationSpec } from './replication-spec.ts'
import type { ReplicatorContext } from './replicator-context.ts'

interface RunOptions {
  readonly fetch: FetchFunction
  /** Milliseconds to the next try, of those waited before. */
  readonly backOff: ((delayMs: number) => number) | undefined
  /** The run ends after this number of transient failures in a row; Infinity: never. */
  readonly triesMax: number
  readonly signal: AbortSignal
  /** Something of `facts()` is another one. */
  readonly onChange: (run: ReplicationRun) => void
}

/** The facts of `_scheduler`, with CouchDB's names. */
interface RunFacts extends JsonObject {
  readonly revisions_checked: number
  readonly missing_revisions_found: number
  readonly docs_read: number
  readonly docs_written: number
  readonly doc_write_failures: number
  readonly changes_pending: number | null
  readonly checkpointed_source_seq: ReplicationSequence
  readonly through_seq: ReplicationSequence
  readonly source_seq: ReplicationSequence
}

export class ReplicationRun {
  readonly #context: ReplicatorContext
  readonly #spec: ReplicationSpec
  #principal: Principal
  readonly #options: RunOptions
  readonly #revoked = new AbortController()
  #replication: Replication | undefined
  #checkpointed: ReplicationSequence = null
  /** Why it waits for its next try. */
  #waitsFor: string | undefined
  #failures = 0

  constructor(context: ReplicatorContext, spec: ReplicationSpec, principal: Principal, options: RunOptions) {
    this.#context = context
    this.#spec = spec
    this.#principal = principal
    this.#options = options
  }

  /**
   * Runs to the end. Rejects with PANNIER_ABORTED if the signal ended it.
   *
   * @throws ServiceError, PannierError
   */
  async run(): Promise<ReplicationResult> {
    const { fetch, signal } = this.#options
    await checkAccess(this.#context, this.#spec, this.#principal)
    const ends = await openEndpoints(this.#context, this.#spec, () => this.#principal, fetch)
    const stop = AbortSignal.any([signal, this.#revoked.signal])
    try {
      this.#replication = this.#start(ends.source, ends.target, stop)
      this.#replication.subscribe((event) => this.#heard(event))
      this.#options.onChange(this)
      return await this.#replication
    } catch (error) {
      if (this.#revoked.signal.aborted) throw this.#revoked.signal.reason
      throw error
    } finally {
      ends.dispose()
    }
  }

  /** The user's rights may have changed: ends the run if it exceeds them. */
  async recheck(principal: Principal | undefined): Promise<void> {
    try {
      if (principal === undefined) throw new ServiceError('UNAUTHENTICATED', 'There is no such user any more.')
      await checkAccess(this.#context, this.#spec, principal)
      this.#principal = principal
    } catch (error) {
      this.#revoked.abort(error)
    }
  }

  get waitsFor(): string | undefined {
    return this.#waitsFor
  }

  facts(): RunFacts {
    const progress = this.#replication?.progress
    const { docsRead = 0, docsWritten = 0, docsDenied = 0, changesChecked = 0 } = progress ?? {}
    return {
      revisions_checked: changesChecked,
      missing_revisions_found: docsRead,
      docs_read: docsRead,
      docs_written: docsWritten,
      doc_write_failures: docsDenied,
      changes_pending: progress?.pending ?? null,
      checkpointed_source_seq: this.#checkpointed,
      through_seq: this.#lastSequence(),
      source_seq: this.#lastSequence(),
    }
  }

  /** The last sequence. A job that has just begun has one, too: clients ask for what came since. */
  #lastSequence(): ReplicationSequence {
    return this.#replication?.parts[0]?.progress.lastSeq ?? '0'
  }

  #start(source: ReplicationSide, target: ReplicationSide, signal: AbortSignal): Replication {
    const { continuous, ids, selector, filter, parameters, since, winnersOnly, useCheckpoints } = this.#spec
    const { backOff } = this.#options
    const isView = filter === '_view'
    const { view, ...rest } = parameters ?? {}
    return this.#context.database.replicate({
      from: source,
      to: target,
      live: continuous,
      retry: true,
      create: this.#spec.createTarget,
      checkpoint: useCheckpoints ? 'both' : 'none',
      checkpointIntervalMs: this.#spec.checkpointIntervalMs,
      style: winnersOnly ? 'winner' : 'all',
      signal,
      backOff,
      ids,
      selector,
      // As in CouchDB.
      tombstones: 'selected',
      filter: isView ? undefined : filter,
      view: isView ? view : undefined,
      parameters: isView ? rest : parameters,
      ...(since !== undefined && { since }),
    })
  }

  #heard(event: ReplicationEvent): void {
    if (event.type === 'checkpoint') {
      this.#checkpointed = event.lastSeq
      this.#failures = 0
    }
    if (event.type === 'change') this.#failures = 0
    if (event.type === 'status') {
      const { status, error } = event
      if (status === 'backing-off' && ++this.#failures >= this.#options.triesMax) this.#revoked.abort(error)
      if (status === 'paused') this.#failures = 0
      // Each try begins with 'active': whether it is any better shows later.
      if (status !== 'active') this.#waitsFor = status === 'backing-off' ? error?.message : undefined
    } else if (event.type !== 'denied') this.#waitsFor = undefined
    this.#options.onChange(this)
  }
}
