/** Many documents at once: `_bulk_docs`, and what replication asks before: `_revs_diff`, `_missing_revs`. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { asBadRequest, badRequest, HttpError } from '../http/http-error.ts'
import { QueryParameters } from '../http/query-parameters.ts'
import { isJsonObject, readBody, readJsonObject } from '../http/request-body.ts'
import type { JsonObject } from '../http/request-body.ts'
import { parseMembers } from '../http/strict-json.ts'
import { jsonLimits } from './body-limits.ts'
import { checkDocument, checkRevision, isFitId, isFitRevision } from './document-input.ts'
import type { Routes, ServerContext } from './server-context.ts'
import { writeDocuments } from './write-documents.ts'
import type { WriteOutcome } from './write-documents.ts'

interface Database {
  Params: { readonly db: string }
}

export const bulkRoutes: Routes = (app, context) => {
  const config = { needs: 'member' } as const
  app.post<Database>('/:db/_bulk_docs', { config }, async (request, reply) => postBulk(context, request, reply))
  app.post<Database>('/:db/_revs_diff', { config }, async (request) => {
    const found = await missingRevisions(context, request)
    return Object.fromEntries(
      Object.entries(found).map(([id, { missing, possibleAncestors }]) => [
        id,
        { missing, ...(possibleAncestors !== undefined && { possible_ancestors: possibleAncestors }) },
      ]),
    )
  })
  app.post<Database>('/:db/_missing_revs', { config }, async (request) => {
    const found = await missingRevisions(context, request)
    return { missing_revs: Object.fromEntries(Object.entries(found).map(([id, { missing }]) => [id, missing])) }
  })
}

async function postBulk(
  context: ServerContext,
  request: FastifyRequest<Database>,
  reply: FastifyReply,
): Promise<unknown> {
  const { db: database } = request.params
  await context.databases.get(database)
  const body = await readJsonObject(request, jsonLimits(context))
  const { docs } = body
  if (!Array.isArray(docs)) throw badRequest('`docs` parameter must be an array.')
  const newEdits = new QueryParameters(request, body).flag('new_edits', true)
  const checked = docs.map((document): JsonObject | HttpError => checkOne(document, newEdits))
  const documents = checked.filter((one) => !(one instanceof HttpError)) as JsonObject[]
  const written = await writeDocuments(context, { request, database, documents, newEdits })
  let next = 0
  const outcomes = checked.map((one) => wireOutcome(one, one instanceof HttpError ? one : written[next++]!))
  reply.code(201)
  return newEdits ? outcomes : outcomes.filter((outcome) => 'error' in outcome)
}

/** One malformed revision must not stop a replication; of one's own documents all are refused. */
function checkOne(document: unknown, newEdits: boolean): JsonObject | HttpError {
  try {
    return checkDocument(document, newEdits)
  } catch (error) {
    if (newEdits || !(error instanceof HttpError)) throw error
    return Object.assign(error, { document })
  }
}

function wireOutcome(document: JsonObject | HttpError, outcome: WriteOutcome): JsonObject {
  if (!(outcome instanceof HttpError)) return { ok: true, id: outcome.id, rev: outcome.rev }
  const source = document instanceof HttpError ? (document as HttpError & { document?: unknown }).document : document
  const { _id: id, _rev: rev } = isJsonObject(source) ? source : {}
  return { id, ...(rev !== undefined && { rev }), error: outcome.error, reason: outcome.reason }
}

interface Missing {
  readonly missing: readonly string[]
  readonly possibleAncestors?: readonly string[]
}

/** What can't be here is missing: a replication asks for all that has changed, and goes on with what it is told. */
async function missingRevisions(
  context: ServerContext,
  request: FastifyRequest<Database>,
): Promise<Record<string, Missing>> {
  const collection = await context.databases.get(request.params.db)
  const wanted = new Map<string, Set<string>>()
  const known = new Map<string, Set<string>>()
  for (const [id, revs] of parseMembers(await readBody(request, jsonLimits(context)))) {
    if (!Array.isArray(revs)) throw badRequest(`The revisions of '${id.slice(0, 80)}' must be an array`)
    for (const rev of revs) {
      addTo(wanted, id, rev as string)
      if (isFitRevision(rev) && isFitId(id)) addTo(known, id, checkRevision(rev))
    }
  }
  const asked = Object.fromEntries(Array.from(known, ([id, revs]) => [id, [...revs]]))
  const found = await asBadRequest(() => collection.revsDiff(asked))
  const entries = Array.from(wanted, ([id, revs]): [string, Missing] => {
    const { missing, possibleAncestors } = Object.hasOwn(found, id) ? found[id]! : NOTHING_MISSING
    const lacking = new Set(missing)
    const isMissing = (rev: string): boolean => !isFitId(id) || !isFitRevision(rev) || lacking.has(checkRevision(rev))
    return [id, { missing: [...revs].filter(isMissing), ...(possibleAncestors !== undefined && { possibleAncestors }) }]
  })
  return Object.fromEntries(entries.filter(([, { missing }]) => missing.length > 0))
}

const NOTHING_MISSING: Missing = { missing: [] }

function addTo(sets: Map<string, Set<string>>, name: string, member: string): void {
  const set = sets.get(name)
  if (set === undefined) sets.set(name, new Set([member]))
  else set.add(member)
}
