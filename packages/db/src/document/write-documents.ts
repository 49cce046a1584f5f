/**
 * Writes documents of one collection inside a write transaction. Everything that may fail or miss happens before the
 * first change of a tree.
 */
import { notPromised } from '../base/callback.ts'
import type { Key } from '../base/brand.ts'
import type { PannierError } from '../base/errors.ts'
import { ArgumentError, calling, badArgument } from '../base/options.ts'
import { stringOrder } from '../codec/key-order.ts'
import type { WriteTransaction } from '../kv/key-value-store.ts'
import { applyWrites, type WriteResult } from './apply-writes.ts'
import type { BodyView } from './body.ts'
import { type Catalog, DEFAULT_SETTINGS, type CollectionSettings, type CollectionState } from './catalog.ts'
import { type DeleteTarget, encodeBatch, EncodedBatch, encodeTombstone, guessShapes } from './encoded-batch.ts'
import {
  notFound,
  type DocumentWrite,
  type IndexMaintenance,
  type PlannedWrites,
  type Refusals,
  type WriteMode,
} from './document-write.ts'
import { DocumentReader, type StoredDocument } from './document-reader.ts'
import { onlyOf, planWrites } from './plan-writes.ts'
import { isPlainObject, isSame } from '../codec/collation.ts'

export type { WriteMode }

/** The outcome of a document in a batch that is not all or nothing. */
export type WriteOutcome = WriteResult | WriteFailure

/** A document of a batch with `atomic: false` that was not written. */
export interface WriteFailure {
  /** The id of the document. */
  readonly id: string
  /** The error: why it was not written. */
  readonly error: PannierError
}

/** The parts that writes to one collection need. */
export interface WriteContext {
  readonly catalog: Catalog
  readonly name: string
  /** Creates the collection, with the indexes and settings that were declared. */
  readonly create: (transaction: WriteTransaction) => CollectionState
  readonly maintenance: IndexMaintenance
  /** Refuses documents before anything is planned; in the order of the batch. May miss. */
  readonly judge?: (transaction: WriteTransaction, state: CollectionState | undefined, batch: EncodedBatch) => Refusals
  /** The settings that the collection gets when it is created. */
  readonly settings?: () => CollectionSettings
}

/**
 * Writes a batch. Of documents with equal ids the last one counts in an 'upsert'; else each is a write of its own.
 *
 * @param atomic All or nothing: the first failure is thrown. Otherwise it is the outcome of its document alone.
 * @returns aligned with the batch.
 */
export function putDocuments(
  transaction: WriteTransaction,
  context: WriteContext,
  batch: EncodedBatch,
  mode: WriteMode,
  atomic: false,
): WriteOutcome[]
export function putDocuments(
  transaction: WriteTransaction,
  context: WriteContext,
  batch: EncodedBatch,
  mode: WriteMode,
  atomic?: boolean,
): WriteResult[]
export function putDocuments(
  transaction: WriteTransaction,
  context: WriteContext,
  batch: EncodedBatch,
  mode: WriteMode,
  atomic: boolean = true,
): WriteOutcome[] {
  const { writes } = batch
  if (writes.length === 0) return []
  const byKey = sortedByKey(writes)
  if (mode === 'upsert' && hasDuplicates(byKey)) return putLast(transaction, context, batch, atomic)
  const known = context.catalog.collectionToWrite(transaction, context.name)
  // They may be left over from a run that had to be repeated.
  for (const write of writes) write.restart()
  findOld(transaction, known, byKey)
  const planned = writePlanned(transaction, context, known, batch, byKey, mode, atomic)
  return writes.map((write) => outcomeOf(write, planned))
}

/**
 * Deletes documents: the winner of each, or the leaf that is named; then the next leaf wins.
 *
 * @param atomic As in `putDocuments`.
 * @returns aligned with the targets; undefined where there is no such document.
 */
export function deleteDocuments(
  transaction: WriteTransaction,
  context: WriteContext,
  targets: readonly DeleteTarget[],
  atomic: false,
): (WriteOutcome | undefined)[]
export function deleteDocuments(
  transaction: WriteTransaction,
  context: WriteContext,
  targets: readonly DeleteTarget[],
  atomic?: boolean,
): (WriteResult | undefined)[]
export function deleteDocuments(
  transaction: WriteTransaction,
  context: WriteContext,
  targets: readonly DeleteTarget[],
  atomic: boolean = true,
): (WriteOutcome | undefined)[] {
  const state = context.catalog.collectionToWrite(transaction, context.name)
  if (state === undefined || targets.length === 0) return targets.map(() => undefined)
  const bodies = new DocumentReader(transaction, state).getMany(targets.map(({ id }) => id))
  const writes = new Map<string, DocumentWrite>()
  const writeOf = targets.map(({ id, key, revision }, at) => {
    const old = bodies[at]
    if (old === undefined) return undefined
    const name = revision === undefined ? id : `${revision} ${id}`
    const write = writes.get(name) ?? encodeTombstone(id, key, revision)
    write.old = old
    writes.set(name, write)
    return write
  })
  const batch = new EncodedBatch([...writes.values()], guessShapes(state, false))
  const byKey = sortedByKey(batch.writes)
  const planned = writePlanned(transaction, context, state, batch, byKey, 'delete', atomic)
  return writeOf.map((write) => write && outcomeOf(write, planned))
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
  const state = context.catalog.collectionToWrite(transaction, context.name)
  const unique = [...new Set(ids)]
  const reader = state && new DocumentReader(transaction, state)
  const bodies = reader?.getMany(unique) ?? []
  const results = new Map<string, WriteResult>()
  const inputs: unknown[] = []
  const olds: BodyView[] = []
  unique.forEach((id, at) => {
    const old = bodies[at]
    if (reader === undefined || old === undefined) throw notFound(id)
    const document = changedDocument('update()', id, change, () => reader.decode(old))
    if (document === undefined) {
      results.set(id, { id, rev: old.revision })
      return
    }
    inputs.push(document)
    olds.push(old)
  })
  if (state !== undefined && inputs.length > 0) {
    const batch = calling('update()', () => encodeBatch(inputs, guessShapes(state, false), unreachableId))
    const { writes } = batch
    writes.forEach((write, at) => (write.old = olds[at]))
    writePlanned(transaction, context, state, batch, sortedByKey(writes), 'upsert', true)
    for (const { id, rev } of writes) results.set(id, { id, rev })
  }
  return ids.map((id) => results.get(id)!)
}

/**
 * Decides what the writes come to, then puts them into the trees: in the order of the batch, which is that of their sequence numbers.
 *
 * @param state Undefined if the collection does not exist yet: it is made if anything is written.
 * @param byKey As for `planWrites`.
 */
function writePlanned(
  transaction: WriteTransaction,
  context: WriteContext,
  state: CollectionState | undefined,
  batch: EncodedBatch,
  byKey: readonly DocumentWrite[],
  mode: WriteMode,
  atomic: boolean,
): PlannedWrites {
  const { writes, shapes } = batch
  const { maintenance, judge } = context
  const refused = judge?.(transaction, state, batch) ?? NOTHING_REFUSED
  if (atomic) for (const error of refused.values()) throw error
  const allowed = byKey.filter((write) => !refused.has(write))
  const settings = state?.settings ?? context.settings?.() ?? DEFAULT_SETTINGS
  const isRefusable = mode === 'replicate' ? judge !== undefined : mode !== 'delete'
  const planned = planWrites(
    { transaction, state, settings, maintenance, shapes, mode, isRefusable, atomic },
    writes,
    allowed,
  )
  const { changes, attachments } = planned
  if (changes.length > 0) {
    const collection = withShapesOf(transaction, context, state ?? context.create(transaction), batch)
    applyWrites(transaction, collection, onlyOf(writes, changes), changes, maintenance)
    attachments?.apply(transaction, collection.number)
  }
  return refused.size === 0 ? planned : { changes, attachments, refused: new Map([...planned.refused, ...refused]) }
}

const NOTHING_REFUSED: Refusals = new Map()

/** Makes batch and collection fit each other; the collection may get more shapes. */
export function withShapesOf(
  transaction: WriteTransaction,
  context: WriteContext,
  state: CollectionState,
  batch: EncodedBatch,
): CollectionState {
  const missing = batch.matchShapes(state)
  return missing.length === 0 ? state : context.catalog.addShapes(transaction, state, missing)
}

export function unreachableId(): never {
  throw new ArgumentError('the document must have an _id', undefined)
}

function outcomeOf(write: DocumentWrite, { refused }: PlannedWrites): WriteOutcome {
  const { id, rev } = write
  const error = refused.size === 0 ? undefined : refused.get(write)
  return error === undefined ? { id, rev } : { id, error }
}

/** Finds for each write the body that the document has: that of the live one, else a tombstone. */
function findOld(
  transaction: WriteTransaction,
  state: CollectionState | undefined,
  byKey: readonly DocumentWrite[],
): void {
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
  if (numbers.length > 0) reader.bodiesOf(numbers).forEach((body, at) => (found[at]!.old = body))
}

/** Whether all these ids are new, as one look at the end of the tree can tell where ids only ever grow. */
function areBeyondEnd(reader: DocumentReader, keys: readonly Key[]): boolean {
  return reader.count() === 0 || (keys.length > 1 && reader.countIds({ gte: keys[0] }) === 0)
}

function sortedByKey(writes: readonly DocumentWrite[]): readonly DocumentWrite[] {
  if (writes.length < 2) return writes
  const order = stringOrder(writes.map(({ key }) => key))
  if (order === undefined) return writes
  const sorted: DocumentWrite[] = []
  for (const place of order) sorted.push(writes[place]!)
  return sorted
}

function hasDuplicates(byKey: readonly DocumentWrite[]): boolean {
  return byKey.some(({ key }, at) => at > 0 && key === byKey[at - 1]!.key)
}

/** Leaves out documents that a later one with the same id replaces. */
function putLast(
  transaction: WriteTransaction,
  context: WriteContext,
  batch: EncodedBatch,
  atomic: boolean,
): WriteOutcome[] {
  const last = new Map(batch.writes.map((write) => [write.id, write]))
  const results = putDocuments(transaction, context, batch.only([...last.values()]), 'upsert', atomic)
  const byId = new Map(results.map((result) => [result.id, result]))
  return batch.writes.map(({ id }) => byId.get(id)!)
}

/**
 * The document to write; undefined: nothing changes. `call` names the operation in errors. `read` gives the documents
 * again, to find out whether a function that returned nothing has changed its arguments.
 */
export function changedDocument<Given>(
  call: string,
  id: string,
  change: (given: Given) => unknown,
  read: () => Given,
): object | undefined {
  const given = read()
  const changed = notPromised(call, 'the function', change(given))
  if (changed === undefined) {
    // Only now, so that an ordinary change pays nothing for it.
    if (!isSame(given, read())) throw badArgument(call, 'the function must return the new document', changed)
    return undefined
  }
  if (!isPlainObject(changed)) throw badArgument(call, 'the function must return a document or undefined', changed)
  const { _id = id } = changed
  if (_id !== id) throw badArgument(call, `the function must keep _id '${id}'`, _id)
  return changed['_id'] === undefined ? { ...changed, _id } : changed
}
