/**
 * Writes to the documents of one collection, inside a write transaction. Each is all or nothing: whatever may fail or miss
 * happens before the first change to a tree.
 */
import type { Key } from '../base/brand.ts'
import { PannierError } from '../base/errors.ts'
import { isPlainObject } from '../codec/collation.ts'
import { stringOrder } from '../codec/key-order.ts'
import type { WriteTransaction } from '../kv/key-value-store.ts'
import { applyWrites } from './apply-writes.ts'
import type { WriteResult } from './apply-writes.ts'
import type { BodyView } from './body.ts'
import type { Catalog } from './catalog.ts'
import type { CollectionState } from './collection-state.ts'
import { checkId } from './document-id.ts'
import type { DocumentWrite, MaintainIndexes } from './document-write.ts'
import { DocumentReader } from './document-reader.ts'
import type { StoredDocument } from './document-reader.ts'
import { checkBatchSize, encodeBatch, encodeTombstone, guessShapes } from './encoded-batch.ts'
import type { EncodedBatch } from './encoded-batch.ts'

/**
 * - 'insert': there must be no such document.
 * - 'put': creates, or replaces the document whose revision is the `_rev` given.
 * - 'upsert': creates or replaces, whatever is there.
 */
export type WriteMode = 'insert' | 'put' | 'upsert'

/** A document to be deleted; with `revision` only if that is its current one. */
export interface DeleteTarget {
  readonly id: string
  readonly key: Key
  readonly revision: string | undefined
}

/** What the writes to one collection need. */
export interface WriteContext {
  readonly catalog: Catalog
  readonly name: string
  /** Creates the collection, with the indexes that were declared. */
  readonly create: (transaction: WriteTransaction) => CollectionState
  readonly maintain: MaintainIndexes
}

/**
 * Writes a batch. Of documents with equal ids the last one counts in an 'upsert'; else they are in conflict.
 *
 * @returns aligned with the batch.
 */
export function putDocuments(
  transaction: WriteTransaction,
  context: WriteContext,
  batch: EncodedBatch,
  mode: WriteMode,
): WriteResult[] {
  const { writes } = batch
  if (writes.length === 0) return []
  const byKey = sortedByKey(writes)
  if (hasDuplicates(byKey)) {
    if (mode !== 'upsert') throw duplicate(byKey)
    return putLast(transaction, context, batch)
  }
  const known = context.catalog.collection(transaction, context.name)
  findOld(transaction, known, byKey)
  if (mode !== 'upsert') for (const write of writes) checkRevision(write, mode)
  const state = fitted(transaction, context, known ?? context.create(transaction), batch)
  return applyWrites(transaction, state, writes, byKey, batch.shapes, context.maintain)
}

/** @returns aligned with the targets; undefined where there is no such document. */
export function deleteDocuments(
  transaction: WriteTransaction,
  context: WriteContext,
  targets: readonly DeleteTarget[],
): (WriteResult | undefined)[] {
  const state = context.catalog.collection(transaction, context.name)
  if (state === undefined || targets.length === 0) return targets.map(() => undefined)
  const bodies = new DocumentReader(transaction, state).getMany(targets.map(({ id }) => id))
  const writes = new Map<string, DocumentWrite>()
  targets.forEach(({ id, key, revision }, at) => {
    const old = bodies[at]
    if (old === undefined) return
    if (revision !== undefined && revision !== old.revision) throw conflict(id, old)
    const write = encodeTombstone(id, key)
    write.old = old
    writes.set(id, write)
  })
  const list = [...writes.values()]
  const results = applyWrites(transaction, state, list, sortedByKey(list), state.shapes, context.maintain)
  const byId = new Map(results.map((result) => [result.id, result]))
  return targets.map(({ id }) => byId.get(id))
}

/**
 * Replaces each document by what `change` makes of it; where that is undefined it stays as it is. An id that is named twice
 * is changed once.
 */
export function updateDocuments(
  transaction: WriteTransaction,
  context: WriteContext,
  ids: readonly string[],
  change: (document: StoredDocument) => unknown,
): WriteResult[] {
  const state = context.catalog.collection(transaction, context.name)
  const unique = [...new Set(ids)]
  const reader = state && new DocumentReader(transaction, state)
  const bodies = reader?.getMany(unique) ?? []
  const results = new Map<string, WriteResult>()
  const inputs: unknown[] = []
  const olds: BodyView[] = []
  unique.forEach((id, at) => {
    const old = bodies[at]
    if (reader === undefined || old === undefined) {
      throw new PannierError('PANNIER_NOT_FOUND', `There is no document '${id}'.`, { details: { id } })
    }
    const document = checkChanged(id, change(reader.decode(old)))
    if (document === undefined) {
      results.set(id, { id, rev: old.revision })
      return
    }
    inputs.push(document)
    olds.push(old)
  })
  if (state !== undefined && inputs.length > 0) {
    const batch = encodeBatch(inputs, guessShapes(state, false), unreachableId)
    const { writes } = batch
    writes.forEach((write, at) => (write.old = olds[at]))
    const grown = fitted(transaction, context, state, batch)
    for (const result of applyWrites(transaction, grown, writes, sortedByKey(writes), batch.shapes, context.maintain)) {
      results.set(result.id, result)
    }
  }
  return ids.map((id) => results.get(id)!)
}

/** Checks what a caller wants to have deleted: an id or a document (with or without `_rev`). */
export function checkTargets(inputs: readonly unknown[]): DeleteTarget[] {
  checkBatchSize(inputs.length)
  return inputs.map((input) => {
    const { _id, _rev } = (typeof input === 'object' && input !== null ? input : { _id: input }) as Record<
      string,
      unknown
    >
    if (_rev !== undefined && typeof _rev !== 'string') throw new TypeError('_rev is a string')
    const key = checkId(_id)
    return { id: _id as string, key, revision: _rev }
  })
}

/** What the function given to `update` returned. */
function checkChanged(id: string, changed: unknown): object | undefined {
  if (changed === undefined) return undefined
  if (changed instanceof Promise)
    throw new TypeError('update: the function must not be async; it runs inside the write')
  if (!isPlainObject(changed)) throw new TypeError('update: the function returns a document or undefined')
  const { _id = id } = changed
  if (_id !== id) throw new TypeError('update: the function must not change _id')
  return changed['_id'] === undefined ? { ...changed, _id } : changed
}

function unreachableId(): never {
  throw new TypeError('a document that is updated has an _id')
}

/** Makes batch and collection fit each other; the collection may get more shapes. */
function fitted(
  transaction: WriteTransaction,
  context: WriteContext,
  state: CollectionState,
  batch: EncodedBatch,
): CollectionState {
  const missing = batch.fit(state)
  return missing.length === 0 ? state : context.catalog.addShapes(transaction, state, missing)
}

function checkRevision({ id, revision, old }: DocumentWrite, mode: WriteMode): void {
  const live = old !== undefined && !old.deleted
  if (mode === 'insert') {
    if (live) throw conflict(id, old)
  } else if (live ? revision !== old.revision : revision !== undefined && revision !== old?.revision) {
    throw conflict(id, live ? old : undefined)
  }
}

function conflict(id: string, current: BodyView | undefined): PannierError {
  const rev = current?.revision
  const what = current === undefined ? 'does not exist' : `exists with the revision ${rev}`
  return new PannierError('PANNIER_CONFLICT', `The document '${id}' ${what}.`, { details: { id, rev } })
}

/** Finds for each write the body it replaces: that of the live document, else a tombstone. */
function findOld(
  transaction: WriteTransaction,
  state: CollectionState | undefined,
  byKey: readonly DocumentWrite[],
): void {
  // They may be left over from a run that had to be repeated.
  for (const write of byKey) write.old = undefined
  if (state === undefined) return
  const reader = new DocumentReader(transaction, state)
  const keys = byKey.map(({ key }) => key)
  const live = areBeyondEnd(reader, keys) ? [] : reader.numbersOf(keys)
  const numbers: number[] = []
  const found: DocumentWrite[] = []
  reader.withDeleted(keys, live).forEach((number, at) => {
    if (number === undefined) return
    numbers.push(number)
    found.push(byKey[at]!)
  })
  reader.bodiesOf(numbers).forEach((body, at) => (found[at]!.old = body))
}

/** Whether all these ids are new, as one look at the end of the tree can tell where ids only ever grow. */
function areBeyondEnd(reader: DocumentReader, keys: readonly Key[]): boolean {
  return reader.count() === 0 || (keys.length > 1 && reader.countIds({ gte: keys[0] }) === 0)
}

function sortedByKey(writes: readonly DocumentWrite[]): readonly DocumentWrite[] {
  const order = stringOrder(writes.map(({ key }) => key))
  return order === undefined ? writes : Array.from(order, (place) => writes[place]!)
}

function hasDuplicates(byKey: readonly DocumentWrite[]): boolean {
  return byKey.some(({ key }, at) => at > 0 && key === byKey[at - 1]!.key)
}

function duplicate(byKey: readonly DocumentWrite[]): PannierError {
  const { id } = byKey.find(({ key }, at) => at > 0 && key === byKey[at - 1]!.key)!
  return new PannierError('PANNIER_CONFLICT', `The document '${id}' is in the batch twice.`, { details: { id } })
}

/** Leaves out documents that a later one with the same id replaces. */
function putLast(transaction: WriteTransaction, context: WriteContext, batch: EncodedBatch): WriteResult[] {
  const last = new Map(batch.writes.map((write) => [write.id, write]))
  const results = putDocuments(transaction, context, batch.only([...last.values()]), 'upsert')
  const byId = new Map(results.map((result) => [result.id, result]))
  return batch.writes.map(({ id }) => byId.get(id)!)
}
