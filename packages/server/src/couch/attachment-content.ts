/** The content of attachments inside documents: finds which attachments a client lacks, and adds them as base64. */
import type { Attachment, AttachmentStub } from 'pannier'
import type { toCouchAttachment } from 'pannier/internal'
import type { RevisionHistory } from 'pannier/types'
import { HttpError, notFound } from '../http/http-error.ts'
import type { JsonObject } from '@pannier/backend/internal'
import type { GuardedCollection } from '@pannier/backend'

/** In CouchDB's JSON. */
type Stubs = Readonly<Record<string, ReturnType<typeof toCouchAttachment<AttachmentStub>>>>

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

/** Names of the attachments that came later than `generation`. */
export function lackingAttachments(document: JsonObject, generation: number): string[] {
  const stubs = stubsOf(document)
  return stubs === undefined ? [] : Object.keys(stubs).filter((name) => stubs[name]!.revpos > generation)
}

/** @throws HttpError 404 if this revision is gone */
export async function openAttachment(
  collection: GuardedCollection,
  document: JsonObject,
  name: string,
): Promise<Attachment> {
  const { _id, _rev } = document as { _id: string; _rev: string }
  const attachment = await collection.getAttachment(_id, name, { rev: _rev })
  if (attachment === undefined) throw notFound('missing')
  return attachment
}

/**
 * The document in JSON, in pieces, because content may be larger than memory. It contains the attachments that came
 * after `generation`.
 *
 * @throws HttpError 404, before there is a piece
 */
export async function documentPieces(
  collection: GuardedCollection,
  document: JsonObject,
  generation: number,
): Promise<AsyncGenerator<string>> {
  const opened = new Map<string, Attachment>()
  for (const name of lackingAttachments(document, generation))
    opened.set(name, await openAttachment(collection, document, name))
  return piecesOf(document, opened)
}

/**
 * A row in JSON whose document has the content of its attachments. `doc` is null if they were replaced since the row
 * was read.
 */
export async function* rowWithContent(
  collection: GuardedCollection,
  { doc, ...row }: JsonObject & { readonly doc?: JsonObject | null },
): AsyncGenerator<string> {
  yield `${JSON.stringify(row).slice(0, -1)},"doc":`
  yield* await documentPieces(collection, doc!, 0).catch(orNull)
  yield '}'
}

function orNull(error: unknown): string[] {
  if (error instanceof HttpError && error.status === 404) return ['null']
  throw error
}

async function* piecesOf(document: JsonObject, opened: ReadonlyMap<string, Attachment>): AsyncGenerator<string> {
  if (opened.size === 0) {
    yield JSON.stringify(document)
    return
  }
  const { _attachments: stubs, ...rest } = document as JsonObject & { readonly _attachments: Stubs }
  yield `${JSON.stringify(rest).slice(0, -1)},"_attachments":{`
  let separator = ''
  for (const [name, stub] of Object.entries(stubs)) {
    const start = `${separator}${JSON.stringify(name)}:`
    separator = ','
    const attachment = opened.get(name)
    if (attachment === undefined) {
      yield start + JSON.stringify(stub)
      continue
    }
    const { content_type, digest, revpos } = stub
    yield `${start}${JSON.stringify({ content_type, digest, revpos }).slice(0, -1)},"data":"`
    yield* base64(attachment.stream())
    yield '"}'
  }
  yield '}}'
}

async function* base64(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let rest: Uint8Array = new Uint8Array(0)
  for await (const piece of pieces) {
    const bytes = Buffer.concat([rest, piece])
    // Three bytes are four characters.
    const end = bytes.length - (bytes.length % 3)
    yield bytes.toString('base64', 0, end)
    rest = bytes.subarray(end)
  }
  yield Buffer.from(rest).toString('base64')
}
