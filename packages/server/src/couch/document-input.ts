/**
 * Checks documents of clients as CouchDB does, so that the library never gets one that it refuses as a wrong argument.
 */
import { DESIGN_PREFIX } from '../design/design-documents.ts'
import { gunzipSync } from 'node:zlib'
import { fromCouchAttachment, isObject } from 'pannier/internal'
import { ID_BYTES_MAX } from 'pannier/limits'
import { badRequest, documentTooLarge, HttpError, tooLarge } from '../http/http-error.ts'
import { RATIO_MAX } from '../http/request-body.ts'
import { isLocalId } from '@pannier/backend/internal'
import type { JsonObject } from '@pannier/backend/internal'
import { checkLocalDocument, META_FIELDS } from './local-documents.ts'

/** Limits of an inline attachment in gzip: its unpacked bytes, and the size below which the ratio does not matter. */
const UNPACKED_BYTES_MAX: number = 64 * 1024 * 1024
const SMALL_BYTES = 4096
const CONTENT_TYPE_CHARS_MAX = 256
export const CONTENT_TYPE_DEFAULT = 'application/octet-stream'
const HEADER = /^[\t\x20-\x7e\x80-\xff]+$/
const GENERATIONS_MAX = 1e15
const SUFFIX_BYTES_MAX = 255

/** `_rev` of a document. */
const REVISION = /^[1-9]\d{0,14}-[^]+$/
/** Any revision as CouchDB may have it, whose numbers and texts have no limit. */
const ANY_REVISION = /^\d+-[^]+$/
const HASHED_REVISION = /^\d+-[0-9A-Fa-f]{32}$/
const HASH = /^[0-9A-Fa-f]{32}$/
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/
/** Allowed in any document. */
const ALLOWED_FIELDS: ReadonlySet<string> = new Set([
  ...META_FIELDS,
  // CouchDB's replicator writes these into documents of `_replicator`. Here they are content like any other field.
  '_replication_id',
  '_replication_state',
  '_replication_state_time',
  '_replication_state_reason',
  '_replication_stats',
])

/** @throws HttpError 400, 413 */
export function checkDocumentId(id: unknown): string {
  if (typeof id !== 'string') throw new HttpError(400, 'illegal_docid', 'Document id must be a string')
  if (id === '') throw new HttpError(400, 'illegal_docid', 'Document id must not be empty')
  if (id.startsWith('_') && !id.startsWith('_design/'))
    throw new HttpError(400, 'illegal_docid', 'Only reserved document ids may start with underscore.')
  if (id === DESIGN_PREFIX)
    throw new HttpError(400, 'illegal_docid', 'Illegal document id `_design/`: a name is missing.')
  if (Buffer.byteLength(id) > ID_BYTES_MAX) throw documentTooLarge(`A document id has at most ${ID_BYTES_MAX} bytes.`)
  return id
}

/** Whether a document may have this id here. */
export function isFitId(id: string): boolean {
  return id !== '' && (!id.startsWith('_') || id.startsWith('_design/')) && Buffer.byteLength(id) <= ID_BYTES_MAX
}

/**
 * Returns the revision in CouchDB's form, which reads 32 hexadecimal digits as 16 bytes.
 *
 * @throws HttpError 400
 */
export function checkRevision(rev: unknown): string {
  if (!isFitRevision(rev)) throw badRequest('Invalid rev format')
  return HASHED_REVISION.test(rev) ? rev.toLowerCase() : rev
}

/**
 * Whether a document may have this revision here.
 *
 * @throws HttpError 400 for a value that is not a revision
 */
export function isFitRevision(rev: unknown): rev is string {
  if (typeof rev !== 'string' || !ANY_REVISION.test(rev)) throw badRequest('Invalid rev format')
  return REVISION.test(rev) && Buffer.byteLength(rev.slice(rev.indexOf('-') + 1)) <= SUFFIX_BYTES_MAX
}

/** The document as the library takes it, with attachments as bytes. @throws HttpError 400, 413 */
export function checkDocument(document: unknown, newEdits: boolean): JsonObject {
  if (!isObject(document)) throw badRequest('Document must be a JSON object')
  if (isLocalId(document['_id'])) return checkLocalDocument(document['_id'], document)
  for (const name of Object.keys(document)) {
    if (name.startsWith('_') && !ALLOWED_FIELDS.has(name))
      throw new HttpError(400, 'doc_validation', `Bad special document member: ${name.slice(0, 80)}`)
  }
  const { _id, _rev, _deleted, _attachments } = document
  if (_id !== undefined) checkDocumentId(_id)
  if (_deleted !== undefined && typeof _deleted !== 'boolean')
    throw new HttpError(400, 'doc_validation', '`_deleted` must be a boolean')
  return {
    ...document,
    ...(newEdits ? _rev !== undefined && { _rev: checkRevision(_rev) } : checkHistory(document)),
    ...(_attachments !== undefined && { _attachments: checkAttachments(_attachments, newEdits) }),
  }
}

/** An edit keeps what its document has: nothing that came with a later revision. @throws HttpError 412 */
export function checkStubs({ _id, _rev, _attachments }: JsonObject): void {
  if (!isObject(_attachments)) return
  const generation = typeof _rev === 'string' ? Number.parseInt(_rev, 10) : 0
  for (const [name, attachment] of Object.entries(_attachments)) {
    const { stub, revpos } = attachment as JsonObject
    if (stub === true && typeof revpos === 'number' && revpos > generation)
      throw new HttpError(412, 'missing_stub', `Invalid attachment stub in ${String(_id)} for ${name}`)
  }
}

/** A replicated revision names itself and its ancestors, newest first. As in CouchDB, `_revisions` wins over `_rev`. */
function checkHistory({ _rev: rev, _revisions: history }: JsonObject): JsonObject {
  if (history === undefined) {
    if (!isFitRevision(rev)) throw documentTooLarge(`The revision ${rev as string} is too large.`)
    return { _rev: checkRevision(rev) }
  }
  const { start, ids } = isObject(history) ? history : {}
  const isHistory =
    typeof start === 'number' &&
    Number.isInteger(start) &&
    start >= 1 &&
    Array.isArray(ids) &&
    ids.length >= 1 &&
    ids.length <= start &&
    ids.every((id) => typeof id === 'string' && id !== '')
  if (!isHistory)
    throw new HttpError(400, 'doc_validation', '`_revisions` must be { start, ids } with ids newest first')
  if (start >= GENERATIONS_MAX || (ids as string[]).some((id) => Buffer.byteLength(id) > SUFFIX_BYTES_MAX))
    throw documentTooLarge('A revision of the document is too large.')
  const written = (ids as string[]).map((id) => (HASH.test(id) ? id.toLowerCase() : id))
  return { _rev: `${start}-${written[0]}`, _revisions: { start, ids: written } }
}

function checkAttachments(attachments: unknown, newEdits: boolean): JsonObject {
  if (!isObject(attachments)) throw badAttachment('Attachments property must be an object')
  const entries = Object.entries(attachments).map(
    ([name, one]) => [name, checkAttachment(name, one, newEdits)] as const,
  )
  return Object.fromEntries(entries)
}

function checkAttachment(name: string, given: unknown, newEdits: boolean): JsonObject {
  if (name === '' || name.startsWith('_'))
    throw new HttpError(400, 'bad_request', `Attachment name '${name.slice(0, 80)}' is not allowed`)
  if (!isObject(given)) throw badAttachment(`Attachment '${name}' must be an object`)
  const attachment = fromCouchAttachment({ ...given, content_type: contentTypeOf(given['content_type'], newEdits) })
  const { data, stub, digest, encoding } = given
  if (digest !== undefined && typeof digest !== 'string')
    throw badAttachment(`The digest of '${name}' must be a string`)
  if (data === undefined) {
    if (stub === true) return attachment
    throw badAttachment(`Attachment '${name}' has neither data nor a stub`)
  }
  // A stream from a multipart request.
  if (typeof data === 'object' && data !== null && Symbol.asyncIterator in data) return attachment
  if (typeof data !== 'string' || data.length % 4 !== 0 || !BASE64.test(data))
    throw badAttachment(`Invalid attachment data for '${name}'`)
  const bytes = Buffer.from(data, 'base64')
  return { ...attachment, data: encoding === 'gzip' ? unpacked(bytes, name) : bytes }
}

/**
 * Browsers send an empty type for unknown content. In replicated content only the bytes matter, even if no header can
 * hold the type.
 */
function contentTypeOf(contentType: unknown, newEdits: boolean): string {
  if (contentType === undefined || contentType === null || contentType === '') return CONTENT_TYPE_DEFAULT
  return newEdits || isContentType(contentType) ? checkContentType(contentType) : CONTENT_TYPE_DEFAULT
}

/** @throws HttpError 400 */
export function checkContentType(contentType: unknown): string {
  if (!isContentType(contentType)) throw badAttachment('`content_type` is no content type')
  return contentType
}

/** Whether a header can hold this type. */
export function isContentType(contentType: unknown): contentType is string {
  return typeof contentType === 'string' && contentType.length <= CONTENT_TYPE_CHARS_MAX && HEADER.test(contentType)
}

/**
 * Checks content in gzip here, and unpacks it again while it is stored: many unpacked attachments would not fit into
 * memory.
 */
function unpacked(bytes: Uint8Array, name: string): AsyncIterable<Uint8Array> {
  const maxOutputLength = Math.min(UNPACKED_BYTES_MAX, Math.max(SMALL_BYTES, bytes.length * RATIO_MAX))
  try {
    gunzipSync(bytes, { maxOutputLength })
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ERR_BUFFER_TOO_LARGE')
      throw tooLarge(`Attachment '${name}' is too large: ${bytes.length} bytes in gzip may become ${maxOutputLength}`)
    throw badAttachment(`Attachment '${name}' is not valid gzip`)
  }
  return {
    async *[Symbol.asyncIterator]() {
      yield gunzipSync(bytes)
    },
  }
}

function badAttachment(reason: string): HttpError {
  return new HttpError(400, 'bad_request', reason)
}
