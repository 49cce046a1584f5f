/** Writes to the revision trees: resolves conflicts, purges revisions, removes old content. */
import type { Key } from '../base/brand.ts'
import { calling } from '../base/options.ts'
import { numberKey } from '../codec/key-encoding.ts'
import type { KeyRange, WriteTransaction } from '../kv/key-value-store.ts'
import { applyWrites, attachmentWriting, type WriteResult } from './apply-writes.ts'
import { blobTreeName } from './attachments/blob-store.ts'
import type { UploadTarget } from './attachments/upload.ts'
import type { CollectionState } from './catalog.ts'
import { checkId } from './document-id.ts'
import { DocumentPlan } from './document-plan.ts'
import { DocumentReader, type StoredDocument } from './document-reader.ts'
import { notFound, type DocumentWrite } from './document-write.ts'
import { encodeBatch, encodeTombstone, guessShapes } from './encoded-batch.ts'
import { readRevision, revisionValue, type RevisionEntry } from './revision-entry.ts'
import { RevisionReader } from './revision-reads.ts'
import { StoredRevisions } from './stored-revisions.ts'
import { changedDocument, withShapesOf, unreachableId, type WriteContext } from './write-documents.ts'

/** The result of `purge`. */
export interface PurgeResult {
  /** The purged revisions, which were forgotten, ancestors included. */
  readonly purged: readonly string[]
  /** Whether nothing is left of the document. */
  readonly gone: boolean
}

/** Extends the winner by what `choose` makes of the live leaves, winner first, and deletes the others. */
export function resolveConflicts(
  transaction: WriteTransaction,
  context: WriteContext,
  id: string,
  choose: (leaves: StoredDocument[]) => unknown,
): WriteResult {
  const state = context.catalog.collectionToWrite(transaction, context.name)
  const reader = state && new DocumentReader(transaction, state)
  const old = reader?.get(id)
  if (state === undefined || reader === undefined || old === undefined) throw notFound(id)
  const stored = new StoredRevisions(transaction, state)
  const plan = new DocumentPlan(id, stored, old)
  const leaves = plan.tree.leaves().filter(({ deleted }) => !deleted)
  const others = stored.bodies(leaves.slice(1).map(({ body }) => (body as { extra: number }).extra))
  const document = changedDocument('resolve()', id, choose, () => [old, ...others].map((body) => reader.decode(body)))
  if (document === undefined) return { id, rev: old.revision }
  const batch = calling('resolve()', () => encodeBatch([document], guessShapes(state, false), unreachableId))
  const write = batch.writes[0]!
  const attachments = new (attachmentWriting().AttachmentWork)(transaction, state.number)
  attachments.attach(write, leaves[0]!.generation + 1, () => [old, ...others].map((leaf) => leaf.attachments))
  plan.extend(write, leaves[0], batch.shapes)
  for (const leaf of leaves.slice(1)) plan.extend(encodeTombstone(id, write.key), leaf, batch.shapes)
  plan.finish(write, state.settings)
  const work = { writes: [write], shapes: batch.shapes, isRefusable: true }
  const refusal = context.maintenance.prepare(transaction, state, work).get(write)
  if (refusal !== undefined) throw refusal
  attachments.count([write])
  applyWrites(transaction, withShapesOf(transaction, context, state, batch), [write], [write], context.maintenance)
  attachments.apply(transaction, state.number)
  return { id, rev: write.rev }
}

/** `revs`: undefined for all of them. Those that are no leaves stay. */
export function purgeRevisions(
  transaction: WriteTransaction,
  context: WriteContext,
  id: string,
  revs: readonly string[] | undefined,
): PurgeResult {
  const state = context.catalog.collectionToWrite(transaction, context.name)
  const [old] = state === undefined ? [] : new RevisionReader(new DocumentReader(transaction, state)).winners([id])
  if (state === undefined || old === undefined) return { purged: [], gone: false }
  const plan = new DocumentPlan(id, new StoredRevisions(transaction, state), old)
  const purged: string[] = []
  for (const leaf of revs?.map((rev) => plan.tree.get(rev)) ?? plan.tree.leaves()) {
    if (leaf?.children === 0) purged.push(...plan.purge(leaf))
  }
  if (purged.length === 0) return { purged, gone: false }
  const write: DocumentWrite = encodeTombstone(id, checkId(id))
  plan.finish(write, state.settings)
  const attachments = new (attachmentWriting().AttachmentWork)(transaction, state.number)
  attachments.count([write])
  context.maintenance.prepare(transaction, state, { writes: [write], shapes: state.shapes, isRefusable: false })
  applyWrites(transaction, state, [write], [write], context.maintenance)
  attachments.apply(transaction, state.number)
  return { purged, gone: write.isGone }
}

/** Entries that one step of `compactRevisions` looks at. */
const COMPACTED_ENTRIES_MAX = 2000

export interface CompactStep {
  /** Where to continue; undefined: that was all. */
  readonly next: Key | undefined
  /** The number of forgotten revisions, which have lost their content. */
  readonly forgotten: number
}

/** Forgets the content of ancestors in a range, as far as a step goes. */
export function compactRevisions(transaction: WriteTransaction, state: CollectionState, range: KeyRange): CompactStep {
  const revisions = transaction.tree(state.trees.revisions)
  if (revisions === undefined) return { next: undefined, forgotten: 0 }
  const cursor = revisions.cursor(range)
  const entries: { readonly key: Key; readonly entry: RevisionEntry; readonly body: number }[] = []
  let next: Key | undefined
  for (let looks = 0; next === undefined && cursor.next(); looks++) {
    const entry = readRevision(cursor.key, cursor.value)
    if (looks === COMPACTED_ENTRIES_MAX) next = cursor.key
    else if (!entry.leaf && entry.body !== undefined) entries.push({ key: cursor.key, entry, body: entry.body })
  }
  entries.sort((left, right) => left.body - right.body)
  const bodies = new StoredRevisions(transaction, state).bodies(entries.map(({ body }) => body))
  const attachments = new (attachmentWriting().AttachmentWork)(transaction, state.number)
  for (const body of bodies) attachments.remove(body.attachments)
  attachments.load()
  const extra = transaction.tree(state.trees.otherBodies)
  for (const { sequence, bytes } of bodies) extra!.remove(numberKey(sequence), bytes.length)
  for (const { key, entry } of entries) {
    if (entry.parent === undefined) revisions.remove(key)
    else revisions.replace(key, revisionValue({ parent: entry.parent, leaf: false, deleted: false, body: undefined }))
  }
  attachments.apply(transaction, state.number)
  return { next, forgotten: entries.length }
}

/** Forgets what uploads have left whose tab or process died. */
export function forgetDeadUploads(
  transaction: WriteTransaction,
  { catalog, name }: WriteContext,
  { live, environment }: UploadTarget,
): void {
  const state = catalog.collection(transaction, name)
  if (state === undefined || transaction.tree(blobTreeName(state.number)) === undefined) return
  attachmentWriting().reclaimUploads(transaction, state.number, environment.wallClock(), (token) => live.has(token))
}
