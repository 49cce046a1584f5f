/** Routes of the server as a whole: `/`, `_all_dbs`, `_dbs_info`, `_active_tasks` and others. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { badRequest } from '../http/http-error.ts'
import { QueryParameters } from '../http/query-parameters.ts'
import { readJsonObject } from '../http/request-body.ts'
import { COUCHDB_VERSION, NODE_NAME, SERVER_NAME, SERVER_VERSION } from '../http/server-identity.ts'
import { sendPieces, whenClosed } from '../http/streamed-reply.ts'
import type { GuardedCollection, Principal } from '@pannier/backend'
import type { DatabaseUpdates, JsonObject } from '@pannier/backend/internal'
import { jsonLimits } from './server-context.ts'
import { contentTypeOf, feedOptions, feedPieces } from './feed-pieces.ts'
import type { FeedRow, FeedSource } from './feed-pieces.ts'
import { sequenceText } from './sequence.ts'
import type { Routes, ServerContext } from './server-context.ts'

/** `scheduler` is CouchDB's: clients ask `_scheduler` where it is. The others are for Pannier's own clients: version 2 of replica files has checksums. */
const FEATURES = ['scheduler', 'pannier-snapshot-2', 'pannier-wait', 'pannier-local']
const UUIDS_MAX = 1000
const DATABASES_PER_REQUEST_MAX = 100

export const serverRoutes: Routes = (app, context) => {
  const { gateway, tasks, metrics, closing } = context
  app.get('/', { config: { needs: 'anyone' } }, () => ({
    couchdb: 'Welcome',
    version: COUCHDB_VERSION,
    git_sha: 'pannier',
    uuid: context.uuid,
    features: FEATURES,
    vendor: { name: SERVER_NAME, version: SERVER_VERSION },
  }))
  app.get('/_up', { config: { needs: 'anyone', unlogged: true } }, async (_request, reply) => {
    if (closing.aborted) return reply.code(404).send({ status: 'maintenance_mode' })
    if (!(await context.isReady())) return reply.code(503).send({ status: 'storage_unreachable' })
    return { status: 'ok', seeds: {} }
  })
  app.get('/_uuids', { config: { needs: 'anyone' } }, (request, reply) => {
    const count = new QueryParameters(request).count('count') ?? 1
    if (count > UUIDS_MAX) throw badRequest(`count parameter too large: at most ${UUIDS_MAX}`)
    reply.header('cache-control', 'must-revalidate, no-cache').header('pragma', 'no-cache')
    return { uuids: Array.from({ length: count }, () => context.environment.randomId()) }
  })
  app.get('/_all_dbs', { config: { needs: 'server-admin' } }, async (request) =>
    pageOf(await gateway.names(request.principal), new QueryParameters(request)),
  )
  app.get('/_dbs_info', { config: { needs: 'server-admin' } }, async (request) =>
    infosOf(context, request.principal, pageOf(await gateway.names(request.principal), new QueryParameters(request))),
  )
  app.post('/_dbs_info', { config: { needs: 'server-admin' } }, async (request) => {
    const { keys } = await readJsonObject(request, jsonLimits(context))
    if (!Array.isArray(keys) || keys.length > DATABASES_PER_REQUEST_MAX)
      throw badRequest(`\`keys\` must be an array of at most ${DATABASES_PER_REQUEST_MAX} names.`)
    return infosOf(context, request.principal, keys.map(String))
  })
  app.get('/_active_tasks', { config: { needs: 'server-admin' } }, () => tasks.list())
  app.get('/_membership', { config: { needs: 'server-admin' } }, () => ({
    all_nodes: [NODE_NAME],
    cluster_nodes: [NODE_NAME],
  }))
  for (const url of ['/metrics', '/_node/_local/_prometheus', `/_node/${NODE_NAME}/_prometheus`]) {
    app.get(url, { config: { needs: 'server-admin' } }, async (_request, reply) =>
      reply.header('content-type', metrics.registry.contentType).send(await metrics.registry.metrics()),
    )
  }
  app.route({
    method: ['GET', 'POST'],
    url: '/_db_updates',
    exposeHeadRoute: false,
    config: { needs: 'server-admin' },
    handler: (request, reply) => sendUpdates(context, request, reply),
  })
}

export async function databaseInfo(context: ServerContext, principal: Principal, name: string): Promise<JsonObject> {
  const collection = await context.gateway.collection(principal, name)
  const { documents, deleted, lastSeq, epoch, storedBytes = 0 } = await collection.info()
  return {
    instance_start_time: '0',
    db_name: name,
    purge_seq: `0-${epoch ?? '0'}`,
    update_seq: sequenceText(lastSeq, epoch),
    sizes: { file: storedBytes, external: storedBytes, active: storedBytes },
    props: {},
    doc_del_count: deleted,
    doc_count: documents,
    disk_format_version: 8,
    compact_running: isCompacting(context, collection),
    cluster: { q: 1, n: 1, w: 1, r: 1 },
  }
}

function isCompacting({ tasks }: ServerContext, { name }: GuardedCollection): boolean {
  return tasks.list().some((task) => task['type'] === 'database_compaction' && task['database'] === name)
}

async function infosOf(context: ServerContext, principal: Principal, names: readonly string[]): Promise<JsonObject[]> {
  const infos: JsonObject[] = []
  for (const key of names) {
    const info = await databaseInfo(context, principal, key).catch(() => undefined)
    infos.push(info === undefined ? { key, error: 'not_found' } : { key, info })
  }
  return infos
}

function pageOf(names: readonly string[], parameters: QueryParameters): string[] {
  const from = parameters.json('startkey', 'start_key')
  const to = parameters.json('endkey', 'end_key')
  const found = names.filter(
    (name) => (typeof from !== 'string' || name >= from) && (typeof to !== 'string' || name <= to),
  )
  const skip = parameters.count('skip') ?? 0
  return (parameters.flag('descending') ? found.toReversed() : found).slice(
    skip,
    skip + (parameters.count('limit') ?? found.length),
  )
}

async function sendUpdates(context: ServerContext, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const { auth, updates, limits, feeds, schedule, closing } = context
  const parameters = new QueryParameters(request)
  const options = feedOptions(parameters, limits)
  const source = new UpdatesSource(updates, parameters.text('since'), parameters.count('limit') ?? Infinity)
  const leave = feeds.enter('updates', request)
  const revoked = new AbortController()
  const stopWatching = auth.whileAllowed(request, 'server-admin', undefined, (error) => revoked.abort(error))
  whenClosed(reply, () => {
    leave()
    stopWatching()
  })
  return sendPieces(reply, contentTypeOf(options), (gone) =>
    feedPieces(source, options, { schedule, ending: AbortSignal.any([gone, revoked.signal, closing]) }),
  )
}

class UpdatesSource implements FeedSource {
  readonly mayWait = true
  readonly #updates: DatabaseUpdates
  #since: number
  #remaining: number

  constructor(updates: DatabaseUpdates, since: string | undefined, limit: number) {
    this.#updates = updates
    const own = since?.endsWith(`-${updates.epoch}`) ? Number.parseInt(since, 10) : 0
    this.#since = since === 'now' ? updates.lastSequence : own
    this.#remaining = limit
  }

  async *rows(live: boolean, stop: AbortSignal): AsyncGenerator<FeedRow[]> {
    while (this.#remaining > 0 && !stop.aborted) {
      const found = this.#updates.since(this.#since).slice(0, this.#remaining)
      if (found.length === 0) {
        if (!live) return
        await this.#updates.next(stop)
        continue
      }
      this.#remaining -= found.length
      this.#since = found.at(-1)!.sequence
      yield found.map(({ sequence, name, type }) => {
        const seq = sequenceText(sequence, this.#updates.epoch)
        return { sequence: seq, text: JSON.stringify({ db_name: name, type, seq }) }
      })
    }
  }

  lastSequence(): string {
    return sequenceText(this.#since, this.#updates.epoch)
  }

  async pending(): Promise<number> {
    return this.#updates.since(this.#since).length
  }
}
