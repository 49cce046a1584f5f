/**
 * Reads the documents of one collection in one snapshot. Everything here is synchronous and may throw a Miss
 * (kv/key-value-store.ts).
 */
import type { Key } from '../base/brand.ts'
import { corruptBytes } from '../codec/bytes.ts'
import { decodeDocument } from '../codec/decode-document.ts'
import { idKey, numberKey } from '../codec/key-encoding.ts'
import { stringOrder } from '../codec/key-order.ts'
import type { Cursor, CursorOptions, KeyRange, Snapshot, TreeReader } from '../kv/key-value-store.ts'
import { attachmentStubs } from './attachments/attachment-section.ts'
import { BodyView, readNumber } from './body.ts'
import type { CollectionState } from './catalog.ts'

/** Walks live documents in the order of their sequence numbers. Starts before the first one. */
export interface DocumentCursor {
  /** Moves on to the next; false at the end. When it throws a Miss it has not moved: call it again. */
  next(): boolean
  /** The document at the cursor; the same object each time, so copy what is to be kept. */
  readonly body: BodyView
}

interface ScanOptions {
  readonly reverse?: boolean
  /** Only bodies with a higher sequence number. */
  readonly after?: number
}

/** As the library hands it out: `_id` and `_rev` first. */
export type StoredDocument = { _id: string; _rev: string } & Record<string, unknown>

/** Bytes of stored documents that are read at a time, where there may be any number of any size. One document may be larger. */
export const BATCH_BYTES_MAX: number = 1024 * 1024

export class DocumentReader {
  readonly snapshot: Snapshot
  readonly collection: CollectionState
  readonly bodies: TreeReader
  private readonly idTree: TreeReader
  /** Where the last write of a document has another sequence than its first. */
  readonly sequences: TreeReader

  constructor(snapshot: Snapshot, collection: CollectionState) {
    this.snapshot = snapshot
    this.collection = collection
    this.bodies = existingTree(snapshot, collection.trees.bodies)
    this.idTree = existingTree(snapshot, collection.trees.ids)
    this.sequences = existingTree(snapshot, collection.trees.sequences)
  }

  /** Live documents. */
  count(): number {
    return this.idTree.count()
  }

  /** Documents will be read: the roots of the trees that takes are fetched along with what is missed next. */
  prefetch(): void {
    this.bodies.prefetch()
    if (this.sequences.count() > 0) this.sequences.prefetch()
  }

  get(id: string): BodyView | undefined {
    this.prefetch()
    const value = this.idTree.get(idKey(id))
    if (value === undefined) return undefined
    const number = readNumber(value)
    const found = this.sequences.count() === 0 ? undefined : this.sequences.get(numberKey(number))
    const sequence = found ? readNumber(found) : number
    return viewOf(this.bodies.get(numberKey(sequence)), sequence)
  }

  /** For each key the number of the live document with that id. Fastest when ascending. */
  numbersOf(idKeys: readonly Key[]): (number | undefined)[] {
    return this.idTree.getMany(idKeys).map((value) => (value === undefined ? undefined : readNumber(value)))
  }

  /** `numbers` (of live documents), and where that has none the number of the deleted document with that id. */
  withDeleted(idKeys: readonly Key[], numbers: readonly (number | undefined)[]): readonly (number | undefined)[] {
    const deleted = existingTree(this.snapshot, this.collection.trees.deleted)
    if (deleted.count() === 0) return numbers
    const all = [...numbers]
    const positions = Array.from(idKeys.keys()).filter((at) => numbers[at] === undefined)
    deleted.getMany(positions.map((at) => idKeys[at]!)).forEach((value, at) => {
      if (value !== undefined) all[positions[at]!] = readNumber(value)
    })
    return all
  }

  /** For each id its body if it is live; everything that is missing in memory is fetched together, tree by tree. */
  getMany(ids: readonly string[]): (BodyView | undefined)[] {
    const values = getInOrder(this.idTree, ids.map(idKey))
    const bodies = this.bodiesOf(values.filter((value) => value !== undefined).map(readNumber))
    let next = 0
    return values.map((value) => value && bodies[next++])
  }

  /**
   * The current bodies of the documents with these numbers, aligned. They are looked up in ascending order, and what is
   * missing in memory is fetched for all of them together.
   */
  bodiesOf(numbers: readonly number[]): BodyView[] {
    const sequences = sequencesOf(this, numbers)
    return getInOrder(this.bodies, sequences.map(numberKey)).map((value, at) => viewOf(value, sequences[at]!))
  }

  /** As `bodiesOf` the first numbers: as many as have at most `BATCH_BYTES_MAX` together, and one at least. */
  someBodiesOf(numbers: readonly number[]): BodyView[] {
    const sequences = sequencesOf(this, numbers)
    const found = this.bodies.getSome(sequences.map<Key>(numberKey), BATCH_BYTES_MAX)
    return found.map((value, at) => viewOf(value, sequences[at]!))
  }

  /** As `getMany` of the first ids, within the same bound. */
  getSome(ids: readonly string[]): (BodyView | undefined)[] {
    const values = getInOrder(this.idTree, ids.map(idKey))
    const bodies = this.someBodiesOf(values.filter((value) => value !== undefined).map(readNumber))
    let next = 0
    const end = values.findIndex((value) => value !== undefined && next++ === bodies.length)
    next = 0
    return values.slice(0, end === -1 ? undefined : end).map((value) => value && bodies[next++])
  }

  /** Live documents in the order in which they were last written. */
  scan(options: ScanOptions = {}): DocumentCursor {
    const gte = options.after === undefined ? undefined : numberKey(options.after + 1)
    return new BodyCursor(this.bodies.cursor({ gte }, { reverse: options.reverse === true }))
  }

  /** Live documents by id: keys are ids (`decodeIdKey`), `numberAt` tells the numbers. */
  ids(range?: KeyRange, options?: CursorOptions): Cursor {
    return this.idTree.cursor(range, options)
  }

  /** Counts ids, exactly and without a walk. */
  countIds(range?: KeyRange): number {
    return this.idTree.count(range)
  }

  /** The number of the document at a cursor made by `ids`. */
  numberAt(cursor: Cursor): number {
    return readNumber(cursor.value)
  }

  /** Also for a tombstone, which then has `_deleted`. */
  decode(body: BodyView): StoredDocument {
    const document: StoredDocument = { _id: body.id, _rev: body.revision }
    if (body.deleted) document['_deleted'] = true
    const { attachments } = body
    if (attachments !== undefined) document['_attachments'] = attachmentStubs(attachments)
    if (body.contentStart === body.contentEnd) return document
    return decodeDocument(
      body.bytes,
      body.contentStart,
      body.contentEnd,
      this.collection.shapes,
      document,
    ) as StoredDocument
  }
}

class BodyCursor implements DocumentCursor {
  readonly body: BodyView = new BodyView()
  private readonly cursor: Cursor

  constructor(cursor: Cursor) {
    this.cursor = cursor
  }

  next(): boolean {
    const { body } = this
    const cursor = this.cursor
    while (cursor.next()) if (!body.load(cursor.value, cursor.keyNumber).deleted) return true
    return false
  }
}

/** When documents with these numbers were written last. */
export function sequencesOf({ sequences }: DocumentReader, numbers: readonly number[]): readonly number[] {
  if (sequences.count() === 0) return numbers
  return getInOrder(sequences, numbers.map(numberKey)).map((value, at) => (value ? readNumber(value) : numbers[at]!))
}

/** As `getMany` of keys in any order: asked for in ascending order, and aligned with the keys. */
export function getInOrder(tree: TreeReader, keys: readonly Key[]): (Uint8Array | undefined)[] {
  const order = stringOrder(keys)
  if (order === undefined) return tree.getMany(keys)
  const aligned = new Array<Uint8Array | undefined>(keys.length)
  const values = tree.getMany(Array.from(order, (at) => keys[at]!))
  for (let at = 0; at < values.length; at++) aligned[order[at]!] = values[at]
  return aligned
}

/** The positions in ascending order of what is there; undefined if that is the order it has. */
export function ascendingOrder(numbers: readonly number[]): Uint32Array | undefined {
  let at = 1
  while (at < numbers.length && numbers[at - 1]! <= numbers[at]!) at++
  return at >= numbers.length ? undefined : stringOrder(numbers.map(numberKey))
}

export function existingTree(snapshot: Snapshot, name: string): TreeReader {
  const tree = snapshot.tree(name)
  if (tree === undefined) throw corruptBytes(`the tree ${name} is missing`)
  return tree
}

function viewOf(bytes: Uint8Array | undefined, sequence: number): BodyView {
  if (bytes === undefined) throw corruptBytes('a document is missing')
  return new BodyView().load(bytes, sequence)
}

/** A deleted document as the feed hands it out. */
export interface Tombstone {
  /** The id of the document. */
  readonly _id: string
  /** The revision that deleted it. */
  readonly _rev: string
  /** Marks a tombstone. */
  readonly _deleted: true
}

/** One change in a feed: the document with its newest revision. */
export interface DocumentChange<T extends object = StoredDocument> {
  /** The sequence of the document's last change. */
  readonly seq: number
  /** The id of the document. */
  readonly id: string
  /** The winner first; with `style: 'all'` every leaf revision. */
  readonly changes: readonly { readonly rev: string }[]
  /** The winner is a tombstone. */
  readonly deleted?: true
  /** With `docs`: the winner. */
  readonly doc?: T | Tombstone
}
