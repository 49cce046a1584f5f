/** The attachment operations of collections. Loaded when the first attachment is written or read. */
import { isPannierError, PannierError } from '../../base/errors.ts'
import { checkOptions, type OptionNames, badArgument, calling } from '../../base/options.ts'
import type { WriteResult } from '../../document/apply-writes.ts'
import { checkAttachments, checkContent, checkName } from '../../document/attachments/attachment-input.ts'
import type { AttachmentContent, CheckedAttachment } from '../../document/attachments/attachment-input.ts'
import { ATTACHMENTS_PER_DOCUMENT_MAX, decodeAttachments } from '../../document/attachments/attachment-section.ts'
import { Attachment, checkRange, type BlobSource, type ByteRange } from '../../document/attachments/attachment.ts'
import { changeAttachments, findRevision, keptAttachment } from '../../document/attachments/change-attachments.ts'
import { AttachmentPreparation } from '../../document/attachments/prepare.ts'
import { checkId } from '../../document/document-id.ts'
import type { DocumentWrite } from '../../document/document-write.ts'
import type { CollectionAccess } from './collection-access.ts'
import { uploadTarget } from './upload-target.ts'

/** Options of `putAttachment`. */
export interface PutAttachmentOptions {
  /** By default that of the Blob, of a text 'text/plain;charset=utf-8', else 'application/octet-stream'. */
  readonly contentType?: string
  /** Only if this is the current revision of the document (or one of several in conflict). */
  readonly rev?: string
  /** Gives up: the source is cancelled, and what was stored of it is forgotten. */
  readonly signal?: AbortSignal
}

/** Options of `getAttachment`: a range of bytes, and the revision of the document. */
export interface GetAttachmentOptions extends ByteRange {
  /** The revision of the document. */
  readonly rev?: string
}

/** Options of `deleteAttachment`. */
export interface DeleteAttachmentOptions {
  /** Only if this is the current revision of the document (or one of several in conflict). */
  readonly rev?: string
}

const PUT_OPTIONS: OptionNames<PutAttachmentOptions> = { contentType: true, rev: true, signal: true }
const GET_OPTIONS: OptionNames<GetAttachmentOptions> = { start: true, end: true, rev: true }
const DELETE_OPTIONS: OptionNames<DeleteAttachmentOptions> = { rev: true }

/** Runs `write` once the content of the attachments of these documents is at hand. */
export async function writeWithAttachments<R>(
  access: CollectionAccess,
  writes: readonly DocumentWrite[],
  atomic: boolean,
  write: () => Promise<R>,
): Promise<R> {
  const checked = writes.map((one) => checkInputs(one, atomic))
  const preparation = new AttachmentPreparation(uploadTarget(access))
  try {
    for (const [at, attachments] of checked.entries())
      if (attachments !== undefined) writes[at]!.prepared = await preparation.prepare(attachments)
    return await write()
  } finally {
    await preparation.end()
  }
}

export async function putAttachment(
  access: CollectionAccess,
  id: string,
  name: string,
  content: AttachmentContent,
  options: PutAttachmentOptions,
): Promise<WriteResult> {
  const call = 'putAttachment()'
  checkOptions(call, options, PUT_OPTIONS)
  const { contentType, rev, signal } = options
  checkReference(call, id, name, rev)
  const checked = calling(call, () => checkContent(name, content, contentType))
  const created = await newDocument(access, id)
  const preparation = new AttachmentPreparation(uploadTarget(access), signal)
  try {
    const added = await preparation.prepare([checked])
    const written = await access.write((transaction) =>
      changeAttachments(transaction, access.writing, id, rev, created, (entries) => {
        const kept = entries.filter((entry) => entry.name !== name)
        if (kept.length >= ATTACHMENTS_PER_DOCUMENT_MAX) throw tooMany(id)
        return [...kept.map(keptAttachment), ...added]
      }),
    )
    return written!
  } finally {
    await preparation.end()
  }
}

export async function deleteAttachment(
  access: CollectionAccess,
  id: string,
  name: string,
  options: DeleteAttachmentOptions,
): Promise<WriteResult | undefined> {
  const call = 'deleteAttachment()'
  checkOptions(call, options, DELETE_OPTIONS)
  const { rev } = options
  checkReference(call, id, name, rev)
  return access.write((transaction) =>
    changeAttachments(transaction, access.writing, id, rev, undefined, (entries) => {
      const kept = entries.filter((entry) => entry.name !== name)
      return kept.length === entries.length ? undefined : kept.map(keptAttachment)
    }),
  )
}

export async function getAttachment(
  access: CollectionAccess,
  id: string,
  name: string,
  options: GetAttachmentOptions,
): Promise<Attachment | undefined> {
  const call = 'getAttachment()'
  checkOptions(call, options, GET_OPTIONS)
  const { rev, start, end } = options
  checkReference(call, id, name, rev)
  const range = { ...(start !== undefined && { start }), ...(end !== undefined && { end }) }
  checkRange(range, call)
  return await access.read((snapshot) => {
    const state = access.writing.catalog.collection(snapshot, access.writing.name)
    const section = state && findRevision(snapshot, state, id, rev)?.attachments
    const entry = section && decodeAttachments(section).find((one) => one.name === name)
    return entry && new Attachment(entry, state!.number, () => openBlobs(access), range)
  })
}

/** A document with only an attachment, as the schema makes it, or why it refuses it. */
async function newDocument(access: CollectionAccess, id: string): Promise<object> {
  const validator = await access.writing.schema.validator
  return (await validator?.check({ _id: id })) ?? { _id: id }
}

async function openBlobs(access: CollectionAccess): Promise<BlobSource> {
  const source = await access.openSource()
  const { snapshot, collection } = source.documents
  return {
    snapshot,
    collectionNumber: collection.number,
    attempt: (read) => source.attempt(read),
    release: () => source.release(),
  }
}

function checkInputs(write: DocumentWrite, atomic: boolean): CheckedAttachment[] | undefined {
  if (write.attachmentInputs === undefined || write.error !== undefined) return undefined
  try {
    return checkAttachments(write.attachmentInputs)
  } catch (error) {
    if (atomic || !isPannierError(error)) throw error
    write.error = error
    return undefined
  }
}

function checkReference(call: string, id: unknown, name: unknown, rev: unknown): void {
  calling(call, () => {
    checkId(id)
    checkName(name)
  })
  if (rev !== undefined && typeof rev !== 'string') throw badArgument(call, 'rev must be a string', rev)
}

function tooMany(id: string): PannierError {
  return new PannierError(
    'PANNIER_LIMIT_EXCEEDED',
    `A document has at most ${ATTACHMENTS_PER_DOCUMENT_MAX} attachments; '${id}' has as many.`,
  )
}
