/**
 * The catalog of views: a collection's views and the progress of each. Each collection with views has one 'inline'
 * tree, so reading it never misses:
 *
 *   view/<n/name or q/signature>   JSON: ViewState without its name
 *   next                           number of the next view, as decimal text
 *   purged/<number>                JSON: a document that was purged, for views that may have rows of it
 */
import type { Key } from '../base/brand.ts'
import { PannierError } from '../base/errors.ts'
import { decodeIdKey, encodeIdKey, prefixUpperBound } from '../codec/key-encoding.ts'
import type { Snapshot, TreeReader, TreeWriter, WriteTransaction } from '../kv/key-value-store.ts'
import { prefixCursor } from '../document/catalog.ts'
import { lastPurge, PURGED, purgeKey, viewsTree, type PurgedDocument } from '../document/purged-documents.ts'
import {
  AD_HOC,
  AD_HOC_VIEWS_MAX,
  NAMED,
  REDUCER_IDS,
  VIEWS_MAX,
  type CheckedView,
  type ReducerName,
} from './view-definition.ts'

export interface ViewState {
  readonly storedName: string
  /** Names the view's trees; never used again in the same collection. */
  readonly number: number
  readonly signature: string
  readonly reducer?: ReducerName
  /** Bodies up to this sequence number were mapped. */
  readonly builtTo: number
  /** Raised by each update: what was gathered on another state is not written. */
  readonly updates: number
  /** Purged documents up to this one were taken out. */
  readonly purgesSeen: number
  /** Documents that were left out because map threw, since the view was made. */
  readonly failures: number
  readonly lastFailure?: { readonly id: string; readonly message: string }
  /** The number of documents, tombstones included, when the last update of private rows came to its end. */
  readonly documents?: number
  /** The sequence up to which rows that left are forgotten; undefined: nothing is remembered. Beyond `builtTo` while the view is built. */
  readonly forgottenTo?: number
}

/** Rows: codec/view-entry.ts. */
export function rowsTree(collectionNumber: number, viewNumber: number): string {
  return `${collectionNumber}/v/${viewNumber}`
}

/** For each document that has rows (by its number) the keys of these (key-lists.ts). */
export function keysTree(collectionNumber: number, viewNumber: number): string {
  return `${collectionNumber}/v/${viewNumber}/keys`
}

/** Trees of the rows that have departed from a remembering view: remembered-rows.ts. */
export function departedTrees(
  collectionNumber: number,
  viewNumber: number,
): { readonly byGroup: string; readonly byTime: string } {
  const rows = rowsTree(collectionNumber, viewNumber)
  return { byGroup: `${rows}/left`, byTime: `${rows}/gone` }
}

/** All trees of a view. */
export function treesOf(collectionNumber: number, { number, forgottenTo }: ViewState): string[] {
  const { byGroup, byTime } = departedTrees(collectionNumber, number)
  const departed = forgottenTo === undefined ? [] : [byGroup, byTime]
  return [rowsTree(collectionNumber, number), keysTree(collectionNumber, number), ...departed]
}

export function readView(snapshot: Snapshot, collectionNumber: number, storedName: string): ViewState | undefined {
  const value = snapshot.tree(viewsTree(collectionNumber))?.get(viewKey(storedName))
  return value && parseView(storedName, value)
}

export function listViews(snapshot: Snapshot, collectionNumber: number, prefix: string = ''): ViewState[] {
  const views: ViewState[] = []
  const cursor = prefixCursor(snapshot.tree(viewsTree(collectionNumber)), VIEW + prefix)
  while (cursor?.next() === true) views.push(parseView(decodeIdKey(cursor.key.slice(VIEW.length) as Key), cursor.value))
  return views
}

/** Makes the view; one of the same name with another signature is forgotten. `lastNumber`: the last sequence of the collection. */
export function defineView(
  transaction: WriteTransaction,
  collectionNumber: number,
  view: CheckedView,
  lastNumber: number,
): void {
  const { storedName, signature, reducer, remembers, isKept } = view
  const known = readView(transaction, collectionNumber, storedName)
  if (known?.signature === signature) return
  const views = viewsTree(collectionNumber)
  const tree = transaction.tree(views) ?? transaction.createTree(views, 'inline')
  if (known !== undefined) dropTrees(transaction, collectionNumber, known)
  else makeRoom(transaction, collectionNumber, storedName)
  const number = readText(tree, NEXT) ?? 1
  tree.put(NEXT, encode(number + 1))
  transaction.createTree(rowsTree(collectionNumber, number), 'ordered', reducer && REDUCER_IDS[reducer])
  transaction.createTree(keysTree(collectionNumber, number), 'ordered')
  const begun = { storedName, number, signature, builtTo: 0, updates: 0, purgesSeen: lastPurge(tree), failures: 0 }
  const state = {
    ...begun,
    ...(reducer && { reducer }),
    ...(remembers && { forgottenTo: lastNumber }),
    ...(!isKept && { documents: 0 }),
  }
  for (const name of treesOf(collectionNumber, state).slice(2)) transaction.createTree(name, 'ordered')
  saveView(transaction, collectionNumber, state)
}

export function saveView(transaction: WriteTransaction, collectionNumber: number, state: ViewState): void {
  const { storedName, ...stored } = state
  const tree = transaction.tree(viewsTree(collectionNumber))!
  tree.put(viewKey(storedName), encode(stored))
  forgetPurges(transaction, collectionNumber, tree)
}

/** Drops the view at once, whatever its size; false if it does not exist. */
export function dropView(transaction: WriteTransaction, collectionNumber: number, storedName: string): boolean {
  const known = readView(transaction, collectionNumber, storedName)
  if (known === undefined) return false
  dropTrees(transaction, collectionNumber, known)
  transaction.tree(viewsTree(collectionNumber))!.delete(viewKey(storedName))
  return true
}

/** The last of the purges that are still noted, or 0. */
export function lastPurgeOf(snapshot: Snapshot, collectionNumber: number): number {
  const tree = snapshot.tree(viewsTree(collectionNumber))
  return tree === undefined ? 0 : lastPurge(tree)
}

export function purgesAfter(snapshot: Snapshot, collectionNumber: number, seen: number): PurgedDocument[] {
  const documents: PurgedDocument[] = []
  const range = { gte: purgeKey(seen + 1), lt: prefixUpperBound(PURGED) }
  const cursor = snapshot.tree(viewsTree(collectionNumber))?.cursor(range)
  while (cursor?.next() === true) documents.push(decode(cursor.value) as PurgedDocument)
  return documents
}

const VIEW = 'view/'
const NEXT = 'next' as Key

function dropTrees(transaction: WriteTransaction, collectionNumber: number, view: ViewState): void {
  for (const name of treesOf(collectionNumber, view)) transaction.dropTree(name)
}

/** Ad-hoc views go when there are too many, the oldest first; of named ones there may not be too many. */
function makeRoom(transaction: WriteTransaction, collectionNumber: number, storedName: string): void {
  if (storedName.startsWith(NAMED)) {
    if (listViews(transaction, collectionNumber, NAMED).length >= VIEWS_MAX)
      throw new PannierError('PANNIER_LIMIT_EXCEEDED', `A collection has at most ${VIEWS_MAX} views.`)
    return
  }
  const kept = listViews(transaction, collectionNumber, AD_HOC).sort((left, right) => left.number - right.number)
  for (const { storedName: old } of kept.slice(0, Math.max(0, kept.length + 1 - AD_HOC_VIEWS_MAX)))
    dropView(transaction, collectionNumber, old)
}

/** Forgets purges that every view has seen. The last one stays, for its number. */
function forgetPurges(transaction: WriteTransaction, collectionNumber: number, tree: TreeWriter): void {
  const last = lastPurge(tree)
  if (last === 0) return
  const seen = Math.min(last - 1, ...listViews(transaction, collectionNumber).map(({ purgesSeen }) => purgesSeen))
  const cursor = tree.cursor({ gte: PURGED as Key, lt: purgeKey(seen + 1) })
  const keys: Key[] = []
  while (cursor.next()) keys.push(cursor.key)
  for (const key of keys) tree.remove(key)
}

function viewKey(storedName: string): Key {
  return (VIEW + encodeIdKey(storedName)) as Key
}

/** By the value itself: it is the same array as long as nothing else is stored. */
const parsed = new WeakMap<Uint8Array, ViewState>()

function parseView(storedName: string, value: Uint8Array): ViewState {
  let state = parsed.get(value)
  if (state === undefined) {
    state = { ...(decode(value) as Omit<ViewState, 'storedName'>), storedName }
    parsed.set(value, state)
  }
  return state
}

function readText(tree: TreeReader, key: Key): number | undefined {
  const value = tree.get(key)
  return value && (decode(value) as number)
}

function encode(value: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value))
}

function decode(value: Uint8Array): unknown {
  return JSON.parse(new TextDecoder().decode(value))
}
