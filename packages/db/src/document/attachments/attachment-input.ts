/** Checks attachments that callers pass in, at once, so that a wrong argument is a TypeError that names its place. */
import { PannierError } from '../../base/errors.ts'
import { ArgumentError } from '../../base/options.ts'
import { isPlainObject } from '../../codec/collation.ts'
import { textToByteString } from '../../codec/text.ts'
import {
  ATTACHMENT_NAME_BYTES_MAX,
  ATTACHMENTS_PER_DOCUMENT_MAX,
  CONTENT_TYPE_CHARS_MAX,
} from './attachment-section.ts'

/**
 * Content of an attachment in a document. A string is base64, as in CouchDB's JSON. Streams are read once, a Blob in pieces: neither is ever
 * held in memory as a whole. Bytes must not be changed before the write has ended.
 */
export type AttachmentData =
  | Blob
  | ArrayBuffer
  | ArrayBufferView
  | string
  | ReadableStream<Uint8Array>
  | AsyncIterable<Uint8Array>

/** Content as `putAttachment` takes it: a string is text; base64 is said. */
export type AttachmentContent = AttachmentData | { readonly base64: string }

/** A new attachment in `_attachments` of a document that is written. */
export interface AttachmentInput {
  /** The content. */
  readonly data: AttachmentData
  /** By default that of the Blob, else 'application/octet-stream'. */
  readonly contentType?: string
}

/** Keeps the attachment of that name which the revision before has. The stubs of documents that were read are such. */
export interface AttachmentStubInput {
  /** Keeps the attachment that the document has under this name. */
  readonly stub: true
  /** If given it must be that of the attachment. */
  readonly digest?: string
}

/** `_attachments` of a document that is written: what is not named in it goes. */
export type AttachmentInputs = Readonly<Record<string, AttachmentInput | AttachmentStubInput>>

/** One attachment as it was handed in. */
export interface CheckedAttachment {
  readonly name: string
  readonly contentType: string
  /** The data: bytes where they were base64. Undefined: a stub. */
  readonly data: Exclude<AttachmentData, string> | undefined
  /** The digest of a stub, if it has one. */
  readonly digest: string | undefined
  /** Generation that the attachment came with, if the document says so. */
  readonly revpos: number | undefined
}

const CONTENT_TYPE_DEFAULT = 'application/octet-stream'
const DATA_TYPES = 'a Blob, bytes, a ReadableStream or an async iterable'
const CONTENT_TYPE_TEXT = 'text/plain;charset=utf-8'

/** `attachments`: the document's `_attachments`. */
export function checkAttachments(attachments: unknown): CheckedAttachment[] {
  if (!isPlainObject(attachments)) throw new ArgumentError('_attachments must be an object', attachments)
  const names = Object.keys(attachments)
  if (names.length > ATTACHMENTS_PER_DOCUMENT_MAX) {
    throw new PannierError(
      'PANNIER_LIMIT_EXCEEDED',
      `A document has at most ${ATTACHMENTS_PER_DOCUMENT_MAX} attachments, not ${names.length}.`,
    )
  }
  return names.map((name) => checkAttachment(name, attachments[name], `_attachments[${JSON.stringify(name)}]`))
}

/** The content that `putAttachment` is given. */
export function checkContent(name: string, content: unknown, contentType: string | undefined): CheckedAttachment {
  const isText = typeof content === 'string'
  const isBase64 = isPlainObject(content) && typeof content['base64'] === 'string'
  const data = isText ? new TextEncoder().encode(content) : isBase64 ? content['base64'] : content
  if (!isBase64 && !isData(data))
    throw new ArgumentError(`content must be text, { base64: '…' } or ${DATA_TYPES}`, content)
  return checkAttachment(
    name,
    { data, contentType: contentType ?? (isText ? CONTENT_TYPE_TEXT : undefined) },
    'content',
  )
}

/** `path` says in messages where it stands. */
function checkAttachment(name: unknown, input: unknown, path: string): CheckedAttachment {
  const checkedName = checkName(name)
  if (!isPlainObject(input)) throw new ArgumentError(`${path} must be an object`, input)
  if (Object.hasOwn(input, 'content_type')) throw new ArgumentError(`${path} must use contentType`, 'content_type')
  const { data, stub, digest, revpos, contentType } = input
  if (data !== undefined) {
    const checked = checkData(data, `${path}.data`)
    const typeOfData = checked instanceof Blob && checked.type !== '' ? checked.type : CONTENT_TYPE_DEFAULT
    const checkedType = checkContentType(contentType ?? typeOfData, `${path}.contentType`)
    return {
      name: checkedName,
      contentType: checkedType,
      data: checked,
      digest: undefined,
      revpos: checkRevpos(revpos),
    }
  }
  if (stub !== true) throw new ArgumentError(`${path} must have data or stub: true`, input)
  if (digest !== undefined && typeof digest !== 'string')
    throw new ArgumentError(`${path}.digest must be a string`, digest)
  return { name: checkedName, contentType: CONTENT_TYPE_DEFAULT, data: undefined, digest, revpos: undefined }
}

export function checkName(name: unknown): string {
  if (typeof name !== 'string' || name === '')
    throw new ArgumentError('the name of an attachment must be a string that is not empty', name)
  if (name.startsWith('_')) throw new ArgumentError(`the name of an attachment must not start with '_'`, name)
  const length = textToByteString(name).length
  if (length > ATTACHMENT_NAME_BYTES_MAX) {
    throw new PannierError(
      'PANNIER_KEY_TOO_LARGE',
      `The name of an attachment takes ${length} bytes; ${ATTACHMENT_NAME_BYTES_MAX} are allowed.`,
    )
  }
  return name
}

function checkContentType(contentType: unknown, path: string): string {
  if (typeof contentType !== 'string' || contentType === '' || contentType.length > CONTENT_TYPE_CHARS_MAX)
    throw new ArgumentError(`${path} must be a string of 1 to ${CONTENT_TYPE_CHARS_MAX} characters`, contentType)
  // It ends up in headers of HTTP.
  // oxlint-disable-next-line no-control-regex
  if (/[\x00-\x1f\x7f]/.test(contentType))
    throw new ArgumentError(`${path} must not have control characters`, contentType)
  return contentType
}

function checkRevpos(revpos: unknown): number | undefined {
  return typeof revpos === 'number' && Number.isSafeInteger(revpos) && revpos > 0 ? revpos : undefined
}

function checkData(data: unknown, path: string): Exclude<AttachmentData, string> {
  if (typeof data === 'string') return decodeBase64(data, path)
  if (isData(data)) return data
  throw new ArgumentError(`${path} must be base64 or ${DATA_TYPES}`, data)
}

function isData(data: unknown): data is Exclude<AttachmentData, string> {
  if (data instanceof Blob || data instanceof ArrayBuffer || ArrayBuffer.isView(data)) return true
  return isStream(data) || isAsyncIterable(data)
}

export function isStream(data: unknown): data is ReadableStream<Uint8Array> {
  return typeof data === 'object' && data !== null && typeof (data as { getReader?: unknown }).getReader === 'function'
}

function isAsyncIterable(data: unknown): data is AsyncIterable<Uint8Array> {
  return (
    typeof data === 'object' &&
    data !== null &&
    typeof (data as { [Symbol.asyncIterator]?: unknown })[Symbol.asyncIterator] === 'function'
  )
}

function decodeBase64(text: string, path: string): Uint8Array {
  let decoded: string
  try {
    decoded = atob(text)
  } catch {
    throw new ArgumentError(`${path} must be base64`, text)
  }
  const bytes = new Uint8Array(decoded.length)
  for (let at = 0; at < bytes.length; at++) bytes[at] = decoded.charCodeAt(at)
  return bytes
}
