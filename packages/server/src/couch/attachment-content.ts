/** The content of attachments inside of documents: which of them a client lacks, and putting it there as base64. */
import type { Attachment, AttachmentStub, Collection, RevisionHistory } from 'pannier'
import { notFound } from '../http/http-error.ts'
import type { JsonObject } from '../http/request-body.ts'

export type Stubs = Readonly<Record<string, AttachmentStub>>

/**
 * The highest generation of the document's own history that the client has: it has attachments of that generation and before.
 * The document must have `_revisions`.
 */
export function knownGeneration(document: JsonObject, attachmentsSince: readonly string[]): number {
  const history = document['_revisions'] as RevisionHistory | undefined
  if (history === undefined || attachmentsSince.length === 0) return 0
  const { start, ids } = history
  const known = new Set(attachmentsSince)
  const at = ids.findIndex((id, index) => known.has(`${start - index}-${id}`))
  return at === -1 ? 0 : start - at
}

export function stubsOf(document: JsonObject): Stubs | undefined {
  return document['_attachments'] as Stubs | undefined
}

/** Those that came later than `generation`. */
export function lackingAttachments(document: JsonObject, generation: number): string[] {
  const stubs = stubsOf(document)
  return stubs === undefined ? [] : Object.keys(stubs).filter((name) => stubs[name]!.revpos > generation)
}

/** @throws HttpError 404 if this revision is gone meanwhile */
export async function openAttachment(
  collection: Collection<JsonObject>,
  document: JsonObject,
  name: string,
): Promise<Attachment> {
  const { _id, _rev } = document as { _id: string; _rev: string }
  const attachment = await collection.getAttachment(_id, name, { rev: _rev })
  if (attachment === undefined) throw notFound('missing')
  return attachment
}

/** The document with the content of what came later than `generation`. */
export async function withContent(
  collection: Collection<JsonObject>,
  document: JsonObject,
  generation: number,
): Promise<JsonObject> {
  const lacking = lackingAttachments(document, generation)
  if (lacking.length === 0) return document
  const attachments: JsonObject = { ...stubsOf(document) }
  for (const name of lacking) {
    const { content_type, digest, revpos } = stubsOf(document)![name]!
    const bytes = await (await openAttachment(collection, document, name)).bytes()
    attachments[name] = { content_type, digest, revpos, data: Buffer.from(bytes).toString('base64') }
  }
  return { ...document, _attachments: attachments }
}
