/** Many documents at once: `_bulk_docs`, `_bulk_get`, and what replication asks before: `_revs_diff`, `_missing_revs`. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Collection } from 'pannier'
import { asBadRequest, badRequest, HttpError } from '../http/http-error.ts'
import { QueryParameters } from '../http/query-parameters.ts'
import { isJsonObject, readBody, readJsonObject } from '../http/request-body.ts'
import type { JsonObject } from '../http/request-body.ts'
import { sendPieces } from '../http/streamed-reply.ts'
import { parseMembers } from '../http/strict-json.ts'
import { mixedParts, newBoundary } from '../multipart/write-multipart.ts'
import type { MixedResult } from '../multipart/write-multipart.ts'
import { knownGeneration, stubsOf, withContent } from './attachment-content.ts'
import { jsonLimits } from './body-limits.ts'
import { checkDocument, checkDocumentId, checkRevision, isFitId, isFitRevision } from './document-input.ts'
import type { Routes, ServerContext } from './server-context.ts'
import { writeDocuments } from './write-documents.ts'
import type { WriteOutcome } from './write-documents.ts'

interface Database {
  Params: { readonly db: string }
}

/** Read from one snapshot. */
const REFERENCES_PER_READ = 256
const PIECE_CHARS: number = 16 * 1024

export const bulkRoutes: Routes = (app, context) => {
  const config = { needs: 'member' } as const
  app.post<Database>('/:db/_bulk_docs', { config }, async (request, reply) => postBulk(context, request, reply))
  app.post<Database>('/:db/_bulk_get', { config }, async (request, reply) => postBulkGet(context, request, reply))
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

interface Reference {
  readonly id: string
  readonly rev: string | undefined
  readonly attachmentsSince: readonly string[]
  /** Why it can't be looked for. */
  readonly error: HttpError | undefined
}

interface BulkRead {
  readonly revs: boolean
  readonly latest: boolean
  readonly attachments: boolean
}

async function postBulkGet(
  context: ServerContext,
  request: FastifyRequest<Database>,
  reply: FastifyReply,
): Promise<unknown> {
  const collection = await context.databases.get(request.params.db)
  const body = await readJsonObject(request, jsonLimits(context))
  const { docs } = body
  if (!Array.isArray(docs)) throw badRequest('Missing JSON list of `docs`.')
  const parameters = new QueryParameters(request, body)
  const read = {
    revs: parameters.flag('revs'),
    latest: parameters.flag('latest'),
    attachments: parameters.flag('attachments'),
  }
  const references = docs.map(referenceOf)
  if (!/multipart\/(?:mixed|related)/i.test(request.headers.accept ?? ''))
    return sendPieces(reply, 'application/json', () => bulkPieces(collection, references, read), {
      gather: true,
    })
  const boundary = newBoundary()
  const generations = new Map<JsonObject, number>()
  const results = mixedResults(collection, references, read, generations)
  return sendPieces(reply, `multipart/mixed; boundary="${boundary}"`, () =>
    mixedParts(collection, results, (document) => generations.get(document) ?? Infinity, boundary),
  )
}

function referenceOf(wanted: unknown): Reference {
  if (!isJsonObject(wanted)) throw badRequest('`docs` must be an array of objects.')
  const { id, rev, atts_since } = wanted
  const attachmentsSince = Array.isArray(atts_since) ? atts_since.filter((one) => typeof one === 'string') : []
  const given = { id: textOf(id), rev: rev === undefined || rev === null ? undefined : textOf(rev), attachmentsSince }
  try {
    checkDocumentId(id)
    if (given.rev !== undefined) checkRevision(given.rev)
    return { ...given, error: undefined }
  } catch (error) {
    if (!(error instanceof HttpError)) throw error
    return { ...given, error }
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null)
}

/** One entry for each reference, in their order, as parts; `generations` tells which attachments go along. */
async function* mixedResults(
  collection: Collection<JsonObject>,
  references: readonly Reference[],
  read: BulkRead,
  generations: Map<JsonObject, number>,
): AsyncGenerator<MixedResult> {
  for (let at = 0; at < references.length; at += REFERENCES_PER_READ) {
    const some = references.slice(at, at + REFERENCES_PER_READ)
    const found = await findRevisions(collection, some, read)
    for (const [index, reference] of some.entries()) {
      for (const document of found[index]!) {
        if (document === undefined) {
          yield missingOf(reference)
          continue
        }
        const { _revisions, ...rest } = document
        const ok = read.revs ? document : rest
        if (read.attachments) generations.set(ok, knownGeneration(document, reference.attachmentsSince))
        yield { ok }
        generations.delete(ok)
      }
    }
  }
}

function missingOf({ id, rev, error }: Reference): { readonly error: JsonObject } {
  const reason = error?.reason ?? 'missing'
  return { error: { id, rev: rev ?? 'undefined', error: error?.error ?? 'not_found', reason } }
}

/** The same in JSON. */
async function* bulkPieces(
  collection: Collection<JsonObject>,
  references: readonly Reference[],
  read: BulkRead,
): AsyncGenerator<string> {
  yield '{"results":['
  for (let at = 0; at < references.length; at += REFERENCES_PER_READ) {
    const some = references.slice(at, at + REFERENCES_PER_READ)
    const found = await findRevisions(collection, some, read)
    let text = ''
    for (const [index, reference] of some.entries()) {
      const docs: JsonObject[] = []
      for (const document of found[index]!) {
        const wired = wireDocument(collection, reference, document, read)
        docs.push(wired instanceof Promise ? await wired : wired)
      }
      text += `${at + index > 0 ? ',\n' : '\n'}${JSON.stringify({ id: reference.id, docs })}`
      // Documents and attachments may be large: no more of them at once than the client takes.
      if (text.length < PIECE_CHARS) continue
      yield text
      text = ''
    }
    yield text
  }
  yield '\n]}\n'
}

/** The documents of each reference; undefined stands for one that is not there. */
async function findRevisions(
  collection: Collection<JsonObject>,
  references: readonly Reference[],
  { latest }: BulkRead,
): Promise<(JsonObject | undefined)[][]> {
  const options = { revs: true, latest }
  const named = references.filter(({ rev, error }) => rev !== undefined && error === undefined)
  const results = await collection.bulkGet(
    named.map(({ id, rev }) => ({ id, rev: rev! })),
    options,
  )
  const found: (JsonObject | undefined)[][] = []
  let next = 0
  for (const { id, rev, error } of references) {
    if (error !== undefined) found.push([undefined])
    else if (rev !== undefined) {
      const result = results[next++]!
      found.push(['ok' in result ? result.ok : undefined])
    } else {
      const leaves = await collection.getRevisions(id, 'all', options)
      found.push(leaves.length === 0 ? [undefined] : leaves.map((leaf) => ('ok' in leaf ? leaf.ok : undefined)))
    }
  }
  return found
}

function wireDocument(
  collection: Collection<JsonObject>,
  reference: Reference,
  document: JsonObject | undefined,
  { revs, attachments }: BulkRead,
): JsonObject | Promise<JsonObject> {
  if (document === undefined) return missingOf(reference)
  const ok = revs ? document : withoutHistory(document)
  return attachments && stubsOf(document) !== undefined ? wireContent(collection, reference, ok, document) : { ok }
}

function withoutHistory({ _revisions, ...rest }: JsonObject): JsonObject {
  return rest
}

async function wireContent(
  collection: Collection<JsonObject>,
  reference: Reference,
  ok: JsonObject,
  document: JsonObject,
): Promise<JsonObject> {
  try {
    return { ok: await withContent(collection, ok, knownGeneration(document, reference.attachmentsSince)) }
  } catch (failure) {
    if (!(failure instanceof HttpError)) throw failure
    return missingOf(reference)
  }
}
