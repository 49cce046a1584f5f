/** Views: `/{db}/_design/{ddoc}/_view/{view}`. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isObject, toCouchDocument } from 'pannier/internal'
import { servedView } from '../design/design-documents.ts'
import type { Design, FoundView } from '../design/design-documents.ts'
import { asBadRequest, badRequest, HttpError } from '../http/http-error.ts'
import { QueryParameters } from '../http/query-parameters.ts'
import { readJsonObject } from '../http/request-body.ts'
import { sendJoined } from '../http/streamed-reply.ts'
import type { JsonObject } from '@pannier/backend/internal'
import type { GuardedCollection } from '@pannier/backend'
import { rowWithContent, stubsOf } from './attachment-content.ts'
import { jsonLimits } from './server-context.ts'
import { sequenceText } from './sequence.ts'
import type { Routes, ServerContext } from './server-context.ts'
import { viewRead } from './view-options.ts'
import type { ViewRead } from './view-options.ts'

interface ViewRoute {
  Params: { readonly db: string; readonly ddoc: string; readonly view: string }
}
interface DesignRoute {
  Params: { readonly db: string; readonly ddoc: string }
}

type Row = JsonObject & { readonly doc?: JsonObject | null }

const CONFIG = { config: { needs: 'member' } } as const
const QUERIES_MAX = 100
const VIEW = '/:db/_design/:ddoc/_view/:view'
const QUERY_ERROR = 'query_parse_error'

/** Paths below a design document that CouchDB has and this server has not. */
const NOT_OFFERED = ['_show', '_list', '_update', '_rewrite']

export const viewRoutes: Routes = (app, context) => {
  for (const name of NOT_OFFERED)
    for (const rest of ['', '/*'])
      app.route<DesignRoute>({
        method: ['GET', 'POST', 'PUT', 'DELETE'],
        url: `/:db/_design/:ddoc/${name}${rest}`,
        ...CONFIG,
        handler: async ({ principal, params }) => {
          await context.gateway.collection(principal, params.db)
          throw new HttpError(501, 'not_implemented', `This server does not offer ${name}. Ask a view or the document.`)
        },
      })
  const find = async ({ principal, params }: FastifyRequest<ViewRoute>): Promise<FoundView> => {
    const collection = await context.gateway.collection(principal, params.db)
    return context.designs.view(collection, params.ddoc, params.view)
  }
  app.get<ViewRoute>(VIEW, CONFIG, async (request, reply) => {
    const found = await find(request)
    return sendRows(reply, found, viewRead(new QueryParameters(request), found.definition))
  })
  app.post<ViewRoute>(VIEW, CONFIG, async (request, reply) => {
    const found = await find(request)
    const body = await readJsonObject(request, jsonLimits(context))
    // Queries may stand here as well.
    if (body['queries'] !== undefined) return sendQueries(request, reply, found, body)
    return sendRows(reply, found, viewRead(new QueryParameters(request, body), found.definition))
  })
  app.post<ViewRoute>(`${VIEW}/queries`, CONFIG, async (request, reply) => {
    const found = await find(request)
    return sendQueries(request, reply, found, await readJsonObject(request, jsonLimits(context)))
  })
  app.get<DesignRoute>('/:db/_design/:ddoc/_info', CONFIG, async ({ principal, params }) => {
    const collection = await context.gateway.collection(principal, params.db)
    return designInfo(context, collection, await context.designs.get(collection, params.ddoc))
  })
  app.post('/:db/_temp_view', CONFIG, () => {
    throw new HttpError(410, 'gone', 'Temporary views are not supported: store a design document.')
  })
}

function sendRows(reply: FastifyReply, found: FoundView, read: ViewRead): Promise<unknown> {
  return sendJoined(reply, (gone) => rowPieces(found, read, gone))
}

function sendQueries(
  request: FastifyRequest,
  reply: FastifyReply,
  found: FoundView,
  { queries }: JsonObject,
): Promise<unknown> {
  if (!Array.isArray(queries) || queries.length > QUERIES_MAX)
    throw badRequest(`\`queries\` must be an array of at most ${QUERIES_MAX}.`)
  const reads = queries.map((query) => {
    if (!isObject(query)) throw badRequest('A query must be a JSON object.')
    return viewRead(new QueryParameters(request, query), found.definition)
  })
  async function* pieces(gone: AbortSignal): AsyncGenerator<string> {
    yield '{"results":['
    for (const [at, read] of reads.entries()) {
      if (at > 0) yield ','
      yield* rowPieces(found, read, gone)
    }
    yield ']}\n'
  }
  return sendJoined(reply, pieces)
}

/** Reads the totals first. The rows are of the same state of the view, or of a later one. */
async function* rowPieces(
  { collection, view }: FoundView,
  { options, updateSequence, sorted, attachments }: ViewRead,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const head = await asBadRequest(() => view.query({ ...options, limit: 0, signal }), QUERY_ERROR)
  const start: JsonObject = {
    ...(sorted && head.total !== undefined && { total_rows: head.total, offset: head.offset }),
    ...(updateSequence && { update_seq: sequenceText(head.updateSeq, await collection.epoch()) }),
  }
  const members = JSON.stringify(start).slice(0, -1)
  yield `${members}${members === '{' ? '' : ','}"rows":[\n`
  let separator = ''
  const { update = 'never' } = options
  const rows = view.rows({ ...options, update: update === 'before' ? 'never' : update, signal })
  for await (const found of rows as unknown as AsyncIterable<Row>) {
    const row = found.doc ? { ...found, doc: toCouchDocument(found.doc) } : found
    yield separator
    if (attachments && row.doc && stubsOf(row.doc) !== undefined) yield* rowWithContent(collection, row)
    else yield JSON.stringify(row)
    separator = ',\n'
  }
  yield '\n]}\n'
}

async function designInfo(
  { uuid }: ServerContext,
  collection: GuardedCollection,
  { id, rev, document, functions }: Design,
): Promise<JsonObject> {
  const views = Array.from(functions.views, ([name, view]) => servedView(collection, id, name, view))
  const infos = await Promise.all(views.map((view) => view.info()))
  const updateSequence = infos.length === 0 ? 0 : Math.min(...infos.map(({ updateSeq }) => updateSeq))
  const pending = Math.max(0, ...infos.map((info) => info.pending))
  return {
    name: id.slice('_design/'.length),
    view_index: {
      signature: rev.slice(rev.indexOf('-') + 1),
      language: document['language'] ?? 'javascript',
      sizes: { file: 0, external: 0, active: 0 },
      updates_pending: { minimum: pending, preferred: pending, total: pending },
      update_seq: sequenceText(updateSequence, await collection.epoch()),
      purge_seq: 0,
      updater_running: false,
      compact_running: false,
      waiting_commit: false,
      waiting_clients: 0,
      collator_versions: [],
      uuid,
    },
  }
}
