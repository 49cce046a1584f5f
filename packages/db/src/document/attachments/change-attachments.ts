/** Changes and reads of single attachments of a document that is stored, inside a transaction or snapshot. */
import { PannierError } from '../../base/errors.ts'
import { readByteString } from '../../codec/bytes.ts'
import { encodeIdKey } from '../../codec/key-encoding.ts'
import type { Snapshot, WriteTransaction } from '../../kv/key-value-store.ts'
import type { WriteResult } from '../apply-writes.ts'
import type { BodyView } from '../body.ts'
import type { CollectionState } from '../collection-state.ts'
import { DocumentReader } from '../document-reader.ts'
import type { StoredDocument } from '../document-reader.ts'
import { encodeBatch, guessShapes } from '../encoded-batch.ts'
import { conflict } from '../plan-writes.ts'
import { StoredRevisions } from '../stored-revisions.ts'
import { putDocuments, unreachableId } from '../write-documents.ts'
import type { WriteContext } from '../write-documents.ts'
import { decodeAttachments, stubOf } from './attachment-section.ts'
import type { AttachmentEntry, AttachmentStub } from './attachment-section.ts'
import { BlobReader, chunkCount } from './blob-store.ts'
import type { PreparedAttachment } from './prepare.ts'

/**
 * Writes a document with other attachments, and else as it is.
 *
 * @param rev The leaf that is meant; undefined: the document as it is now, also if there is none.
 * @param change Is given the attachments that there are, and gives those that there shall be; undefined: nothing is done.
 * @throws PANNIER_CONFLICT if `rev` is no leaf.
 */
export function changeAttachments(
  transaction: WriteTransaction,
  context: WriteContext,
  id: string,
  rev: string | undefined,
  change: (entries: readonly AttachmentEntry[]) => readonly PreparedAttachment[] | undefined,
): WriteResult | undefined {
  const state = context.catalog.collection(transaction, context.name)
  const body = state && findRevision(transaction, state, id, rev)
  if (rev !== undefined && body === undefined)
    throw conflict(id, state && findRevision(transaction, state, id, undefined))
  const changed = change(body?.attachments === undefined ? [] : decodeAttachments(body.attachments))
  if (changed === undefined) return undefined
  const document = body === undefined ? { _id: id } : new DocumentReader(transaction, state!).decode(body)
  const batch = encodeBatch([document], guessShapes(state, false), unreachableId)
  batch.writes[0]!.prepared = changed
  return putDocuments(transaction, context, batch, 'put')[0]
}

/** Keeps an attachment as it is. */
export function keptAttachment({ name, contentType }: AttachmentEntry): PreparedAttachment {
  return { name, contentType, content: undefined, digest: undefined, revpos: undefined }
}

/** The revision of a document, or the one that wins if it is live; undefined if it or its content is not there. */
export function findRevision(
  snapshot: Snapshot,
  state: CollectionState,
  id: string,
  rev: string | undefined,
): BodyView | undefined {
  const reader = new DocumentReader(snapshot, state)
  if (rev === undefined) return reader.get(id)
  const key = [encodeIdKey(id)]
  const [number] = reader.withDeleted(key, reader.numbersOf(key))
  const [winner] = number === undefined ? [] : reader.bodiesOf([number])
  if (winner === undefined || winner.revision === rev) return winner
  const stored = new StoredRevisions(snapshot, state)
  const extra = stored.load(winner).tree.get(rev)?.body?.extra
  return extra === undefined ? undefined : stored.bodies([extra])[0]
}

/** How the content of attachments is given inside of documents. */
export type AttachmentForm = 'base64' | 'blob' | 'bytes'

/** An attachment in a document that is read with its attachments. */
export type InlineAttachment = Omit<AttachmentStub, 'length' | 'stub'> & { readonly data: string | Blob | Uint8Array }

/** Gives the stubs of a document their content, all of which is in memory then. `section`: of the body that it was read from. */
export function inlineAttachments(
  snapshot: Snapshot,
  state: CollectionState,
  document: StoredDocument,
  section: Uint8Array | undefined,
  form: AttachmentForm,
): StoredDocument {
  if (section === undefined) return document
  const reader = new BlobReader(snapshot, state.number)
  const inlined = decodeAttachments(section).map((entry): [string, InlineAttachment] => {
    const { content_type, digest, revpos } = stubOf(entry)
    const chunks = reader.chunksOf(entry.blob, 0, chunkCount(entry.length))
    return [entry.name, { content_type, digest, revpos, data: toForm(chunks, entry, form) }]
  })
  return { ...document, _attachments: Object.fromEntries(inlined) }
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
