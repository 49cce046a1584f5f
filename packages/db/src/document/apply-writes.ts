/**
 * Puts writes to documents into the trees of their collection, in the order that the trees are fastest with: ascending. Reads
 * nothing, so it neither misses nor fails.
 */
import { hashContent } from '../codec/encode-document.ts'
import { Hash128 } from '../codec/hash128.ts'
import { numberKey } from '../codec/key-number.ts'
import type { ShapeDictionary } from '../codec/shape.ts'
import type { TreeWriter, WriteTransaction } from '../kv/key-value-store.ts'
import { formatRevision, numberBytes, REVISION_HASH_BYTES, writeBodyHeader } from './body.ts'
import type { CollectionState } from './collection-state.ts'
import { ascendingOrder } from './document-reader.ts'
import type { DocumentWrite, MaintainIndexes } from './document-write.ts'

/** The id and the new revision of a document that was written. */
export interface WriteResult {
  readonly id: string
  readonly rev: string
}

/** Each document occurs once. `byKey`: the writes in the order of their keys. `shapes`: what the contents refer to. */
export function applyWrites(
  transaction: WriteTransaction,
  state: CollectionState,
  writes: readonly DocumentWrite[],
  byKey: readonly DocumentWrite[],
  shapes: ShapeDictionary,
  maintain: MaintainIndexes,
): WriteResult[] {
  const bodies = transaction.tree(state.trees.bodies)!
  const replacing = writes.filter(({ old }) => old !== undefined)
  for (const { old } of sorted(replacing, ({ old }) => old!.sequence)) {
    bodies.remove(numberKey(old!.sequence), old!.bytes.length)
  }
  const results = writes.map((write) => appendBody(bodies, write, shapes))
  const moved = transaction.tree(state.trees.moved)!
  for (const { old, number, sequence } of sorted(replacing, ({ number }) => number)) {
    if (old!.sequence === number) moved.insert(numberKey(number), numberBytes(sequence))
    else moved.replace(numberKey(number), numberBytes(sequence))
  }
  writeIds(transaction.tree(state.trees.ids)!, transaction.tree(state.trees.deleted)!, byKey)
  maintain(transaction, state, writes, shapes)
  return results
}

function appendBody(bodies: TreeWriter, write: DocumentWrite, shapes: ShapeDictionary): WriteResult {
  const { old, deleted, bytes } = write
  const generation = old === undefined ? 1 : old.generation + 1
  hash.reset()
  if (old !== undefined) hash.update(old.hash)
  hash.update(deleted ? DELETED : LIVE)
  if (!deleted) hashContent(hash, bytes, write.contentStart, write.contentEnd, shapes)
  hash.digest(hashBytes)
  const start = writeBodyHeader(bytes, write.idStart, deleted, generation, hashBytes, old?.number)
  write.sequence = bodies.append(bytes.subarray(start, write.contentEnd))
  write.number = old === undefined ? write.sequence : old.number
  return { id: write.id, rev: formatRevision(generation, hashBytes) }
}

function writeIds(ids: TreeWriter, deletedIds: TreeWriter, byKey: readonly DocumentWrite[]): void {
  for (const { key, old, deleted, number } of byKey) {
    const wasLive = old !== undefined && !old.deleted
    if (wasLive !== deleted) continue
    if (deleted) {
      ids.remove(key)
      deletedIds.insert(key, numberBytes(number))
    } else {
      if (old !== undefined) deletedIds.remove(key)
      ids.insert(key, numberBytes(number))
    }
  }
}

function sorted(writes: readonly DocumentWrite[], by: (write: DocumentWrite) => number): readonly DocumentWrite[] {
  if (writes.length < 2) return writes
  return ascendingOrder(writes.map(by))?.map((at) => writes[at]!) ?? writes
}

const hash: Hash128 = new Hash128()
const hashBytes: Uint8Array = new Uint8Array(REVISION_HASH_BYTES)
const LIVE: Uint8Array = new Uint8Array([0])
const DELETED: Uint8Array = new Uint8Array([1])
