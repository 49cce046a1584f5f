/** Documents that are read together with the content of their attachments. */
import { PannierError } from '../../base/errors.ts'
import { readByteString } from '../../codec/bytes.ts'
import type { Snapshot } from '../../kv/key-value-store.ts'
import { decodeAttachments, stubOf } from './attachment-section.ts'
import type { AttachmentEntry, AttachmentStub } from './attachment-section.ts'
import { BlobReader, chunkCount } from './blob-store.ts'

/** How the content of attachments is given inside of documents. */
export type AttachmentForm = 'base64' | 'blob' | 'bytes'

/** An attachment in a document that is read with its attachments. */
export type InlineAttachment = Omit<AttachmentStub, 'length' | 'stub'> & { readonly data: string | Blob | Uint8Array }

/** `_attachments` of a document with all of their content. `section`: of its body. */
export function inlineAttachments(
  snapshot: Snapshot,
  collectionNumber: number,
  section: Uint8Array,
  form: AttachmentForm,
): Record<string, InlineAttachment> {
  const reader = new BlobReader(snapshot, collectionNumber)
  const inlined = decodeAttachments(section).map((entry): [string, InlineAttachment] => {
    const { content_type, digest, revpos } = stubOf(entry)
    const chunks = reader.chunksOf(entry.blob, 0, chunkCount(entry.length))
    return [entry.name, { content_type, digest, revpos, data: toForm(chunks, entry, form) }]
  })
  return Object.fromEntries(inlined)
}

function toForm(
  chunks: readonly Uint8Array[],
  { length, contentType, name }: AttachmentEntry,
  form: AttachmentForm,
): string | Blob | Uint8Array {
  if (form === 'blob') return new Blob(chunks as Uint8Array<ArrayBuffer>[], { type: contentType })
  if (form === 'base64' && length > BASE64_BYTES_MAX) {
    throw new PannierError('PANNIER_ATTACHMENT_TOO_LARGE', `The attachment '${name}' is too long for base64.`)
  }
  const bytes = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return form === 'bytes' ? bytes : btoa(readByteString(bytes, 0, length))
}

/** Strings have a limit of their own, which is lowest in V8: 512 Mi characters. */
const BASE64_BYTES_MAX: number = 380 * 1024 * 1024
