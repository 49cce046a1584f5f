/**
 * Puts writes to documents into the trees of their collection, in the order that the trees are fastest with: ascending. Reads
 * nothing, so it neither misses nor fails.
 */
import { readByteString } from '../codec/bytes.ts'
import { numberKey } from '../codec/key-number.ts'
import type { TreeKind, TreeWriter, WriteTransaction } from '../kv/key-value-store.ts'
import { composeBody, formatRevision, numberBytes, writeBodyHeader } from './body.ts'
import type { CollectionState } from './collection-state.ts'
import { ascendingOrder } from './document-reader.ts'
import type { DocumentWrite, IndexMaintenance } from './document-write.ts'
import type { EntryChange, RevisionChange } from './revision-change.ts'
import { hashRevision } from './revision-hash.ts'
import { hashKey, hashParentValue, parentValue, revisionKey, revisionValue } from './revision-entry.ts'
import { isHashSuffix, suffixArray } from './revision.ts'
import type { Revision } from './revision.ts'

/** The id and the new revision of a document that was written. */
export interface WriteResult {
  readonly id: string
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
  for (const write of writes) appendBody(bodies, write, state)
  const byNumber = sorted(replacing, ({ number }) => number)
  writeMoved(transaction.tree(state.trees.moved)!, byNumber)
  writeIds(transaction.tree(state.trees.ids)!, transaction.tree(state.trees.deleted)!, byKey)
  writeRevisions(transaction, state, byNumber, writes)
  indexes.apply(transaction, state, writes)
}

/** A tree that is made when it is first needed. */
export function madeTree(transaction: WriteTransaction, name: string, kind: TreeKind): TreeWriter {
  return transaction.tree(name) ?? transaction.createTree(name, kind)
}

function appendBody(bodies: TreeWriter, write: DocumentWrite, state: CollectionState): void {
  const { old, plan } = write
  const body = plan === undefined ? simpleBody(write, state) : plannedBody(plan, old?.number)
  write.sequence = bodies.append(body)
  write.number = old === undefined ? write.sequence : old.number
  // The sequence has moved, so whoever follows it sees that something has changed.
  if (write.isGone) bodies.remove(numberKey(write.sequence), body.length)
}

function plannedBody({ winner, hasOtherLeaves }: RevisionChange, number: number | undefined): Uint8Array {
  return winner === undefined ? NOTHING : composeBody(winner.parts, winner.revision, number, hasOtherLeaves)
}

function simpleBody(write: DocumentWrite, { shapes }: CollectionState): Uint8Array {
  const { old, path, bytes, attachments } = write
  let suffix: Uint8Array
  let generation: number
  if (path === undefined) {
    generation = old === undefined ? 1 : old.generation + 1
    suffix = hashRevision(write, old?.suffixBytes, old?.hasTextSuffix === true, shapes)
    write.rev = formatRevision(generation, suffix)
    if (old !== undefined) write.hash = readByteString(suffix, 0, suffix.length)
  } else {
    generation = path[0]!.generation
    if (!isHashSuffix(path[0]!.suffix)) return composeBody(write, path[0]!, old?.number, false)
    suffix = suffixArray(path[0]!.suffix)
  }
  if (attachments !== undefined) return composeBody(write, revisionOf(write, generation), old?.number, false)
  const start = writeBodyHeader(bytes, write.idStart, write.deleted, generation, suffix, old?.number)
  return bytes.subarray(start, write.contentEnd)
}

function writeMoved(moved: TreeWriter, byNumber: readonly DocumentWrite[]): void {
  for (const { old, number, sequence, isGone } of byNumber) {
    const wasMoved = old!.sequence !== number
    if (isGone && wasMoved) moved.remove(numberKey(number))
    else if (!isGone && wasMoved) moved.replace(numberKey(number), numberBytes(sequence))
    else if (!isGone) moved.insert(numberKey(number), numberBytes(sequence))
  }
}

function writeIds(ids: TreeWriter, deletedIds: TreeWriter, byKey: readonly DocumentWrite[]): void {
  for (const write of byKey) {
    const { key, old, number } = write
    const before = old === undefined ? undefined : old.deleted ? deletedIds : ids
    const after = write.isGone ? undefined : write.live === undefined ? deletedIds : ids
    if (before === after) continue
    before?.remove(key)
    after?.insert(key, numberBytes(number))
  }
}

function writeRevisions(
  transaction: WriteTransaction,
  state: CollectionState,
  byNumber: readonly DocumentWrite[],
  writes: readonly DocumentWrite[],
): void {
  for (const write of byNumber) {
    if (write.plan !== undefined) applyPlan(transaction, state, write, write.plan)
    else addEntries(transaction, state, write)
  }
  for (const write of writes) {
    if (write.old !== undefined) continue
    if (write.plan !== undefined) applyPlan(transaction, state, write, write.plan)
    else if (write.pathEntries > 0) addEntries(transaction, state, write)
  }
}

/** The document's revisions are one line. */
function addEntries(transaction: WriteTransaction, state: CollectionState, write: DocumentWrite): void {
  const { path, pathEntries, old, number, stemmed } = write
  const revisions = madeTree(transaction, state.trees.revisions, 'ordered')
  for (const key of stemmed) revisions.remove(key)
  if (path === undefined) {
    const parent = old!.hasTextSuffix ? parentValue(old!.suffix) : hashParentValue(old!.suffixBytes)
    revisions.insert(hashKey(number, old!.generation + 1, write.hash), parent)
  }
  for (let at = pathEntries - 1; at >= 0; at--) {
    revisions.insert(revisionKey(number, path![at]!), parentValue(path![at + 1]!.suffix))
  }
}

function applyPlan(
  transaction: WriteTransaction,
  state: CollectionState,
  { key, number }: DocumentWrite,
  plan: RevisionChange,
): void {
  const { trees } = state
  for (const { sequence, bytes } of plan.removedBodies) {
    transaction.tree(trees.extra)!.remove(numberKey(sequence), bytes.length)
  }
  for (const revision of plan.removed) transaction.tree(trees.revisions)!.remove(revisionKey(number, revision))
  for (const entry of plan.entries) {
    const { revision, known, parent, leaf, deleted } = entry
    const value = revisionValue({ parent, leaf, deleted, body: bodyNumber(transaction, state, number, entry) })
    const revisions = madeTree(transaction, trees.revisions, 'ordered')
    if (known) revisions.replace(revisionKey(number, revision), value)
    else revisions.insert(revisionKey(number, revision), value)
  }
  if (plan.isInConflict === plan.wasInConflict) return
  if (plan.isInConflict) madeTree(transaction, trees.conflicts, 'ordered').insert(key, numberBytes(number))
  else transaction.tree(trees.conflicts)!.remove(key)
}

function bodyNumber(
  transaction: WriteTransaction,
  { trees }: CollectionState,
  number: number,
  { body, revision }: EntryChange,
): number | undefined {
  if (typeof body !== 'object') return body
  return madeTree(transaction, trees.extra, 'sequence').append(composeBody(body, revision, number, false))
}

function revisionOf({ rev }: DocumentWrite, generation: number): Revision {
  return { generation, suffix: rev.slice(rev.indexOf('-') + 1) }
}

function sorted(writes: readonly DocumentWrite[], by: (write: DocumentWrite) => number): readonly DocumentWrite[] {
  if (writes.length < 2) return writes
  return ascendingOrder(writes.map(by))?.map((at) => writes[at]!) ?? writes
}

const NOTHING: Uint8Array = new Uint8Array(1)
