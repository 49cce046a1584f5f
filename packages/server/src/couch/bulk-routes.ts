/**
 * `_bulk_docs` writes many documents. `_revs_diff` and `_missing_revs` report the revisions that a replication still
 * has to send.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isObject, pauseIn } from 'pannier/internal'
import type { DatabaseRoute } from '../http/declarations.ts'
import { asBadRequest, badRequest, HttpError, toHttpError } from '../http/http-error.ts'
import { QueryParameters } from '../http/query-parameters.ts'
import { readBody } from '../http/request-body.ts'
import { JsonError, parseMembers } from '../http/strict-json.ts'
import { isLocalId } from '@pannier/backend/internal'
import type { JsonObject } from '@pannier/backend/internal'
import { jsonLimits } from './server-context.ts'
import { withDocuments } from './document-bodies.ts'
import type { ReceivedDocument } from './document-bodies.ts'
import { checkDocument, checkRevision, isFitId, isFitRevision } from './document-input.ts'
import type { Routes, ServerContext } from './server-context.ts'
import { writeDocuments } from './write-documents.ts'
import type { WireOutcome, WriteRequest } from './write-documents.ts'

/** Documents that are written together. */
const GROUP_DOCUMENTS_MAX = 2000
const GROUP_BYTES_MAX: number = 4 * 1024 * 1024

export const bulkRoutes: Routes = (app, context) => {
  const config = { needs: 'member' } as const
  app.post<DatabaseRoute>('/:db/_bulk_docs', { config }, async (request, reply) => postBulk(context, request, reply))
  app.post<DatabaseRoute>('/:db/_revs_diff', { config }, async (request) => {
    const found = await missingRevisions(context, request)
    return Object.fromEntries(
      Object.entries(found).map(([id, { missing, possibleAncestors }]) => [
        id,
        { missing, ...(possibleAncestors !== undefined && { possible_ancestors: possibleAncestors }) },
      ]),
    )
  })
  app.post<DatabaseRoute>('/:db/_missing_revs', { config }, async (request) => {
    const found = await missingRevisions(context, request)
    return { missing_revs: Object.fromEntries(Object.entries(found).map(([id, { missing }]) => [id, missing])) }
  })
}

async function postBulk(
  context: ServerContext,
  request: FastifyRequest<DatabaseRoute>,
  reply: FastifyReply,
): Promise<unknown> {
  const { db: database } = request.params
  await context.gateway.collection(request.principal, database)
  return withDocuments(context, request, async ({ members, documents, holds }) => {
    const newEdits = new QueryParameters(request, members).flag('new_edits', true)
    if (members['all_or_nothing'] === true) {
      reply.code(417)
      return documents.map(({ id, rev }) => ({ id, rev, ...NOT_IMPLEMENTED }))
    }
    const groups = groupsOf(documents)
    // A client's edits are all refused if one is malformed.
    if (newEdits && groups.length > 1) {
      const released = pauseIn(context.environment)
      for (const document of documents) {
        holds(document.bytes)
        await checkOne(document, true)
        await released()
      }
    }
    const outcomes: JsonObject[] = []
    for (const group of groups) {
      holds(group.reduce((bytes, document) => bytes + document.bytes, 0))
      outcomes.push(...(await writeGroup(context, { request, database, newEdits }, group)))
      await context.environment.yield()
    }
    reply.code(201)
    return newEdits ? outcomes : outcomes.filter((outcome) => 'error' in outcome)
  })
}

const NOT_IMPLEMENTED = { error: 'not_implemented', reason: 'all_or_nothing is not supported' }

/**
 * Documents to write together. A document whose content is read while it is stored is alone: if it turns out malformed,
 * the others must not fail.
 */
function groupsOf(documents: readonly ReceivedDocument[]): ReceivedDocument[][] {
  const groups: ReceivedDocument[][] = []
  let group: ReceivedDocument[] = []
  let bytes = 0
  for (const document of documents) {
    const isFull = group.length >= GROUP_DOCUMENTS_MAX || bytes + document.bytes > GROUP_BYTES_MAX
    if (group.length === 0 || isFull || document.isStreamed || group[0]!.isStreamed) {
      group = []
      bytes = 0
      groups.push(group)
    }
    group.push(document)
    bytes += document.bytes
  }
  return groups
}

async function writeGroup(
  context: ServerContext,
  write: Omit<WriteRequest, 'documents'>,
  group: readonly ReceivedDocument[],
): Promise<JsonObject[]> {
  const { newEdits } = write
  const checked: (JsonObject | HttpError)[] = []
  const released = pauseIn(context.environment)
  for (const one of group) {
    checked.push(await checkOne(one, newEdits))
    await released()
  }
  const documents = checked.filter((one) => !(one instanceof HttpError)) as JsonObject[]
  const written = await writeChecked(context, { ...write, documents }, group[0]!.isStreamed)
  let next = 0
  return checked.map((one, at) => wireOutcome(group[at]!, one instanceof HttpError ? one : written[next++]!, newEdits))
}

/** Content that is malformed is found when it is stored: it is the only one of its group then. */
async function writeChecked(
  context: ServerContext,
  write: WriteRequest,
  isStreamed: boolean,
): Promise<readonly WireOutcome[]> {
  try {
    return await writeDocuments(context, write)
  } catch (error) {
    const known = isStreamed ? toHttpError(error) : undefined
    if (known !== undefined && known.status < 500) return [known]
    throw error
  }
}

/**
 * A document that is too large is refused alone, and so is a malformed revision of a replication. A malformed edit
 * refuses all.
 */
async function checkOne(received: ReceivedDocument, newEdits: boolean): Promise<JsonObject | HttpError> {
  try {
    const document = await received.read()
    if (newEdits || !lacksRevision(document)) return checkDocument(document, newEdits)
  } catch (error) {
    if (!(error instanceof HttpError) || (newEdits && error.status === 400)) throw error
    return error
  }
  // No replication would send it.
  throw badRequest('A replicated document needs a `_rev`')
}

function lacksRevision(document: unknown): boolean {
  if (!isObject(document) || isLocalId(document['_id'])) return false
  return document['_rev'] === undefined && document['_revisions'] === undefined
}

/**
 * A replication gets 'forbidden' for a document that can't be stored here: CouchDB and PouchDB skip only such
 * documents.
 */
function wireOutcome({ id, rev }: ReceivedDocument, outcome: WireOutcome, newEdits: boolean): JsonObject {
  if (!(outcome instanceof HttpError)) return { ok: true, id: outcome.id, rev: outcome.rev }
  const { status, error, reason } = outcome
  if (newEdits) return { id, error, reason }
  const isForbidden = status === 413 || status === 415 || outcome instanceof JsonError
  return { id, rev, error: isForbidden ? 'forbidden' : error, reason: isForbidden ? `${error}: ${reason}` : reason }
}

interface Missing {
  readonly missing: readonly string[]
  readonly possibleAncestors?: readonly string[]
}

/**
 * A revision that can't be stored here is reported as missing: a replication asks for everything that has changed, and
 * continues with the answer.
 */
async function missingRevisions(
  context: ServerContext,
  request: FastifyRequest<DatabaseRoute>,
): Promise<Record<string, Missing>> {
  const collection = await context.gateway.collection(request.principal, request.params.db)
  const wanted = new Map<string, Set<string>>()
  const known = new Map<string, Set<string>>()
  const released = pauseIn(context.environment)
  for (const [id, revs] of parseMembers(await readBody(request, jsonLimits(context)))) {
    if (!Array.isArray(revs)) throw badRequest(`The revisions of '${id.slice(0, 80)}' must be an array`)
    for (const rev of revs) {
      addTo(wanted, id, rev as string)
      if (isFitRevision(rev) && isFitId(id)) addTo(known, id, checkRevision(rev))
    }
    await released()
  }
  const found = new Map<string, Missing>()
  const ids = [...known.keys()]
  for (let at = 0; at < ids.length; at += LOOKED_UP_MAX) {
    const asked = Object.fromEntries(ids.slice(at, at + LOOKED_UP_MAX).map((id) => [id, [...known.get(id)!]]))
    for (const one of Object.entries(await asBadRequest(() => collection.revsDiff(asked)))) found.set(...one)
    await released()
  }
  const entries: [string, Missing][] = []
  for (const [id, revs] of wanted) {
    const { missing, possibleAncestors } = found.get(id) ?? NOTHING_MISSING
    const lacking = new Set(missing)
    const isMissing = (rev: string): boolean => !isFitId(id) || !isFitRevision(rev) || lacking.has(checkRevision(rev))
    const absent = [...revs].filter(isMissing)
    if (absent.length > 0)
      entries.push([id, { missing: absent, ...(possibleAncestors !== undefined && { possibleAncestors }) }])
    await released()
  }
  return Object.fromEntries(entries)
}

/** Documents whose revisions are looked up together: it takes some milliseconds. */
const LOOKED_UP_MAX = 256
const NOTHING_MISSING: Missing = { missing: [] }

function addTo(sets: Map<string, Set<string>>, name: string, member: string): void {
  const set = sets.get(name)
  if (set === undefined) sets.set(name, new Set([member]))
  else set.add(member)
}
