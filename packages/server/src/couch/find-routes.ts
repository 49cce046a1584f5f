/** Mango queries: `_find`, `_explain`. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Query } from 'pannier'
import { toCouchDocument } from 'pannier/internal'
import type { DatabaseRoute } from '../http/declarations.ts'
import { asBadRequest, HttpError } from '../http/http-error.ts'
import { readJsonObject } from '../http/request-body.ts'
import { sendJoined } from '../http/streamed-reply.ts'
import type { JsonObject } from '@pannier/backend/internal'
import type { GuardedCollection } from '@pannier/backend'
import { jsonLimits } from './server-context.ts'
import { chooseIndex, type MangoChoice } from './mango/mango-choice.ts'
import { ALL_DOCS_INDEX, wireIndex } from './mango/mango-definition.ts'
import { bookmarkOf, libraryQuery, parseQuery } from './mango/mango-query.ts'
import type { MangoQuery } from './mango/mango-query.ts'
import type { Routes, ServerContext } from './server-context.ts'

interface Prepared {
  readonly collection: GuardedCollection
  readonly wanted: MangoQuery
  readonly choice: MangoChoice
  readonly query: Query<JsonObject, JsonObject>
}

const NO_INDEX = 'No matching index found, create an index to optimize query time.'

export const findRoutes: Routes = (app, context) => {
  const config = { needs: 'member' } as const
  app.post<DatabaseRoute>('/:db/_find', { config }, async (request, reply) => {
    const prepared = await prepare(context, request)
    return find(prepared, warningOf(prepared), reply)
  })
  app.post<DatabaseRoute>('/:db/_explain', { config }, async (request) => {
    const { wanted, query, choice } = await prepare(context, request)
    const explanation = await asBadRequest(() => query.explain())
    const { selector, limit, skip, fields } = wanted
    return {
      dbname: request.params.db,
      index: choice.index === undefined ? ALL_DOCS_INDEX : wireIndex(choice.index),
      partitioned: false,
      selector,
      opts: {
        use_index: wanted.useIndex,
        bookmark: wanted.bookmark,
        limit,
        skip,
        fields,
        conflicts: wanted.conflicts,
      },
      limit,
      skip,
      fields: fields.length === 0 ? 'all_fields' : fields,
      pannier: explanation,
    }
  })
}

async function prepare(context: ServerContext, request: FastifyRequest<DatabaseRoute>): Promise<Prepared> {
  const collection = await context.gateway.collection(request.principal, request.params.db)
  const body = await readJsonObject(request, jsonLimits(context))
  const wanted = parseQuery(body)
  const indexes = await context.indexes.settled(collection)
  const choice = chooseIndex(indexes, wanted)
  if (!wanted.allowFallback && (choice.index === undefined || choice.warning !== undefined))
    throw new HttpError(400, 'no_usable_index', choice.warning ?? 'There is no index for this query.')
  const query = await asBadRequest(() => libraryQuery(collection, wanted, choice))
  return { collection, wanted, choice, query }
}

function find(
  { collection, wanted, query }: Prepared,
  warning: string | undefined,
  reply: FastifyReply,
): Promise<unknown> {
  const { environment } = reply.server
  const startMs = environment.now()
  async function* pieces(gone: AbortSignal): AsyncGenerator<string> {
    let rows = 0
    yield '{"docs":[\n'
    for await (const document of query.signal(gone)) {
      const shown = wanted.conflicts ? await withConflicts(collection, document) : document
      yield `${rows++ > 0 ? ',\n' : ''}${JSON.stringify(toCouchDocument(shown))}`
    }
    const end = {
      bookmark: rows === 0 ? wanted.bookmark : bookmarkOf(wanted.skip + rows),
      ...(warning !== undefined && { warning }),
      ...(wanted.executionStats && { execution_stats: await statistics(query, rows, environment.now() - startMs) }),
    }
    yield `\n],\n${JSON.stringify(end).slice(1)}\n`
  }
  return sendJoined(reply, pieces)
}

/** Without conflicts if the document was replaced in the meantime. */
async function withConflicts(collection: GuardedCollection, document: JsonObject): Promise<JsonObject> {
  const { _id, _rev } = document as { _id: string; _rev: string }
  return (await collection.get(_id, { rev: _rev, conflicts: true })) ?? document
}

async function statistics(
  query: Query<JsonObject, JsonObject>,
  rows: number,
  executionMs: number,
): Promise<JsonObject> {
  const { actual, plan } = await query.explain({ run: true })
  const entries = stepsOf(plan).map((step) => (step.step === 'index scan' ? Number(step.actualRows ?? 0) : 0))
  return {
    total_keys_examined: entries.reduce((sum, count) => sum + count, 0),
    total_docs_examined: actual?.documents ?? 0,
    total_quorum_docs_examined: 0,
    results_returned: rows,
    execution_time_ms: executionMs,
  }
}

function warningOf({ choice, wanted }: Prepared): string | undefined {
  const lacksIndex = choice.index === undefined && Object.keys(wanted.selector).some((name) => name !== '_id')
  const warnings = [choice.warning, lacksIndex ? NO_INDEX : undefined].filter((warning) => warning !== undefined)
  return warnings.length === 0 ? undefined : warnings.join('\n')
}

interface Step {
  readonly step: unknown
  readonly actualRows?: unknown
}

/** All steps of a plan, those in lists too. */
function stepsOf(plan: unknown): Step[] {
  if (typeof plan !== 'object' || plan === null) return []
  const own = 'step' in plan ? [plan as Step] : []
  return [...own, ...Object.values(plan).flatMap(stepsOf)]
}
