/** Documents as clients send them, checked as CouchDB does, so that what the library refuses as a wrong argument never gets there. */
import { gunzipSync } from 'node:zlib'
import { ID_BYTES_MAX } from 'pannier'
import { badRequest, HttpError, tooLarge } from '../http/http-error.ts'
import { isJsonObject } from '../http/request-body.ts'
import type { JsonObject } from '../http/request-body.ts'

/** The bytes that one inline attachment may unpack to. */
const UNPACKED_BYTES_MAX: number = 64 * 1024 * 1024
const CONTENT_TYPE_CHARS_MAX = 256
const GENERATIONS_MAX = 1e15

/** `_rev` of a document. */
const REVISION = /^[1-9]\d{0,14}-[^]{1,255}$/
/** As CouchDB may have it, whose numbers and texts have no limit. */
const ANY_REVISION = /^\d+-[^]+$/
const HASHED_REVISION = /^\d+-[0-9A-Fa-f]{32}$/
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/
const META_FIELDS: ReadonlySet<string> = new Set([
  '_id',
  '_rev',
  '_deleted',
  '_attachments',
  '_revisions',
  '_revs_info',
  '_conflicts',
  '_deleted_conflicts',
  '_local_seq',
])

/** @throws HttpError 400 */
export function checkDocumentId(id: unknown): string {
  if (typeof id !== 'string') throw new HttpError(400, 'illegal_docid', 'Document id must be a string')
  if (id === '') throw new HttpError(400, 'illegal_docid', 'Document id must not be empty')
  if (id.startsWith('_') && !id.startsWith('_design/'))
    throw new HttpError(400, 'illegal_docid', 'Only reserved document ids may start with underscore.')
  return id
}

/** In the form that CouchDB gives it: to it 32 hexadecimal digits are 16 bytes. @throws HttpError 400 */
export function checkRevision(rev: unknown): string {
  if (typeof rev !== 'string' || !REVISION.test(rev)) throw badRequest('Invalid rev format')
  return HASHED_REVISION.test(rev) ? rev.toLowerCase() : rev
}

/** Whether there may be such a document here. */
export function isFitId(id: string): boolean {
  return id !== '' && (!id.startsWith('_') || id.startsWith('_design/')) && Buffer.byteLength(id) <= ID_BYTES_MAX
}

/** Whether a document may have such a revision here. @throws HttpError 400 for what is none anywhere */
export function isFitRevision(rev: unknown): rev is string {
  if (typeof rev !== 'string' || !ANY_REVISION.test(rev)) throw badRequest('Invalid rev format')
  return REVISION.test(rev)
}

/** The document as the library takes it, with attachments as bytes. @throws HttpError 400, 413 */
export function checkDocument(document: unknown, newEdits: boolean): JsonObject {
  if (!isJsonObject(document)) throw badRequest('Document must be a JSON object')
  for (const name of Object.keys(document)) {
    if (name.startsWith('_') && !META_FIELDS.has(name))
      throw new HttpError(400, 'doc_validation', `Bad special document member: ${name.slice(0, 80)}`)
  }
  const { _id, _rev, _deleted, _attachments, _revisions } = document
  if (_id !== undefined) checkDocumentId(_id)
  if (_rev !== undefined) checkRevision(_rev)
  if (_deleted !== undefined && typeof _deleted !== 'boolean')
    throw new HttpError(400, 'doc_validation', '`_deleted` must be a boolean')
  if (!newEdits) checkHistory(_rev, _revisions)
  if (_attachments === undefined) return document
  return { ...document, _attachments: checkAttachments(_attachments) }
}

/** Of a replicated revision: it names itself, and its ancestors from newest to oldest. */
function checkHistory(rev: unknown, history: unknown): void {
  if (history === undefined) {
    if (rev === undefined) throw new HttpError(400, 'bad_request', 'A replicated document needs a `_rev`')
    return
  }
  const { start, ids } = isJsonObject(history) ? history : {}
  const isHistory =
    typeof start === 'number' &&
    Number.isInteger(start) &&
    start >= 1 &&
    start < GENERATIONS_MAX &&
    Array.isArray(ids) &&
    ids.length >= 1 &&
    ids.length <= start &&
    ids.every((id) => typeof id === 'string' && id !== '' && id.length <= 255)
  if (!isHistory)
    throw new HttpError(400, 'doc_validation', '`_revisions` must be { start, ids } with ids newest first')
  if (rev !== undefined && rev !== `${start}-${ids[0]}`)
    throw new HttpError(400, 'doc_validation', '`_rev` and `_revisions` disagree')
}

function checkAttachments(attachments: unknown): JsonObject {
  if (!isJsonObject(attachments)) throw badAttachment('Attachments property must be an object')
  const entries = Object.entries(attachments).map(([name, one]) => [name, checkAttachment(name, one)] as const)
  return Object.fromEntries(entries)
}

function checkAttachment(name: string, attachment: unknown): JsonObject {
  if (name === '' || name.startsWith('_'))
    throw new HttpError(400, 'bad_request', `Attachment name '${name.slice(0, 80)}' is not allowed`)
  if (!isJsonObject(attachment)) throw badAttachment(`Attachment '${name}' must be an object`)
  const { content_type, data, stub, digest, encoding } = attachment
  if (content_type !== undefined) checkContentType(content_type)
  if (digest !== undefined && typeof digest !== 'string')
    throw badAttachment(`The digest of '${name}' must be a string`)
  if (data === undefined) {
    if (stub === true) return attachment
    throw badAttachment(`Attachment '${name}' has neither data nor a stub`)
  }
  // What a multipart request brings.
  if (typeof data === 'object' && data !== null && Symbol.asyncIterator in data) return attachment
  if (typeof data !== 'string' || data.length % 4 !== 0 || !BASE64.test(data))
    throw badAttachment(`Invalid attachment data for '${name}'`)
  const bytes = Buffer.from(data, 'base64')
  return { ...attachment, data: encoding === 'gzip' ? unpacked(bytes, name) : bytes }
}

/** @throws HttpError 400 */
export function checkContentType(contentType: unknown): string {
  const isFit =
    typeof contentType === 'string' &&
    contentType !== '' &&
    contentType.length <= CONTENT_TYPE_CHARS_MAX &&
    // oxlint-disable-next-line no-control-regex
    !/[\x00-\x1f\x7f]/.test(contentType)
  if (!isFit) throw badAttachment('`content_type` is no content type')
  return contentType
}

function unpacked(bytes: Uint8Array, name: string): Uint8Array {
  try {
    return gunzipSync(bytes, { maxOutputLength: UNPACKED_BYTES_MAX })
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ERR_BUFFER_TOO_LARGE')
      throw tooLarge(`Attachment '${name}' is too large`)
    throw badAttachment(`Attachment '${name}' is not valid gzip`)
  }
}

function badAttachment(reason: string): HttpError {
  return new HttpError(400, 'bad_request', reason)
}
