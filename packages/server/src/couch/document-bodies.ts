/**
 * Documents in bodies of requests: one, or a list in `docs`. A body is received whole before any of it is written; a
 * large one waits in a file (body-store.ts). Then one document at a time is in memory, without its large attachments:
 * storing them reads them from the file. Limits apply to a document and to an attachment, not to a request.
 */
import { isObject } from 'pannier/internal'
import type { FastifyRequest } from 'fastify'
import type { StoredBody } from '../http/body-store.ts'
import { DocumentFinder } from '../http/document-finder.ts'
import type { DocumentPlace, DocumentsIn, InlineContent } from '../http/document-finder.ts'
import { heldBodies } from '../http/held-bodies.ts'
import { badRequest, documentTooLarge, tooLarge } from '../http/http-error.ts'
import { bodyPieces, bodyTooLarge, readBody, SMALL_BYTES_MAX } from '../http/request-body.ts'
import { JSON_MEMBERS_MAX, parseJson } from '../http/strict-json.ts'
import type { JsonObject } from '@pannier/backend/internal'
import { documentLimits, jsonLimits } from './server-context.ts'
import { decodedContent } from './related-input.ts'
import type { ServerContext } from './server-context.ts'

/** A place in a list of documents; the document is read on demand. */
export interface ReceivedDocument {
  /** As it names itself, if it does; also where it can't be read. */
  readonly id: string | undefined
  readonly rev: string | undefined
  /** Bytes of JSON that reading it takes. */
  readonly bytes: number
  /** True for `multipart/related`: attachments are read from the body while they are stored, once. */
  readonly isStreamed: boolean
  /** Reads the body as JSON of any kind. @throws HttpError 400, 413 */
  read(): Promise<unknown>
}

interface ReceivedDocuments {
  /** The other members of the body. */
  readonly members: JsonObject
  readonly documents: readonly ReceivedDocument[]
  /**
   * Call it before reading documents, with the bytes that they will take in memory.
   *
   * @throws HttpError 503
   */
  holds(bytes: number): void
}

/** `use` may read the documents until it ends. @throws HttpError 400, 413, 503 */
export async function withDocuments<T>(
  context: ServerContext,
  request: FastifyRequest,
  use: (received: ReceivedDocuments) => Promise<T>,
): Promise<T> {
  return withBody(context, request, 'docs', async (body, { documents: places, around, holds }) => {
    const whole = parseJson(around)
    if (!isObject(whole)) throw badRequest('Request body must be a JSON object')
    const { docs, ...members } = whole
    if (!Array.isArray(docs)) throw badRequest('`docs` parameter must be an array.')
    const documents = docs.map((value: unknown): ReceivedDocument => ({ ...NO_DOCUMENT, read: async () => value }))
    for (const place of places) documents[place.index] = documentAt(context, body, place)
    return use({ members, documents, holds })
  })
}

const NO_DOCUMENT = { id: undefined, rev: undefined, bytes: 0, isStreamed: false }

/** The document that is the body. @throws HttpError 400, 413, 503 */
export async function withDocument<T>(
  context: ServerContext,
  request: FastifyRequest,
  use: (document: JsonObject) => Promise<T>,
): Promise<T> {
  if (Number(request.headers['content-length']) <= SMALL_BYTES_MAX)
    return use(asObject(parseJson(await readBody(request, jsonLimits(context)))))
  return withBody(context, request, 'body', async (body, { documents: [place], around, holds }) => {
    if (place === undefined) return use(asObject(parseJson(around)))
    if (parseJson(around) !== null) throw badRequest('invalid UTF-8 JSON')
    const document = documentAt(context, body, place)
    holds(document.bytes)
    return use(asObject(await document.read()))
  })
}

interface FoundDocuments extends Pick<ReceivedDocuments, 'holds'> {
  readonly documents: readonly DocumentPlace[]
  readonly around: Uint8Array
}

async function withBody<T>(
  context: ServerContext,
  request: FastifyRequest,
  place: DocumentsIn,
  use: (body: StoredBody, found: FoundDocuments) => Promise<T>,
): Promise<T> {
  const { requestBytesMax } = context.limits
  const finder = new DocumentFinder(place)
  const pieces = bodyPieces(request, documentLimits(context))
  const hold = heldBodies.hold(request)
  let body: StoredBody | undefined
  const look = (piece: Uint8Array): void => {
    finder.push(piece)
    hold.to(finder.aroundBytes)
    if (finder.aroundBytes > requestBytesMax) throw bodyTooLarge(requestBytesMax)
    if (finder.documents.length > JSON_MEMBERS_MAX)
      throw tooLarge(`A request has at most ${JSON_MEMBERS_MAX} documents.`)
  }
  const holds = (bytes: number): void => hold.to(finder.aroundBytes + bytes)
  try {
    body = await context.bodies.receive(pieces, look)
    return await use(body, { documents: finder.documents, around: finder.around(), holds })
  } finally {
    hold.release()
    await body?.dispose()
  }
}

function asObject(value: unknown): JsonObject {
  if (!isObject(value)) throw badRequest('Document must be a JSON object')
  return value
}

function documentAt({ limits }: ServerContext, body: StoredBody, place: DocumentPlace): ReceivedDocument {
  const { start, end, id, rev, contents = [] } = place
  const bytes = contents.reduce((rest, content) => rest - (content.end - content.start), end - start)
  return {
    id,
    rev,
    bytes,
    isStreamed: contents.length > 0,
    read: async () => {
      const { documentBytesMax, attachmentBytesMax } = limits
      if (bytes > documentBytesMax)
        throw documentTooLarge(`A document has at most ${documentBytesMax} bytes of JSON, not ${bytes}.`)
      const document = parseJson(await textWithout(body, place, contents))
      if (contents.length === 0 || !isObject(document)) return document
      const attachments: JsonObject = { ...(document['_attachments'] as JsonObject) }
      for (const content of contents) {
        const { name } = content
        const attachment = attachments[name] as JsonObject
        const data = decodedContent(decodedBase64(body, content), name, attachment['encoding'], attachmentBytesMax)
        attachments[name] = { ...attachment, data }
      }
      return { ...document, _attachments: attachments }
    },
  }
}

/** The bytes of a document without the content of these attachments. @throws HttpError 413 */
async function textWithout(
  body: StoredBody,
  { start, end }: DocumentPlace,
  contents: readonly InlineContent[],
): Promise<Uint8Array> {
  if (contents.length === 0) return body.read(start, end)
  const pieces: Uint8Array[] = []
  let at = start
  for (const content of contents) {
    pieces.push(await body.read(at, content.start))
    at = content.end
  }
  pieces.push(await body.read(at, end))
  return Buffer.concat(pieces)
}

const PIECE_BYTES: number = 256 * 1024
const BASE64 = /^[A-Za-z0-9+/]*$/
const BASE64_END = /^[A-Za-z0-9+/]*={0,2}$/
/** Escapes that JSON may contain instead of a character of base64. */
const ESCAPES = /\\(?:\/|u00([0-9A-Fa-f]{2}))/g
const ESCAPE_CHARS_MAX = 6

async function* decodedBase64(body: StoredBody, { name, start, end }: InlineContent): AsyncGenerator<Uint8Array> {
  let rest = ''
  for (let at = start; at < end; at += PIECE_BYTES) {
    const isLast = at + PIECE_BYTES >= end
    const bytes = await body.read(at, Math.min(end, at + PIECE_BYTES))
    let text = rest + Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
    rest = ''
    const escape = text.lastIndexOf('\\')
    if (escape !== -1) {
      const isCut = !isLast && escape > text.length - ESCAPE_CHARS_MAX
      if (isCut) [text, rest] = [text.slice(0, escape), text.slice(escape)]
      text = text.replaceAll(ESCAPES, (_, hex?: string) =>
        hex === undefined ? '/' : String.fromCharCode(Number.parseInt(hex, 16)),
      )
    }
    const whole = isLast ? text.length : text.length - (text.length % 4)
    rest = text.slice(whole) + rest
    const part = text.slice(0, whole)
    if (part.length % 4 !== 0 || !(isLast ? BASE64_END : BASE64).test(part))
      throw badRequest(`Invalid attachment data for '${name}'`)
    yield Buffer.from(part, 'base64')
  }
}
