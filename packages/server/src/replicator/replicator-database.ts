/**
 * Follows the `_replicator` database. Each document is a replication that runs until the document is changed or
 * deleted. The leader of a fleet runs them. State is not written into documents. The server's state records which replications are complete, so that a
 * restart does not repeat them.
 */
import { isObject } from 'pannier/internal'
import type { FastifyBaseLogger } from 'fastify'
import { principalOf, REPLICATOR_DATABASE } from '../auth/permissions.ts'
import { NODE_NAME } from '../http/server-identity.ts'
import { GUEST, ServiceError } from '@pannier/backend'
import type { Principal } from '@pannier/backend'
import type { JsonObject } from '@pannier/backend/internal'
import { Job, reasonOf, timestamp } from './job.ts'
import type { JobHost } from './job.ts'
import { idOf, readSpec } from './replication-spec.ts'
import type { ReplicatorContext } from './replicator-context.ts'

/** A document that is no replication, or one that is complete since before this start. */
interface Settled {
  readonly documentId: string
  readonly owner: string | null
  readonly description: JsonObject
}

type Stored = JsonObject & { readonly _rev: string }

interface KnownReplication {
  readonly revision: string
  readonly content: string
  readonly job: Job | undefined
  readonly settled: Settled | undefined
}

const STATE_PREFIX = 'replicator/'
const COLLECTION = `$${REPLICATOR_DATABASE}`

export class ReplicatorDatabase {
  readonly #context: ReplicatorContext
  readonly #host: JobHost
  readonly #log: FastifyBaseLogger
  readonly #entries = new Map<string, KnownReplication>()
  #since = 0
  #epoch: string | undefined
  #isClosed = false
  #following: Promise<void> = Promise.resolve()
  readonly #stopListening: readonly (() => void)[]

  constructor(host: JobHost) {
    this.#context = host.context
    this.#host = host
    this.#log = host.log
    this.#stopListening = [
      this.#context.database.subscribe(({ collections }) => {
        if (collections.has(COLLECTION)) void this.follow()
      }),
      this.#context.fleet.subscribeLeads(() => void this.follow()),
    ]
  }

  get jobs(): Job[] {
    return [...this.#entries.values()].flatMap(({ job }) => job ?? [])
  }

  /** Rows of `_scheduler/docs`, sorted by id, each with its owner. */
  list(): Settled[] {
    const listed = [...this.#entries].map(([documentId, { job, settled }]) =>
      job === undefined ? settled! : { documentId, owner: job.options.owner, description: job.describeDocument() },
    )
    return listed.sort((left, right) => (left.documentId < right.documentId ? -1 : 1))
  }

  /** Resolves when everything that is in the database now has been looked at. */
  follow(): Promise<void> {
    this.#following = this.#following
      .then(() => (this.#isClosed ? undefined : this.#read()))
      .catch((error: unknown) => {
        if (!this.#isClosed) this.#log.error({ err: error }, 'the database _replicator could not be read')
      })
    return this.#following
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const stop of this.#stopListening) stop()
    await Promise.all([this.#following, ...this.jobs.map((job) => job.stop())])
  }

  async #read(): Promise<void> {
    if (!this.#context.fleet.leads) return this.#pass()
    const isThere = await this.#context.databases.has(REPLICATOR_DATABASE)
    const collection = isThere ? await this.#context.databases.get(REPLICATOR_DATABASE) : undefined
    const { epoch } = (await collection?.info()) ?? {}
    if (epoch !== this.#epoch) {
      for (const id of this.#entries.keys()) await this.#remove(id)
      this.#since = 0
      this.#epoch = epoch
    }
    while (collection !== undefined && !this.#isClosed) {
      const { changes, lastSeq, pending } = await collection
        .changes({ since: this.#since, docs: true, limit: 200 })
        .page()
      for (const { id, deleted, doc } of changes) {
        if (id.startsWith('_design/')) continue
        if (deleted === true) await this.#remove(id)
        else if (doc !== undefined) await this.#take(id, doc as Stored)
      }
      this.#since = lastSeq
      if (pending === 0) return
    }
  }

  /** To the server that leads now. */
  async #pass(): Promise<void> {
    const { jobs } = this
    this.#entries.clear()
    this.#since = 0
    await Promise.all(jobs.map((job) => job.stop()))
  }

  async #remove(id: string): Promise<void> {
    const entry = this.#entries.get(id)
    this.#entries.delete(id)
    await entry?.job?.stop()
    await this.#context.state.delete(STATE_PREFIX + id)
  }

  async #take(id: string, { _rev: revision, _id, ...fields }: Stored): Promise<void> {
    const content = JSON.stringify(fields)
    const known = this.#entries.get(id)
    if (known?.content === content) return
    await known?.job?.stop()
    const owner = typeof fields['owner'] === 'string' ? fields['owner'] : null
    const finished = await this.#context.state.get(STATE_PREFIX + id)
    if (finished?.['revision'] === revision && isObject(finished['description'])) {
      const settled = { documentId: id, owner, description: finished['description'] }
      this.#entries.set(id, { revision, content, job: undefined, settled })
      return
    }
    try {
      this.#start(id, revision, content, fields, owner)
    } catch (error) {
      const settled = { documentId: id, owner, description: failed(id, error, timestamp(this.#context.environment)) }
      this.#entries.set(id, { revision, content, job: undefined, settled })
      this.#log.warn({ document: id, reason: reasonOf(error) }, 'a document of _replicator is no replication')
    }
  }

  #start(id: string, revision: string, content: string, fields: JsonObject, owner: string | null): void {
    const spec = readSpec(fields)
    const principal = (): Promise<Principal> => this.#principalOf(owner, fields['user_ctx'])
    const options = { id: idOf(spec, owner), spec, documentId: id, owner, principal, persistent: true }
    const job = new Job(this.#host, options)
    this.#entries.set(id, { revision, content, job, settled: undefined })
    job.done.then(
      () => this.#completed(id, revision, job),
      () => {},
    )
  }

  async #completed(id: string, revision: string, job: Job): Promise<void> {
    try {
      if (this.#entries.get(id)?.job !== job || this.#isClosed) return
      await this.#context.state.set(STATE_PREFIX + id, { revision, description: job.describeDocument() })
    } catch (error) {
      this.#log.error({ err: error }, 'that a replication is complete could not be recorded')
    }
  }

  /** The rights of a replication: the owner's current ones. A server admin's document may name others. */
  async #principalOf(owner: string | null, context: unknown): Promise<Principal> {
    if (owner === null) return GUEST
    const principal = await this.#context.auth.delegated(owner)
    if (principal === undefined) throw new ServiceError('UNAUTHENTICATED', 'The owner of the replication is no user.')
    if (!principal.isAdmin || !isObject(context)) return principal
    const name = (context['name'] ?? null) as string | null
    return principalOf({ name, roles: (context['roles'] ?? []) as string[] }, 'delegation')
  }
}

function failed(id: string, error: unknown, now: string): JsonObject {
  return {
    database: REPLICATOR_DATABASE,
    doc_id: id,
    id: null,
    node: NODE_NAME,
    source: null,
    target: null,
    state: 'failed',
    info: { error: reasonOf(error) },
    error_count: 1,
    start_time: now,
    last_updated: now,
  }
}
