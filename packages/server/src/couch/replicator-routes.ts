/** `/_replicate` and `/_scheduler`. */
import type { FastifyInstance } from 'fastify'
import { isPannierError } from 'pannier'
import type { ReplicationResult } from 'pannier'
import { REPLICATOR_DATABASE } from '../auth/permissions.ts'
import { badRequest, HttpError, notFound, toHttpError } from '../http/http-error.ts'
import { QueryParameters } from '../http/query-parameters.ts'
import { readJsonObject } from '../http/request-body.ts'
import { reasonOf } from '../replicator/job.ts'
import { checkAccess } from '../replicator/open-endpoints.ts'
import { idOf, readSpec } from '../replicator/replication-spec.ts'
import type { ReplicatorContext } from '../replicator/replicator-context.ts'
import type { Replicator } from '../replicator/replicator.ts'
import type { Principal } from '@pannier/backend'
import type { JsonObject } from '@pannier/backend/internal'
import { jsonLimits } from './server-context.ts'
import type { ServerContext } from './server-context.ts'

const PAGE_DEFAULT = 100
/** CouchDB's version of the form of replication checkpoints and answers. */
const REPLICATION_ID_VERSION = 4

export function replicatorRoutes(
  app: FastifyInstance,
  context: ServerContext & ReplicatorContext,
  replicator: Replicator,
): void {
  app.post('/_replicate', { config: { needs: 'user' } }, async (request, reply) => {
    const body = await readJsonObject(request, jsonLimits(context))
    const { principal } = request
    if (body['cancel'] === true) return cancel(replicator, body, principal)
    const spec = readSpec(body)
    await checkAccess(context, spec, principal)
    const job = replicator.start(spec, principal)
    const { id } = job.options
    if (spec.continuous) return reply.code(202).send({ ok: true, _local_id: id })
    try {
      return { ...answerOf(await job.done, context.environment.randomId()), _local_id: id }
    } catch (error) {
      throw failureOf(error)
    }
  })
  schedulerRoutes(app, replicator)
}

async function cancel(replicator: Replicator, body: JsonObject, principal: Principal): Promise<JsonObject> {
  const { replication_id: given, _local_id: local = given } = body
  const id = typeof local === 'string' ? local : idOf(readSpec(body), principal.name)
  const job = replicator.find(id, principal)
  if (job === undefined) throw notFound('unknown replication')
  await job.stop()
  return { ok: true, _local_id: id }
}

function answerOf(result: ReplicationResult, session: string): JsonObject {
  const { docsRead, docsWritten, docsDenied, changesChecked, lastSeq, startTime, endTime } = result
  return {
    ok: true,
    ...(docsRead === 0 && changesChecked === 0 && { no_changes: true }),
    session_id: session,
    source_last_seq: result.parts[0]?.progress.lastSeq ?? lastSeq ?? 0,
    replication_id_version: REPLICATION_ID_VERSION,
    history: [
      {
        session_id: session,
        start_time: new Date(startTime).toUTCString(),
        end_time: new Date(endTime).toUTCString(),
        recorded_seq: result.parts[0]?.progress.lastSeq ?? lastSeq ?? 0,
        end_last_seq: result.parts[0]?.progress.lastSeq ?? lastSeq ?? 0,
        missing_checked: changesChecked,
        missing_found: docsRead,
        docs_read: docsRead,
        docs_written: docsWritten,
        doc_write_failures: docsDenied,
      },
    ],
  }
}

/** CouchDB answers 500 for every error of the other peer. An access refused here has its usual status. */
function failureOf(error: unknown): unknown {
  if (isPannierError(error, 'PANNIER_ABORTED') || isAbort(error))
    return new HttpError(503, 'service_unavailable', 'The replication was ended.')
  const known = error instanceof HttpError ? error : toHttpError(error)
  if (known?.status === 404) return new HttpError(404, 'db_not_found', reasonOf(error))
  if (error instanceof HttpError) return error
  return new HttpError(500, 'replication_failed', reasonOf(error))
}

function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError'
}

function schedulerRoutes(app: FastifyInstance, replicator: Replicator): void {
  const config = { needs: 'user' } as const
  app.get('/_scheduler/jobs', { config }, (request) => {
    const page = pageOf(replicator.describeJobs(request.principal), new QueryParameters(request))
    return { total_rows: page.total, offset: page.offset, jobs: page.rows }
  })
  app.get<{ Params: { id: string } }>('/_scheduler/jobs/:id', { config }, ({ principal, params }) => {
    const found = replicator.describeJobs(principal).find(({ id }) => id === params.id)
    if (found === undefined) throw notFound('missing')
    return found
  })
  for (const url of ['/_scheduler/docs', `/_scheduler/docs/${REPLICATOR_DATABASE}`]) {
    app.get(url, { config }, (request) => {
      const parameters = new QueryParameters(request)
      const states = parameters.text('states')?.split(',')
      const documents = replicator
        .describeDocuments(request.principal)
        .filter(({ state }) => states === undefined || states.includes(String(state)))
      const page = pageOf(documents, parameters)
      return { total_rows: page.total, offset: page.offset, docs: page.rows }
    })
  }
  app.get<{ Params: { '*': string } }>(
    `/_scheduler/docs/${REPLICATOR_DATABASE}/*`,
    { config },
    ({ principal, params }) => {
      const found = replicator.describeDocuments(principal).find(({ doc_id }) => doc_id === params['*'])
      if (found === undefined) throw notFound('missing')
      return found
    },
  )
}

function pageOf(
  rows: readonly JsonObject[],
  parameters: QueryParameters,
): { readonly rows: readonly JsonObject[]; readonly total: number; readonly offset: number } {
  const limit = parameters.count('limit') ?? PAGE_DEFAULT
  const offset = parameters.count('skip') ?? 0
  if (limit > 10_000) throw badRequest('`limit` is at most 10000.')
  return { rows: rows.slice(offset, offset + limit), total: rows.length, offset }
}
