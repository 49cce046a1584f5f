/**
 * CouchDB's JSON of attachments, on the wire and in its file formats: it has `content_type` where the library has `contentType`. All
 * other members have one name. Nothing else in the library knows both names.
 */
import { isPlainObject } from '../../codec/collation.ts'

/** An attachment as CouchDB's JSON has it. */
export function toCouchAttachment<A extends { readonly contentType?: unknown }>({
  contentType,
  ...others
}: A): Omit<A, 'contentType'> & { readonly content_type: A['contentType'] } {
  return { content_type: contentType, ...others }
}

/** The attachment in the library's form. */
export function fromCouchAttachment({ content_type: contentType, ...others }: Attachment): Attachment {
  return contentType === undefined ? others : { ...others, contentType }
}

/** A document as CouchDB's JSON has it; itself if it has no attachments. */
export function toCouchDocument<Document extends object>(document: Document): Document {
  return withAttachments(document, toCouchAttachment)
}

/** The document in the library's form. */
export function fromCouchDocument<Document extends object>(document: Document): Document {
  return withAttachments(document, fromCouchAttachment)
}

type Attachment = Readonly<Record<string, unknown>>

function withAttachments<Document extends object>(
  document: Document,
  translate: (attachment: Attachment) => object,
): Document {
  const { _attachments: attachments } = document as { readonly _attachments?: unknown }
  if (!isPlainObject(attachments)) return document
  const entries = Object.entries(attachments).map(([name, one]) => [name, isPlainObject(one) ? translate(one) : one])
  return { ...document, _attachments: Object.fromEntries(entries) as unknown }
}
