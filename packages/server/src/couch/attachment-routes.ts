/** `/{db}/{id}/{attachment}`: streamed both ways. */
import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Attachment } from 'pannier'
import { toCouchAttachment, toCouchDocument } from 'pannier/internal'
import { contentDisposition } from '../http/content-disposition.ts'
import { badRequest, conflict, HttpError, notFound } from '../http/http-error.ts'
import { pathOf } from '../http/logging.ts'
import { QueryParameters } from '../http/query-parameters.ts'
import { bodyPieces } from '../http/request-body.ts'
import type { JsonObject } from '@pannier/backend/internal'
import { stubsOf } from './attachment-content.ts'
import { attachmentLimits } from './server-context.ts'
import { atDocuments } from './document-address.ts'
import type { DocumentAddress, DocumentHandler } from './document-address.ts'
import {
  checkContentType,
  checkDocument,
  checkRevision,
  CONTENT_TYPE_DEFAULT,
  isContentType,
} from './document-input.ts'
import { entityTag, givenRevision, matches, written } from './entity-tag.ts'
import { whyMissing } from './read-document.ts'
import { checkDigest } from './related-input.ts'
import type { Routes, ServerContext } from './server-context.ts'
import { writeDocument } from './write-documents.ts'

/** Types that are shown: browsers run nothing of them. All others are downloads. */
const SHOWN =
  /^(?:image\/(?:png|jpeg|gif|webp|avif|bmp)|text\/plain|application\/json|(?:audio|video)\/[\w.+-]+)(?:;|$)/i
const SANDBOX = "sandbox; default-src 'none'"

export const attachmentRoutes: Routes = (app, context) => {
  const config = { needs: 'member' } as const
  atDocuments(context, '/*', (url, handler) => {
    const named = (handle: DocumentHandler): ReturnType<typeof handler> =>
      handler((shared, address, request, reply) => {
        checkName(address.name)
        return handle(shared, address, request, reply)
      })
    app.route({ method: ['GET', 'HEAD'], url, config, handler: named(getAttachment) })
    app.put(url, { config }, named(putAttachment))
    app.delete(url, { config }, named(deleteAttachment))
  })
}

function checkName(name: string): void {
  if (name === '') throw notFound('missing')
  if (name.startsWith('_'))
    throw badRequest(`Attachment name '${name.slice(0, 80)}' starts with prohibited character '_'`)
}

async function getAttachment(
  context: ServerContext,
  { database, id, name }: DocumentAddress,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const collection = await context.gateway.collection(request.principal, database)
  const rev = new QueryParameters(request).text('rev')
  const attachment = await collection.getAttachment(id, name, rev === undefined ? {} : { rev: checkRevision(rev) })
  if (attachment === undefined) {
    const there = await collection.get(id, rev === undefined ? {} : { rev })
    throw notFound(there === undefined ? await whyMissing(collection, id) : 'Document is missing attachment')
  }
  const { contentType, digest, length } = attachment
  const md5 = digest.replace(/^md5-/, '')
  const tag = entityTag(md5)
  reply.headers({
    etag: tag,
    'accept-ranges': 'bytes',
    'content-type': isContentType(contentType) ? contentType : CONTENT_TYPE_DEFAULT,
    'content-security-policy': SANDBOX,
    ...(!SHOWN.test(contentType) && { 'content-disposition': contentDisposition(name) }),
  })
  if (matches(request.headers['if-none-match'], tag)) return reply.code(304).send()
  const range = rangeOf(request, length, tag)
  if (range === 'none') {
    reply.header('content-range', `bytes */${length}`)
    throw new HttpError(416, 'requested_range_not_satisfiable', `The attachment has ${length} bytes.`)
  }
  if (range !== undefined) reply.code(206).header('content-range', `bytes ${range.start}-${range.end - 1}/${length}`)
  else reply.header('content-md5', md5)
  const { start, end } = range ?? { start: 0, end: length }
  reply.header('content-length', end - start)
  return request.method === 'HEAD' ? reply.send() : sendContent(reply, attachment, start, end)
}

function sendContent(reply: FastifyReply, attachment: Attachment, start: number, end: number): FastifyReply {
  const stream = attachment.stream({ start, end })
  return reply.send(Readable.fromWeb(stream as Parameters<typeof Readable.fromWeb>[0]))
}

/**
 * Undefined: the whole attachment; 'none': the range is outside it. A server may answer several ranges with the whole.
 */
function rangeOf(
  { headers }: FastifyRequest,
  length: number,
  tag: string,
): { readonly start: number; readonly end: number } | 'none' | undefined {
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(headers.range ?? '')
  const condition = headers['if-range']
  if (match === null || (condition !== undefined && condition !== tag)) return undefined
  const [, first = '', last = ''] = match
  if (first === '' && last === '') return undefined
  const start = first === '' ? Math.max(0, length - Number(last)) : Number(first)
  const end = first === '' || last === '' ? length : Math.min(length, Number(last) + 1)
  return start >= end ? 'none' : { start, end }
}

async function putAttachment(
  context: ServerContext,
  { database, id, name }: DocumentAddress,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const collection = await context.gateway.collection(request.principal, database)
  const rev = givenRevision(request, new QueryParameters(request))
  const before = await collection.get(id, rev === undefined ? {} : { rev })
  // Without a revision it is a new document.
  if ((before !== undefined) !== (rev !== undefined)) throw conflict()
  const attachment = toCouchAttachment({
    contentType: checkContentType(request.headers['content-type'] || CONTENT_TYPE_DEFAULT),
    data: verified(bodyPieces(request, attachmentLimits(context)), request.headers['content-md5']),
  })
  const kept: JsonObject = toCouchDocument(before ?? {})
  const document = checkDocument({ ...kept, _id: id, _attachments: { ...stubsOf(kept), [name]: attachment } }, true)
  const result = await writeDocument(context, { request, database, document, newEdits: true })
  return written(reply.code(201), result, pathOf(request.url))
}

async function* verified(pieces: AsyncIterable<Uint8Array>, md5: unknown): AsyncGenerator<Uint8Array> {
  const hash = createHash('md5')
  for await (const piece of pieces) {
    hash.update(piece)
    yield piece
  }
  if (typeof md5 === 'string') checkDigest(hash, `md5-${md5}`)
}

async function deleteAttachment(
  context: ServerContext,
  { database, id, name }: DocumentAddress,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const collection = await context.gateway.collection(request.principal, database)
  const rev = givenRevision(request, new QueryParameters(request))
  const before = await collection.get(id, rev === undefined ? {} : { rev })
  if (before === undefined) throw rev === undefined ? notFound(await whyMissing(collection, id)) : conflict()
  if (rev === undefined) throw conflict()
  const attachments: JsonObject = { ...stubsOf(before) }
  if (!Object.hasOwn(attachments, name)) throw notFound('Document is missing attachment')
  delete attachments[name]
  const { _attachments: _, ...rest } = before as JsonObject
  const document = Object.keys(attachments).length === 0 ? rest : { ...rest, _attachments: attachments }
  return written(reply, await writeDocument(context, { request, database, document, newEdits: true }))
}
