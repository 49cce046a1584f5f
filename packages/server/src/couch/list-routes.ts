/** Lists of documents by id: `_all_docs`, `_design_docs`, `_local_docs`. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isObject, toCouchDocument } from 'pannier/internal'
import type { ListOptions, ListRow } from 'pannier/types'
import type { DatabaseRoute } from '../http/declarations.ts'
import { badRequest, HttpError } from '../http/http-error.ts'
import { QueryParameters } from '../http/query-parameters.ts'
import { readJsonObject } from '../http/request-body.ts'
import { sendJoined } from '../http/streamed-reply.ts'
import type { JsonObject } from '@pannier/backend/internal'
import type { GuardedCollection } from '@pannier/backend'
import { rowWithContent, stubsOf } from './attachment-content.ts'
import { jsonLimits } from './server-context.ts'
import { sequenceText } from './sequence.ts'
import type { Routes, ServerContext } from './server-context.ts'

/** Bounds in the order of ids. */
type IdBounds = Pick<ListOptions, 'gte' | 'gt' | 'lte' | 'lt'>
type Row = ListRow<{ _id: string; _rev: string } & JsonObject>

interface ListRead {
  readonly keys: readonly string[] | undefined
  readonly bounds: IdBounds
  readonly descending: boolean
  readonly skip: number
  readonly limit: number
  readonly includeDocs: boolean
  readonly conflicts: boolean
  readonly attachments: boolean
  readonly updateSequence: boolean
}

const QUERIES_MAX = 100
const DESIGN: IdBounds = { gte: '_design/', lt: '_design0' }
const NOTHING: IdBounds = { gte: 'a', lt: 'a' }

export const listRoutes: Routes = (app, context) => {
  const lists = [
    { url: '/:db/_all_docs', within: {} },
    { url: '/:db/_design_docs', within: DESIGN },
  ]
  for (const { url, within } of lists) {
    app.get<DatabaseRoute>(url, { config: { needs: 'member' } }, async (request, reply) => {
      const collection = await context.gateway.collection(request.principal, request.params.db)
      return sendList(reply, collection, listRead(new QueryParameters(request), within))
    })
    app.post<DatabaseRoute>(url, { config: { needs: 'member' } }, async (request, reply) =>
      postList(context, request, reply, within),
    )
    app.post<DatabaseRoute>(`${url}/queries`, { config: { needs: 'member' } }, async (request, reply) =>
      postQueries(context, request, reply, within),
    )
  }
  app.get<DatabaseRoute>('/:db/_local_docs', { config: { needs: 'member' } }, async (request) => {
    const collection = await context.gateway.collection(request.principal, request.params.db)
    return localList(collection, listRead(new QueryParameters(request), {}))
  })
  app.post<DatabaseRoute>('/:db/_local_docs', { config: { needs: 'member' } }, async (request) => {
    const collection = await context.gateway.collection(request.principal, request.params.db)
    const body = await readJsonObject(request, jsonLimits(context))
    return localList(collection, listRead(new QueryParameters(request, body), {}))
  })
}

async function postList(
  context: ServerContext,
  request: FastifyRequest<DatabaseRoute>,
  reply: FastifyReply,
  within: IdBounds,
): Promise<unknown> {
  const collection = await context.gateway.collection(request.principal, request.params.db)
  const body = await readJsonObject(request, jsonLimits(context))
  return sendList(reply, collection, listRead(new QueryParameters(request, body), within))
}

async function postQueries(
  context: ServerContext,
  request: FastifyRequest<DatabaseRoute>,
  reply: FastifyReply,
  within: IdBounds,
): Promise<unknown> {
  const collection = await context.gateway.collection(request.principal, request.params.db)
  const { queries } = await readJsonObject(request, jsonLimits(context))
  if (!Array.isArray(queries) || queries.length > QUERIES_MAX)
    throw badRequest(`\`queries\` must be an array of at most ${QUERIES_MAX}.`)
  const reads = queries.map((query) => {
    if (!isObject(query)) throw badRequest('A query must be a JSON object.')
    return listRead(new QueryParameters(request, query), within)
  })
  return sendJoined(reply, () => several(reads.map((read) => listPieces(collection, read))))
}

async function* several(lists: readonly AsyncIterable<string>[]): AsyncGenerator<string> {
  yield '{"results":['
  for (const [at, list] of lists.entries()) {
    if (at > 0) yield ','
    yield* list
  }
  yield ']}\n'
}

function sendList(reply: FastifyReply, collection: GuardedCollection, read: ListRead): Promise<unknown> {
  return sendJoined(reply, () => listPieces(collection, read))
}

async function* listPieces(collection: GuardedCollection, read: ListRead): AsyncGenerator<string> {
  const { keys, bounds, descending, skip, limit, includeDocs, conflicts, updateSequence } = read
  const range = { descending, skip, docs: includeDocs, conflicts, ...(keys === undefined ? bounds : { ids: keys }) }
  const head = await collection.list({ ...range, limit: 0 } as ListOptions).page()
  const sequence = updateSequence && { update_seq: sequenceText(head.seq, (await collection.info()).epoch) }
  const start = { total_rows: head.total, offset: head.offset ?? null, ...sequence }
  yield `${JSON.stringify(start).slice(0, -1)},"rows":[\n`
  let separator = ''
  const rows = collection.list({ ...range, ...(limit !== Infinity && { limit }) } as ListOptions)
  for await (const row of rows as AsyncIterable<Row>) {
    yield separator
    yield* wireRow(collection, row, read)
    separator = ',\n'
  }
  yield '\n]}\n'
}

function wireRow(
  collection: GuardedCollection,
  row: Row,
  { includeDocs, attachments }: ListRead,
): AsyncIterable<string> | string[] {
  if ('error' in row) return [JSON.stringify({ key: row.id, error: row.error })]
  const { id, rev } = row
  if ('deleted' in row)
    return [JSON.stringify({ id, key: id, value: { rev, deleted: true }, ...(includeDocs && { doc: null }) })]
  const doc = row.doc && toCouchDocument(row.doc)
  const whole = { id, key: id, value: { rev }, ...(doc !== undefined && { doc }) }
  const hasContent = attachments && doc !== undefined && stubsOf(doc) !== undefined
  return hasContent ? rowWithContent(collection, whole) : [JSON.stringify(whole)]
}

async function localList(
  collection: GuardedCollection,
  { keys, bounds, descending, skip, limit, includeDocs }: ListRead,
): Promise<JsonObject> {
  const all = await collection.listLocal()
  const row = (doc: JsonObject): JsonObject => {
    const { _id: id, _rev: rev } = doc
    return { id, key: id, value: { rev }, ...(includeDocs && { doc }) }
  }
  if (keys !== undefined) {
    const found = new Map(all.map((doc) => [doc._id, doc]))
    const ordered = descending ? keys.toReversed() : keys
    const rows = ordered.map((key) => (found.has(key) ? row(found.get(key)!) : { key, error: 'not_found' }))
    return { total_rows: null, offset: null, rows: rows.slice(skip, skip + limit) }
  }
  const found = all.filter(({ _id }) => isWithin(_id, bounds))
  const rows = (descending ? found.toReversed() : found).slice(skip, skip + limit).map(row)
  return { total_rows: null, offset: null, rows }
}

function isWithin(id: string, { gte, gt, lte, lt }: IdBounds): boolean {
  if ((gte !== undefined && id < gte) || (gt !== undefined && id <= gt)) return false
  return (lte === undefined || id <= lte) && (lt === undefined || id < lt)
}

function listRead(parameters: QueryParameters, within: IdBounds): ListRead {
  const descending = parameters.flag('descending')
  const key = parameters.json('key')
  const keys = parameters.json('keys')
  if (keys !== undefined && !Array.isArray(keys)) throw badRequest('`keys` body member must be an array.')
  checkTogether(parameters, keys)
  return {
    // A key that is no id finds nothing.
    keys: keys?.map((one: unknown) => (typeof one === 'string' ? one : JSON.stringify(one))),
    bounds:
      key === undefined
        ? idBounds(parameters, descending, within)
        : typeof key === 'string'
          ? keyBounds(key, within)
          : NOTHING,
    descending,
    skip: parameters.count('skip') ?? 0,
    limit: parameters.count('limit') ?? Infinity,
    includeDocs: parameters.flag('include_docs'),
    conflicts: parameters.flag('conflicts'),
    attachments: parameters.flag('attachments'),
    updateSequence: parameters.flag('update_seq'),
  }
}

/** @throws HttpError 400 for parameters that have no meaning here, or none together with `keys` */
function checkTogether(parameters: QueryParameters, keys: readonly unknown[] | undefined): void {
  const refuse = (reason: string): never => {
    throw new HttpError(400, 'query_parse_error', reason)
  }
  if (keys !== undefined && keys.length > 0 && BOUNDS.some((name) => parameters.has(name)))
    refuse('`keys` is incompatible with `key`, `start_key` and `end_key`')
  if (parameters.flag('reduce')) refuse('Reduce is invalid for map-only views.')
  if (parameters.flag('group') || (parameters.count('group_level') ?? 0) > 0)
    refuse('Invalid use of grouping on a map view.')
}

const BOUNDS = ['key', 'startkey', 'start_key', 'endkey', 'end_key']

function keyBounds(key: string, { gte, lt }: IdBounds): IdBounds {
  return (gte !== undefined && key < gte) || (lt !== undefined && key >= lt) ? NOTHING : { gte: key, lte: key }
}

/**
 * Where a bound that is not a string sorts among ids: null, booleans and numbers before them, arrays and objects after
 * them.
 */
function placeOf(bound: unknown): 'before' | 'among' | 'after' {
  return typeof bound === 'string' ? 'among' : typeof bound === 'object' && bound !== null ? 'after' : 'before'
}

/** Without a key the id that goes with it counts. */
function boundOf(parameters: QueryParameters, keys: readonly string[], ids: readonly string[]): unknown {
  const key = parameters.json(...keys)
  return key === undefined ? parameters.text(ids.find((name) => parameters.has(name)) ?? '') : key
}

function idBounds(parameters: QueryParameters, descending: boolean, within: IdBounds): IdBounds {
  const first = boundOf(parameters, ['startkey', 'start_key'], ['startkey_docid', 'start_key_doc_id'])
  const last = boundOf(parameters, ['endkey', 'end_key'], ['endkey_docid', 'end_key_doc_id'])
  const inclusive = parameters.flag('inclusive_end', true)
  const [lower, upper] = descending ? [last, first] : [first, last]
  if (lower !== undefined && placeOf(lower) === 'after') return NOTHING
  if (upper !== undefined && placeOf(upper) === 'before') return NOTHING
  const bounds: { -readonly [Name in keyof IdBounds]: IdBounds[Name] } = { ...within }
  if (typeof lower === 'string' && (within.gte === undefined || lower > within.gte)) {
    delete bounds.gte
    bounds[descending && !inclusive ? 'gt' : 'gte'] = lower
  }
  if (typeof upper === 'string' && (within.lt === undefined || upper < within.lt)) {
    delete bounds.lt
    bounds[descending || inclusive ? 'lte' : 'lt'] = upper
  }
  return bounds
}
