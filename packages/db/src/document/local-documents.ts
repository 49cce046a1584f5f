/**
 * `_local/` documents: they belong to this copy of the collection. They are not replicated, and neither in the change feed nor
 * in counts or lists; a deleted one leaves nothing behind. Their tree is made with the first one.
 *
 * An entry of a `local` tree. Its key is the id after `_local/`, as WTF-8.
 *
 *   version   varint   N of the revision 0-N
 *   shapes    varint   how many, then each: varint length, encoded names (codec/shape.ts); their ids count from 0
 *   content            as of any document
 */
import type { Key } from '../base/brand.ts'
import { PannierError } from '../base/errors.ts'
import { ByteReader, ByteWriter } from '../codec/bytes.ts'
import { decodeDocument } from '../codec/decode-document.ts'
import { decodeIdKey } from '../codec/key-encoding.ts'
import { ShapeDictionary } from '../codec/shape.ts'
import type { KeyRange, Snapshot, WriteTransaction } from '../kv/key-value-store.ts'
import type { WriteResult } from './apply-writes.ts'
import type { StoredDocument } from './document-reader.ts'
import { LOCAL_PREFIX } from './document-id.ts'
import { localVersion, type LocalWrite } from './local-input.ts'
import type { WriteContext } from './write-documents.ts'

export function localTreeName(collectionNumber: number): string {
  return `${collectionNumber}/local`
}

export function getLocal(snapshot: Snapshot, collectionNumber: number, key: Key): StoredDocument | undefined {
  const value = snapshot.tree(localTreeName(collectionNumber))?.get(key)
  return value && decodeLocal(key, value)
}

/** Creates it, or replaces it when `_rev` is its current revision. */
export function putLocal(transaction: WriteTransaction, context: WriteContext, write: LocalWrite): WriteResult {
  const { key, replaces, shapes, content } = write
  const state = context.catalog.collection(transaction, context.name) ?? context.create(transaction)
  const name = localTreeName(state.number)
  const tree = transaction.tree(name) ?? transaction.createTree(name, 'ordered')
  const old = tree.get(key)
  const version = checkVersion(key, old, replaces) + 1
  const writer = new ByteWriter()
  writer.varint(version)
  writer.varint(shapes.length)
  for (const shape of shapes) {
    writer.varint(shape.length)
    writer.raw(shape)
  }
  writer.raw(content)
  if (old === undefined) tree.insert(key, writer.finish())
  else tree.replace(key, writer.finish())
  return { id: idOf(key), rev: revisionOf(version) }
}

/** With `rev` only if that is its current revision. Undefined if it does not exist. */
export function deleteLocal(
  transaction: WriteTransaction,
  context: WriteContext,
  key: Key,
  rev: string | undefined,
): WriteResult | undefined {
  const state = context.catalog.collection(transaction, context.name)
  const tree = state && transaction.tree(localTreeName(state.number))
  const old = tree?.get(key)
  if (tree === undefined || old === undefined) return undefined
  if (rev !== undefined) checkVersion(key, old, localVersion(rev))
  tree.remove(key, old.length)
  return { id: idOf(key), rev: revisionOf(0) }
}

/** Documents in the order of their ids, at most `limit`. */
export function listLocal(
  snapshot: Snapshot,
  collectionNumber: number,
  range: KeyRange,
  limit: number,
): StoredDocument[] {
  const documents: StoredDocument[] = []
  const cursor = snapshot.tree(localTreeName(collectionNumber))?.cursor(range)
  while (documents.length < limit && cursor?.next() === true) documents.push(decodeLocal(cursor.key, cursor.value))
  return documents
}

/** Decodes a local document. Throws PANNIER_CORRUPT if it is not sound. */
export function decodeLocal(key: Key, value: Uint8Array): StoredDocument {
  const reader = new ByteReader(value)
  const document = { _id: idOf(key), _rev: revisionOf(reader.varint()) }
  const shapes = new ShapeDictionary()
  const count = reader.varint()
  for (let id = 0; id < count; id++) shapes.add(id, reader.raw(reader.varint()))
  return decodeDocument(value, reader.at, value.length, shapes, document) as StoredDocument
}

function checkVersion(key: Key, old: Uint8Array | undefined, given: number | undefined): number {
  const version = old === undefined ? 0 : new ByteReader(old).varint()
  if (given === version) return version
  const id = idOf(key)
  const rev = old && revisionOf(version)
  const what = rev === undefined ? 'does not exist' : `exists with the revision ${rev}`
  throw new PannierError('PANNIER_CONFLICT', `The document '${id}' ${what}.`, { details: { id, rev } })
}

function idOf(key: Key): string {
  return LOCAL_PREFIX + decodeIdKey(key)
}

function revisionOf(version: number): string {
  return `0-${version}`
}
