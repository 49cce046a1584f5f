/** `/{db}/_changes`. */
import { isObject } from 'pannier/internal'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { DatabaseRoute } from '../http/declarations.ts'
import { asBadRequest, badRequest, HttpError } from '../http/http-error.ts'
import { pathOf } from '../http/logging.ts'
import { QueryParameters } from '../http/query-parameters.ts'
import { readJson } from '../http/request-body.ts'
import { sendPieces, whenClosed } from '../http/streamed-reply.ts'
import type { ChangeFilter, JsonObject } from '@pannier/backend/internal'
import type { GuardedCollection } from '@pannier/backend'
import { jsonLimits } from './server-context.ts'
import { ChangesSource } from './changes-source.ts'
import type { ChangesRequest } from './changes-source.ts'
import { contentTypeOf, feedOptions, feedPieces } from './feed-pieces.ts'
import type { FeedOptions } from './feed-pieces.ts'
import { checkSelector } from './mango/selector-errors.ts'
import { resolveSince } from './sequence.ts'
import type { Routes, ServerContext } from './server-context.ts'

export const changesRoutes: Routes = (app, context) => {
  app.route<DatabaseRoute>({
    method: ['GET', 'POST'],
    url: '/:db/_changes',
    exposeHeadRoute: false,
    config: { needs: 'member' },
    handler: (request, reply) => sendChanges(context, request.params.db, request, reply),
  })
}

async function sendChanges(
  context: ServerContext,
  database: string,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const { limits, feeds } = context
  const collection = await context.gateway.collection(request.principal, database)
  const body = request.method === 'POST' ? ((await readJson(request, jsonLimits(context))) ?? {}) : {}
  if (!isObject(body)) throw badRequest('Request body must be a JSON object')
  const parameters = new QueryParameters(request)
  const options = feedOptions(parameters, limits)
  const filter = await foreignFilter(context, database, collection, request, parameters)
  const leave = feeds.enter(options.form, request)
  const revoked = new AbortController()
  const stopWatching = context.auth.whileAllowed(request, 'member', database, (error) => revoked.abort(error))
  const done = (): void => {
    leave()
    stopWatching()
    filter?.dispose()
  }
  try {
    const wanted = await changesRequest(collection, request, parameters, body, filter, options)
    const source = await asBadRequest(() => new ChangesSource(collection, wanted))
    whenClosed(reply, done)
    return await sendPieces(
      reply,
      contentTypeOf(options),
      (gone) =>
        feedPieces(source, options, {
          schedule: context.schedule,
          ending: AbortSignal.any([gone, revoked.signal, context.closing]),
        }),
      { gather: options.form === 'normal' },
    )
  } catch (error) {
    done()
    throw error
  }
}

async function changesRequest(
  collection: GuardedCollection,
  request: FastifyRequest,
  parameters: QueryParameters,
  body: JsonObject,
  filter: ChangeFilter | undefined,
  { form }: FeedOptions,
): Promise<ChangesRequest> {
  const style = parameters.text('style') ?? 'main_only'
  if (style !== 'main_only' && style !== 'all_docs') throw badRequest(`Unknown style: ${style.slice(0, 40)}`)
  const lastEventId = request.headers['last-event-id']
  const since = (typeof lastEventId === 'string' ? lastEventId : undefined) ?? parameters.text('last-event-id')
  const descending = parameters.flag('descending')
  if (descending && form !== 'normal' && form !== 'longpoll')
    throw badRequest('A feed that goes on cannot be descending.')
  return {
    ...(await resolveSince(collection, since ?? parameters.text('since'))),
    limit: parameters.count('limit') ?? Infinity,
    descending,
    style: style === 'all_docs' ? 'all' : 'winner',
    includeDocs: parameters.flag('include_docs'),
    conflicts: parameters.flag('conflicts'),
    attachments: parameters.flag('attachments'),
    sequenceInterval: Math.max(1, parameters.count('seq_interval') ?? 1),
    filter,
    ...ownFilter(parameters, body),
  }
}

/** The filters that need no function. */
function ownFilter(parameters: QueryParameters, body: JsonObject): Pick<ChangesRequest, 'ids' | 'selector' | 'accept'> {
  const none = { ids: undefined, selector: undefined, accept: undefined }
  switch (parameters.text('filter')) {
    case '_doc_ids': {
      const ids = body['doc_ids'] ?? parameters.texts('doc_ids')
      if (!Array.isArray(ids) || ids.some((id) => typeof id !== 'string'))
        throw badRequest('`doc_ids` must be an array of strings.')
      return { ...none, ids: ids as string[] }
    }
    case '_selector': {
      const { selector } = body
      if (!isObject(selector)) throw badRequest('Selector error: expected a JSON object')
      checkSelector(selector)
      return { ...none, selector }
    }
    case '_design':
      return { ...none, accept: ({ _id }) => _id.startsWith('_design/') }
    default:
      return none
  }
}

const OWN_FILTERS: ReadonlySet<string | undefined> = new Set([undefined, '', '_doc_ids', '_selector', '_design'])

async function foreignFilter(
  context: ServerContext,
  database: string,
  collection: GuardedCollection,
  request: FastifyRequest,
  parameters: QueryParameters,
): Promise<ChangeFilter | undefined> {
  // CouchDB's own replicator and PouchDB name a view alone at times.
  const view = parameters.text('view')
  const filter = parameters.text('filter') ?? (view === undefined ? undefined : '_view')
  if (OWN_FILTERS.has(filter)) return undefined
  if (filter === '_view' && view === undefined) throw badRequest('`view` filter parameter is not provided.')
  if (filter !== '_view' && !filter!.includes('/'))
    throw new HttpError(400, 'bad_request', '`filter` must be of the form `designname/filtername`')
  const { principal, method, url, query, headers } = request
  const path = pathOf(url).split('/').slice(1)
  const reader = { method, path, query: query as Record<string, unknown>, headers: textsIn(headers) }
  return context.filterSource({ principal, database, collection, reader, filter: filter!, view })
}

function textsIn(headers: FastifyRequest['headers']): Record<string, string> {
  const texts = Object.entries(headers).filter((entry): entry is [string, string] => typeof entry[1] === 'string')
  return Object.fromEntries(texts)
}
