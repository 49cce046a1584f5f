/** `/{db}/{id}` and `/{db}/_design/{name}`. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { heldBodies } from '../http/held-bodies.ts'
import { asBadRequest, badRequest, conflict, HttpError, notFound } from '../http/http-error.ts'
import { pathOf } from '../http/logging.ts'
import { boundaryOf, MultipartReader } from '../http/multipart-reader.ts'
import { QueryParameters } from '../http/query-parameters.ts'
import { bodyPieces } from '../http/request-body.ts'
import { sendPieces } from '../http/streamed-reply.ts'
import { JsonError } from '../http/strict-json.ts'
import type { JsonObject } from '@pannier/backend/internal'
import type { GuardedCollection } from '@pannier/backend'
import { documentPieces, knownGeneration, stubsOf } from './attachment-content.ts'
import { documentLimits } from './server-context.ts'
import { okPieces } from './bulk-get.ts'
import { atDocuments } from './document-address.ts'
import type { DocumentAddress } from './document-address.ts'
import { withDocument } from './document-bodies.ts'
import { checkDocument, checkDocumentId, checkRevision, checkStubs } from './document-input.ts'
import { entityTag, givenRevision, matches, written } from './entity-tag.ts'
import { documentRead, findDocument, isPlainRead, whyMissing } from './read-document.ts'
import type { DocumentRead } from './read-document.ts'
import { relatedDocument } from './related-input.ts'
import { leavesOf, readSome, REVISIONS_PER_READ } from './revision-content.ts'
import type { RevisionReference } from './revision-content.ts'
import { sequenceText } from './sequence.ts'
import type { Routes, ServerContext } from './server-context.ts'
import { writeDocument } from './write-documents.ts'
import { mixedParts, relatedParts } from './write-multipart.ts'
import type { MixedResult } from './write-multipart.ts'

export const documentRoutes: Routes = (app, context) => {
  const config = { needs: 'member' } as const
  atDocuments(context, '', (url, handler) => {
    app.get(url, { config }, handler(getDocument))
    app.put(url, { config }, handler(putDocument))
    app.delete(url, { config }, handler(deleteDocument))
    app.route({ method: 'COPY', url, config, handler: handler(copyDocument) })
  })
}

async function getDocument(
  context: ServerContext,
  { database, id }: DocumentAddress,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const collection = await context.gateway.collection(request.principal, database)
  const read = documentRead(new QueryParameters(request))
  if (read.openRevisions !== undefined) return getOpenRevisions(context, database, id, read, request, reply)
  const wantsContent = read.attachments
  const revs = read.revs || read.attachmentsSince.length > 0
  let document = await findDocument(collection, id, { ...read, revs })
  if (isPlainRead(read)) {
    const tag = entityTag(document['_rev'])
    reply.header('etag', tag)
    if (matches(request.headers['if-none-match'], tag)) return reply.code(304).send()
  }
  const generation = knownGeneration(document, read.attachmentsSince)
  if (!read.revs) delete document['_revisions']
  if (read.localSequence) document = { ...document, _local_seq: await localSequence(collection, id) }
  if (wantsContent && stubsOf(document) !== undefined) {
    if (accepts(request, 'multipart/related')) {
      const boundary = context.environment.randomId()
      return sendPieces(reply, `multipart/related; boundary="${boundary}"`, () =>
        relatedParts(collection, document, generation, boundary),
      )
    }
    const pieces = await documentPieces(collection, document, generation)
    return sendPieces(reply, 'application/json', () => pieces, { gather: true })
  }
  return document
}

async function getOpenRevisions(
  context: ServerContext,
  database: string,
  id: string,
  { openRevisions, revs, latest, attachments, attachmentsSince }: DocumentRead,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const collection = await context.gateway.collection(request.principal, database)
  const all = openRevisions === 'all' ? (await leavesOf(collection, [id])).get(id) : undefined
  if (openRevisions === 'all' && all === undefined) throw notFound('missing')
  const wanted = all ?? (openRevisions as readonly string[]).map((rev) => ({ id, rev }))
  const results = (gone: AbortSignal): AsyncGenerator<OpenRevision> => openRevisionsOf(collection, wanted, latest, gone)
  if (accepts(request, 'multipart/mixed')) {
    const boundary = context.environment.randomId()
    const generations = new WeakMap<JsonObject, number>()
    async function* parts(gone: AbortSignal): AsyncGenerator<MixedResult> {
      for await (const result of results(gone)) {
        if ('missing' in result) yield result
        else {
          const { ok } = shownRevision(result.ok, revs)
          generations.set(ok, knownGeneration(result.ok, attachmentsSince))
          yield { ok }
        }
      }
    }
    return sendPieces(reply, `multipart/mixed; boundary="${boundary}"`, (gone) =>
      mixedParts(collection, parts(gone), (document) => generations.get(document) ?? 0, boundary),
    )
  }
  async function* pieces(gone: AbortSignal): AsyncGenerator<string> {
    let separator = '['
    for await (const result of results(gone)) {
      yield separator
      separator = ','
      if ('missing' in result) yield JSON.stringify(result)
      else {
        const { ok } = shownRevision(result.ok, revs)
        const generation = attachments ? knownGeneration(result.ok, attachmentsSince) : Infinity
        yield* okPieces(await documentPieces(collection, ok, generation))
      }
    }
    yield separator === '[' ? '[]' : ']'
  }
  return sendPieces(reply, 'application/json', pieces, { gather: true })
}

type OpenRevision = { readonly ok: JsonObject } | { readonly missing: string }

/** Each once, also where `latest` makes one of several. */
async function* openRevisionsOf(
  collection: GuardedCollection,
  wanted: readonly RevisionReference[],
  latest: boolean,
  gone: AbortSignal,
): AsyncGenerator<OpenRevision> {
  const told = new Set<unknown>()
  for (let at = 0; at < wanted.length && !gone.aborted;) {
    const some = await asBadRequest(() => readSome(collection, wanted.slice(at, at + REVISIONS_PER_READ), latest))
    for (const document of some) {
      const { rev } = wanted[at++]!
      const name = document?.['_rev'] ?? rev
      if (told.has(name)) continue
      told.add(name)
      yield document === undefined ? { missing: rev } : { ok: document }
    }
  }
}

function shownRevision(document: JsonObject, revs: boolean): { readonly ok: JsonObject } {
  if (revs) return { ok: document }
  const { _revisions, ...ok } = document
  return { ok }
}

async function putDocument(
  context: ServerContext,
  { database, id }: DocumentAddress,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  await context.gateway.collection(request.principal, database)
  const parameters = new QueryParameters(request)
  const newEdits = parameters.flag('new_edits', true)
  const rev = givenRevision(request, parameters)
  const status = parameters.text('batch') === 'ok' ? 202 : undefined
  return withDocumentOf(context, request, newEdits, async (body) => {
    if (body['_id'] !== undefined) checkDocumentId(body['_id'])
    if (rev !== undefined && body['_rev'] !== undefined && body['_rev'] !== rev)
      throw badRequest('Document rev from request body and query string have different values')
    const document = checkDocument({ ...body, _id: id, ...(rev !== undefined && { _rev: rev }) }, newEdits)
    if (newEdits) checkStubs(document)
    const result = await writeDocument(context, { request, database, document, newEdits })
    return written(reply.code(status ?? (document['_deleted'] === true ? 200 : 201)), result, pathOf(request.url))
  })
}

/** Reads multipart/related, and any other content type as JSON. */
async function withDocumentOf<T>(
  context: ServerContext,
  request: FastifyRequest,
  newEdits: boolean,
  use: (document: JsonObject) => Promise<T>,
): Promise<T> {
  try {
    const type = request.headers['content-type'] ?? ''
    if (!/^multipart\/related\b/i.test(type)) return await withDocument(context, request, use)
    const reader = new MultipartReader(bodyPieces(request, documentLimits(context)), boundaryOf(type))
    const hold = heldBodies.hold(request)
    try {
      return await use(await relatedDocument(reader, context.limits, hold))
    } finally {
      hold.release()
      await reader.close()
    }
  } catch (error) {
    // The sender of a replicated document knows that it is JSON. Answer 'forbidden', so that the replication skips it.
    if (newEdits || !(error instanceof JsonError)) throw error
    throw new HttpError(403, 'forbidden', error.reason, { cause: error })
  }
}

async function deleteDocument(
  context: ServerContext,
  { database, id }: DocumentAddress,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const collection = await context.gateway.collection(request.principal, database)
  const rev = givenRevision(request, new QueryParameters(request))
  if ((await collection.get(id)) === undefined) throw notFound(await whyMissing(collection, id))
  if (rev === undefined) throw conflict()
  const document = { _id: id, _rev: rev, _deleted: true }
  return written(reply, await writeDocument(context, { request, database, document, newEdits: true }))
}

async function copyDocument(
  context: ServerContext,
  { database, id }: DocumentAddress,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const collection = await context.gateway.collection(request.principal, database)
  const { destination } = request.headers
  if (typeof destination !== 'string') throw badRequest('Destination header is mandatory for COPY.')
  if (/^https?:\/\//i.test(destination)) throw badRequest('Destination URL must be relative.')
  const [path = '', query = ''] = destination.split('?', 2)
  const target = checkDocumentId(decodePath(path))
  const targetRevision = new URLSearchParams(query).get('rev') ?? undefined
  const rev = new QueryParameters(request).text('rev')
  const { _rev, ...source } = await findDocument(collection, id, {
    rev: rev === undefined ? undefined : checkRevision(rev),
    revs: false,
    revsInfo: false,
    conflicts: false,
    deletedConflicts: false,
  })
  const attachments: JsonObject = {}
  for (const name of Object.keys(stubsOf(source) ?? {})) {
    const attachment = await collection.getAttachment(id, name, { rev: _rev as string })
    if (attachment === undefined) throw notFound('missing')
    attachments[name] = { contentType: attachment.contentType, data: attachment.stream() }
  }
  const document = {
    ...source,
    _id: target,
    ...(targetRevision !== undefined && { _rev: checkRevision(targetRevision) }),
    ...(stubsOf(source) !== undefined && { _attachments: attachments }),
  }
  const result = await writeDocument(context, { request, database, document, newEdits: true })
  return written(reply.code(201), result, `/${encodeURIComponent(database)}/${path}`)
}

/** Whether the client names this type. A client that accepts anything gets JSON. */
function accepts({ headers }: FastifyRequest, type: string): boolean {
  return (headers.accept ?? '').split(',').some((one) => one.split(';')[0]!.trim().toLowerCase() === type)
}

async function localSequence(collection: GuardedCollection, id: string): Promise<string> {
  const [change] = await collection.changes({ ids: [id] }).toArray()
  return sequenceText(change?.seq ?? 0, await collection.epoch())
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    throw badRequest('The destination is malformed.')
  }
}
