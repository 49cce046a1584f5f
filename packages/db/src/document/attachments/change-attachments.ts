/** Changes and reads of single attachments of a document that is stored, inside a transaction or snapshot. */
import { PannierError } from '../../base/errors.ts'
import { idKey } from '../../codec/key-encoding.ts'
import type { Snapshot, WriteTransaction } from '../../kv/key-value-store.ts'
import type { WriteResult } from '../apply-writes.ts'
import type { BodyView } from '../body.ts'
import type { CollectionState } from '../catalog.ts'
import { DocumentReader } from '../document-reader.ts'
import { encodeBatch, guessShapes } from '../encoded-batch.ts'
import { loadRevisions } from '../document-plan.ts'
import { StoredRevisions } from '../stored-revisions.ts'
import { conflict } from '../document-write.ts'
import { putDocuments, unreachableId, type WriteContext } from '../write-documents.ts'
import { decodeAttachments, type AttachmentEntry } from './attachment-section.ts'
import type { PreparedAttachment } from './prepare.ts'

/**
 * Writes a document with other attachments, otherwise unchanged.
 *
 * @param rev The leaf that is meant; undefined: the winner, or a new document.
 * @param created What is written where there is no document; an error: why there must not be such a one.
 * @param change Gets the present attachments, and returns the new ones; undefined: nothing is done.
 * @throws PANNIER_CONFLICT if `rev` is no leaf.
 */
export function changeAttachments(
  transaction: WriteTransaction,
  context: WriteContext,
  id: string,
  rev: string | undefined,
  created: object | undefined,
  change: (entries: readonly AttachmentEntry[]) => readonly PreparedAttachment[] | undefined,
): WriteResult | undefined {
  const state = context.catalog.collection(transaction, context.name)
  const body = state && findRevision(transaction, state, id, rev)
  if (rev !== undefined && body === undefined)
    throw conflict(id, state && findRevision(transaction, state, id, undefined))
  const changed = change(body?.attachments === undefined ? [] : decodeAttachments(body.attachments))
  if (changed === undefined) return undefined
  const document = body === undefined ? created : new DocumentReader(transaction, state!).decode(body)
  if (document instanceof PannierError) throw document
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
  const key = [idKey(id)]
  const [number] = reader.withDeleted(key, reader.numbersOf(key))
  const [winner] = number === undefined ? [] : reader.bodiesOf([number])
  if (winner === undefined || winner.revision === rev) return winner
  const stored = new StoredRevisions(snapshot, state)
  const extra = loadRevisions(stored, winner).tree.get(rev)?.body?.extra
  return extra === undefined ? undefined : stored.bodies([extra])[0]
}
