/** All replications of a server: those of `_replicate`, and those of the `_replicator` database. */
import type { FastifyBaseLogger } from 'fastify'
import { USERS_DATABASE } from '../auth/permissions.ts'
import { GUEST, ServiceError } from '@pannier/backend'
import type { Principal } from '@pannier/backend'
import { STATE_COLLECTION } from '@pannier/backend/internal'
import type { JsonObject } from '@pannier/backend/internal'
import { AddressRules } from '../outgoing/address-rules.ts'
import { guardedFetch } from '../outgoing/guarded-fetch.ts'
import type { GuardedFetch } from '../outgoing/guarded-fetch.ts'
import { Job } from './job.ts'
import type { JobHost } from './job.ts'
import { idOf } from './replication-spec.ts'
import type { ReplicationSpec } from './replication-spec.ts'
import type { ReplicatorContext } from './replicator-context.ts'
import { ReplicatorDatabase } from './replicator-database.ts'
import type { ReplicatorOptions } from './replicator-options.ts'
import { RunQueue } from './run-queue.ts'

const RUNNING_MAX = 500
const RUN_MS_MAX = 60_000
/** Jobs of a user who is not a server admin. */
const JOBS_PER_USER_MAX = 20
const RETRY_MS_MIN = 5000
const RETRY_MS_MAX = 3_600_000
/** Ids in the server's state that concern permissions. */
const PERMISSIONS = /^(?:auth|security)\//

export class Replicator {
  readonly documents: ReplicatorDatabase
  readonly #host: JobHost
  readonly #fetch: GuardedFetch
  /** Running jobs of `_replicate`, by id. */
  readonly #transient = new Map<string, Job>()
  readonly #stopListening: () => void
  #closed: Promise<void> | undefined

  /** @throws TypeError for malformed hosts */
  constructor(context: ReplicatorContext, log: FastifyBaseLogger, options: ReplicatorOptions = {}) {
    const { hosts, runningMax = RUNNING_MAX, runMsMax = RUN_MS_MAX, backOff } = options
    const { retryMsMin = RETRY_MS_MIN, retryMsMax = RETRY_MS_MAX } = options
    this.#fetch = guardedFetch(new AddressRules(hosts), { resolve: options.resolve })
    const runQueue = new RunQueue(context.environment, runningMax, runMsMax)
    this.#host = { context, log, runQueue, fetch: this.#fetch.fetch, retryMsMin, retryMsMax, backOff }
    this.documents = new ReplicatorDatabase(this.#host)
    const users = `$${USERS_DATABASE}`
    this.#stopListening = context.database.subscribe(({ collections }) => {
      const ids = collections.get(STATE_COLLECTION)?.ids ?? []
      if (collections.has(users) || ids.some((id) => PERMISSIONS.test(id))) void this.#recheck()
    })
    // A request that waits for one must not keep the server from closing.
    context.closing.addEventListener('abort', () => void this.close(), { once: true })
  }

  get jobs(): Job[] {
    return [...this.#transient.values(), ...this.documents.jobs].filter(({ isOver }) => !isOver)
  }

  /** Starts a job, or returns the same job that runs already. @throws ServiceError TOO_MANY_REQUESTS */
  start(spec: ReplicationSpec, principal: Principal): Job {
    const id = idOf(spec, principal.name)
    const running = this.#transient.get(id)
    if (running !== undefined) return running
    const own = [...this.#transient.values()].filter(({ options }) => options.owner === principal.name)
    if (!principal.isAdmin && own.length >= JOBS_PER_USER_MAX)
      throw new ServiceError('TOO_MANY_REQUESTS', `At most ${JOBS_PER_USER_MAX} replications of a user run at a time.`)
    const { auth } = this.#host.context
    const current = async (): Promise<Principal> =>
      (principal.name === null ? undefined : await auth.delegated(principal.name)) ?? GUEST
    const job = new Job(this.#host, {
      id,
      spec,
      documentId: undefined,
      owner: principal.name,
      principal: current,
      persistent: spec.continuous,
    })
    this.#transient.set(id, job)
    const forget = (): void => {
      if (this.#transient.get(id) === job) this.#transient.delete(id)
    }
    job.done.then(forget, forget)
    return job
  }

  /** A replication of `_replicate`; undefined if the user may see none with this id. */
  find(id: string, principal: Principal): Job | undefined {
    const job = this.#transient.get(id)
    return job !== undefined && maySee(principal, job.options.owner) ? job : undefined
  }

  /** For `_scheduler/jobs`. */
  describeJobs(principal: Principal): JsonObject[] {
    return this.jobs.filter(({ options }) => maySee(principal, options.owner)).map((job) => job.describeJob())
  }

  /** For `_scheduler/docs`. */
  describeDocuments(principal: Principal): JsonObject[] {
    return this.documents
      .list()
      .filter(({ owner }) => maySee(principal, owner))
      .map(({ description }) => description)
  }

  /** Ends all, with their last replication checkpoints. */
  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    this.#stopListening()
    await Promise.all([this.documents.close(), ...[...this.#transient.values()].map((job) => job.stop())])
    await this.#fetch.close()
  }

  async #recheck(): Promise<void> {
    await Promise.all(this.jobs.map((job) => job.recheck()))
  }
}

function maySee({ name, isAdmin }: Principal, owner: string | null): boolean {
  return isAdmin || (owner !== null && owner === name)
}
