/**
 * The attachments of one version of a document, as a section of its body (document/body.ts). It has everything but
 * their content, which is in a blob that equal attachments share (blob-store.ts). So reading a document with the stubs
 * of its attachments needs no other tree.
 *
 *   count    varint, at least 1
 *   then for each, in the order of the bytes of their names:
 *   name     varint length, WTF-8
 *   type     content type: varint 0 if it is that of the attachment before, else its length + 1, WTF-8
 *   digest   16 bytes: MD5 of the content
 *   length   varint: bytes of the content
 *   revpos   varint: generation of the revision that the attachment came with
 *   blob     varint: number of the blob
 */
import { byteStringOf, ByteReader, corruptBytes, readByteString } from '../../codec/bytes.ts'
import { byteStringToText } from '../../codec/text.ts'

export const DIGEST_BYTES = 16

export interface AttachmentEntry {
  readonly name: string
  readonly contentType: string
  readonly digest: Uint8Array
  readonly length: number
  readonly revpos: number
  readonly blob: number
}

/** The facts of an attachment in a document's `_attachments`. */
export interface AttachmentStub {
  /** The media type. */
  readonly contentType: string
  /** `md5-` and the MD5 of the content in base64, as CouchDB has it. */
  readonly digest: string
  /** Bytes of the content. */
  readonly length: number
  /** Generation of the revision that the attachment came with. */
  readonly revpos: number
  /** Marks an entry without content. */
  readonly stub: true
}

/** In the order of the bytes of their names. Digests are copies. */
export function decodeAttachments(section: Uint8Array): AttachmentEntry[] {
  const reader = new ByteReader(section)
  const entries: AttachmentEntry[] = []
  let keyBefore: string | undefined
  for (let left = reader.varint(); left > 0; left--) {
    const key = byteStringOf(reader, reader.varint())
    if (keyBefore !== undefined && key <= keyBefore) throw corruptBytes('attachments are out of order')
    keyBefore = key
    entries.push({
      name: byteStringToText(key),
      contentType: readContentType(reader, entries.at(-1)?.contentType),
      digest: reader.raw(DIGEST_BYTES).slice(),
      length: reader.varint(),
      revpos: reader.varint(),
      blob: reader.varint(),
    })
  }
  if (entries.length === 0 || !reader.done) throw corruptBytes('attachments do not end where they should')
  return entries
}

/** As documents carry them in `_attachments`. */
export function attachmentStubs(section: Uint8Array): Record<string, AttachmentStub> {
  // Not by assignment: a name may be '__proto__'.
  return Object.fromEntries(decodeAttachments(section).map((entry) => [entry.name, stubOf(entry)]))
}

export function stubOf({ contentType, digest, length, revpos }: AttachmentEntry): AttachmentStub {
  return { contentType, digest: digestText(digest), length, revpos, stub: true }
}

/** 'md5-…' */
export function digestText(digest: Uint8Array): string {
  return `md5-${btoa(readByteString(digest, 0, digest.length))}`
}

function readContentType(reader: ByteReader, before: string | undefined): string {
  const length = reader.varint()
  if (length > 0) return byteStringToText(byteStringOf(reader, length - 1))
  if (before === undefined) throw corruptBytes('an attachment has no content type')
  return before
}

/** Bytes of one attachment. A guard against streams that never end. */
export const ATTACHMENT_BYTES_MAX: number = 2 ** 36
/** Attachments of one document. Each read of the document reads the names of all. */
export const ATTACHMENTS_PER_DOCUMENT_MAX = 1000
/** Bytes of an attachment's name in UTF-8. The document keeps all names. */
export const ATTACHMENT_NAME_BYTES_MAX = 1024
/** Characters of a content type. The document keeps that of each attachment. */
export const CONTENT_TYPE_CHARS_MAX = 256
/** Bytes of all attachments that one transaction writes. They are in memory; outside a transaction they are streamed. */
export const TRANSACTION_ATTACHMENT_BYTES_MAX: number = 64 * 1024 * 1024
