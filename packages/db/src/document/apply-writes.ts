/**
 * Applies planned writes to the trees of their collection, in ascending order, which is fastest for trees. Reads
 * nothing, so it neither misses nor fails.
 */
import type { Key } from '../base/brand.ts'
import { lazyModule } from '../base/lazy-module.ts'
import type * as AttachmentChanges from './attachments/attachment-changes.ts'
import { numberKey } from '../codec/key-encoding.ts'
import type { TreeKind, TreeWriter, WriteTransaction } from '../kv/key-value-store.ts'
import { composeBody, formatRevision, numberBytes, writeBodyHeader, type BodyParts } from './body.ts'
import type { CollectionState } from './catalog.ts'
import { ascendingOrder } from './document-reader.ts'
import type { DocumentWrite, IndexMaintenance } from './document-write.ts'
import { notePurged } from './purged-documents.ts'
import { hashKey, hashParentValue, parentValue, revisionKey } from './revision-entry.ts'
import { hashBytes, type Revision, REVISION_HASH_BYTES } from './revision.ts'
import { hashContent, Hash128 } from '../codec/hash.ts'
import type { ShapeDictionary } from '../codec/shape.ts'

/** The module for attachments of a transaction; throws a Miss when it is not loaded yet. */
export const attachmentWriting: () => typeof AttachmentChanges = lazyModule(
  () => import('./attachments/attachment-changes.ts'),
)

/** The id and the new revision of a document that was written. */
export interface WriteResult {
  /** The id of the document. */
  readonly id: string
  /** The new revision, `N-hash`. */
  readonly rev: string
}

/** Each document occurs once. `byKey`: the writes in the order of their keys. The collection has every shape that they need. */
export function applyWrites(
  transaction: WriteTransaction,
  state: CollectionState,
  writes: readonly DocumentWrite[],
  byKey: readonly DocumentWrite[],
  indexes: IndexMaintenance,
): void {
  const bodies = transaction.tree(state.trees.bodies)!
  const replacing = writes.filter(({ old }) => old !== undefined)
  for (const { old } of sorted(replacing, ({ old }) => old!.sequence)) {
    bodies.remove(numberKey(old!.sequence), old!.bytes.length)
  }
  appendBodies(bodies, writes, state)
  const byNumber = sorted(replacing, ({ number }) => number)
  writeSequences(transaction.tree(state.trees.sequences)!, byNumber)
  writeIds(transaction.tree(state.trees.ids)!, transaction.tree(state.trees.deleted)!, byKey)
  writeRevisions(transaction, state, byNumber, writes)
  indexes.apply(transaction, state, writes)
  const gone = writes.filter(({ isGone }) => isGone)
  if (gone.length > 0) notePurged(transaction, state.number, gone)
}

/** A tree that is made when it is first needed. */
export function ensureTree(transaction: WriteTransaction, name: string, kind: TreeKind): TreeWriter {
  return transaction.tree(name) ?? transaction.createTree(name, kind)
}

function appendBodies(tree: TreeWriter, writes: readonly DocumentWrite[], state: CollectionState): void {
  const bodies = writes.map((write) =>
    write.plan === undefined ? simpleBody(write, state) : write.plan.body(write.old?.number),
  )
  const first = tree.appendMany(bodies)
  for (let at = 0; at < writes.length; at++) {
    const write = writes[at]!
    const { old } = write
    write.sequence = first + at
    write.number = old === undefined ? write.sequence : old.number
    // The sequence has moved, so its readers see a change.
    if (write.isGone) tree.remove(numberKey(write.sequence), bodies[at]!.length)
  }
}

function simpleBody(write: DocumentWrite, { shapes }: CollectionState): Uint8Array {
  const { old, path, bytes, attachments } = write
  let suffix: Uint8Array
  let generation: number
  if (path === undefined) {
    if (old === undefined) {
      generation = 1
      suffix = hashRevision(write, undefined, false, shapes)
    } else {
      generation = old.generation + 1
      suffix = hashRevision(write, old.bytes, old.hasTextSuffix, shapes, old.suffixStart, old.suffixEnd)
      write.entryKey = hashKey(old.number, generation, suffix)
    }
    write.rev = formatRevision(generation, suffix)
  } else {
    generation = path[0]!.generation
    const hash = hashBytes(path[0]!.suffix)
    if (hash === undefined) return composeBody(write, path[0]!, old?.number, false)
    suffix = hash
  }
  if (attachments !== undefined) return composeBody(write, revisionOf(write, generation), old?.number, false)
  const start = writeBodyHeader(bytes, write.idStart, write.deleted, generation, suffix, old?.number)
  return bytes.subarray(start, write.contentEnd)
}

function writeSequences(sequences: TreeWriter, byNumber: readonly DocumentWrite[]): void {
  for (const { old, number, sequence, isGone } of byNumber) {
    const wasMoved = old!.sequence !== number
    if (isGone && wasMoved) sequences.remove(numberKey(number))
    else if (!isGone && wasMoved) sequences.replace(numberKey(number), numberBytes(sequence))
    else if (!isGone) sequences.insert(numberKey(number), numberBytes(sequence))
  }
}

function writeIds(ids: TreeWriter, deletedIds: TreeWriter, byKey: readonly DocumentWrite[]): void {
  const keys: Key[] = []
  const numbers: string[] = []
  for (const write of byKey) {
    const { key, old, number } = write
    const before = old === undefined ? undefined : old.deleted ? deletedIds : ids
    const after = write.isGone ? undefined : write.live === undefined ? deletedIds : ids
    if (before === after) continue
    before?.remove(key)
    if (after === ids) {
      keys.push(key)
      numbers.push(numberBytes(number))
    } else after?.insert(key, numberBytes(number))
  }
  ids.insertMany(keys, numbers)
}

function writeRevisions(
  transaction: WriteTransaction,
  state: CollectionState,
  byNumber: readonly DocumentWrite[],
  writes: readonly DocumentWrite[],
): void {
  let revisions: TreeWriter | undefined
  const added = byNumber.length < writes.length ? writes.filter(({ old }) => old === undefined) : []
  for (const write of [...byNumber, ...added]) {
    if (write.plan !== undefined) write.plan.apply(transaction, state, write)
    else if (write.old !== undefined || write.pathEntries > 0)
      addEntries((revisions ??= ensureTree(transaction, state.trees.revisions, 'ordered')), write)
  }
}

/** The document's revisions are one line. */
function addEntries(revisions: TreeWriter, write: DocumentWrite): void {
  const { path, pathEntries, old, number, stemmed } = write
  for (const key of stemmed) revisions.remove(key)
  if (path === undefined) {
    const { bytes, suffixStart, hasTextSuffix } = old!
    revisions.insert(write.entryKey, hasTextSuffix ? parentValue(old!.suffix) : hashParentValue(bytes, suffixStart))
  }
  for (let at = pathEntries - 1; at >= 0; at--) {
    revisions.insert(revisionKey(number, path![at]!), parentValue(path![at + 1]!.suffix))
  }
}

function revisionOf({ rev }: DocumentWrite, generation: number): Revision {
  return { generation, suffix: rev.slice(rev.indexOf('-') + 1) }
}

function sorted(writes: readonly DocumentWrite[], by: (write: DocumentWrite) => number): readonly DocumentWrite[] {
  if (writes.length < 2) return writes
  const order = ascendingOrder(writes.map(by))
  return order === undefined ? writes : Array.from(order, (at) => writes[at]!)
}

/**
 * `parent`: bytes that hold its suffix as it is stored, from `start` to `end`; undefined for a first edit. The bytes returned hold
 * until the next call.
 */
export function hashRevision(
  { deleted, attachments, bytes, contentStart, contentEnd }: BodyParts,
  parent: Uint8Array | undefined,
  parentIsText: boolean,
  shapes: ShapeDictionary,
  start: number = 0,
  end: number = parent === undefined ? 0 : parent.length,
): Uint8Array {
  hash.reset()
  if (parent !== undefined) {
    if (parentIsText) hash.update(Uint8Array.of(TEXT_PARENT, end - start))
    hash.update(parent, start, end)
  }
  hash.update(deleted ? DELETED : LIVE)
  if (attachments !== undefined) {
    hash.update(Uint8Array.of(ATTACHMENTS))
    attachmentWriting().hashAttachments(hash, attachments)
  }
  if (contentStart < contentEnd) hashContent(hash, bytes, contentStart, contentEnd, shapes)
  hash.digest(revisionHash)
  return revisionHash
}

const hash: Hash128 = new Hash128()
const revisionHash: Uint8Array = new Uint8Array(REVISION_HASH_BYTES)
const LIVE: Uint8Array = new Uint8Array([0])
const DELETED: Uint8Array = new Uint8Array([1])
const TEXT_PARENT = 2
const ATTACHMENTS = 3
