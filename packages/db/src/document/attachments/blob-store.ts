/**
 * Content of attachments: immutable runs of bytes, numbered, shared by everything that refers to equal content.
 *
 * `<collection>/blobs` (ordered; 'b', 'd', 'n', 'u' start its keys):
 *
 *   'b' number                          varint references, varint length, 16 bytes MD5
 *   'd' 16 bytes MD5, length, number    nothing: finds blobs by their content
 *   'n'                                 varint: number of the next blob; none is ever used twice
 *   'u' token                           a pending upload, see pending-uploads.ts
 *
 * `<collection>/chunks` (ordered): number of the blob, index of the chunk -> `CHUNK_BYTES` bytes, the last chunk fewer.
 * It is an ordered tree, not a sequence tree: the next storage checkpoint frees what was removed, however full its leaf
 * is, and a chunk's key follows from its position. Both trees are made when first used.
 *
 * Guarantees: a blob exists exactly as long as something refers to it; equal content has the same number, unless two
 * writes uploaded it at the same time. Equal means that the bytes were compared: MD5 collides on purpose. Relies on:
 * nothing. All changes of blobs go through `BlobChanges` (blob-changes.ts) or pending-uploads.ts.
 */
import type { Key } from '../../base/brand.ts'
import { ByteReader, ByteWriter, corruptBytes, readByteString } from '../../codec/bytes.ts'
import { prefixUpperBound, keyNumber, numberKey } from '../../codec/key-encoding.ts'
import type { Snapshot, TreeReader, TreeWriter, WriteTransaction } from '../../kv/key-value-store.ts'
import { DIGEST_BYTES } from './attachment-section.ts'

/** Four full overflow pages: measured to be read and written as fast as larger ones, and small enough for short ranges. */
export const CHUNK_BYTES: number = 4 * 61_432

/** The stored record of one blob, beside its bytes. */
export interface BlobRecord {
  readonly references: number
  readonly length: number
  readonly digest: Uint8Array
}

/** The name of content, up to collisions. */
export interface ContentName {
  readonly digest: Uint8Array
  readonly length: number
}

/** Content in memory as a whole: chunks of `CHUNK_BYTES`, the last one shorter. Never changed. */
export interface MemoryContent extends ContentName {
  readonly chunks: readonly Uint8Array[]
}

export function blobTreeName(collectionNumber: number): string {
  return `${collectionNumber}/blobs`
}

function chunkTreeName(collectionNumber: number): string {
  return `${collectionNumber}/chunks`
}

export function chunkCount(length: number): number {
  return Math.ceil(length / CHUNK_BYTES)
}

export class BlobReader {
  readonly blobs: TreeReader | undefined = undefined
  readonly chunks: TreeReader | undefined = undefined

  /** `collectionNumber`: undefined if there is no such collection. */
  constructor(snapshot: Snapshot, collectionNumber: number | undefined) {
    if (collectionNumber === undefined) return
    this.blobs = snapshot.tree(blobTreeName(collectionNumber))
    this.chunks = snapshot.tree(chunkTreeName(collectionNumber))
  }

  record(number: number): BlobRecord | undefined {
    const value = this.blobs?.get(blobKey(number))
    return value && decodeRecord(value)
  }

  /** The chunks `from <= index < to` of a blob that is there. Views. */
  chunksOf(number: number, from: number, to: number): Uint8Array[] {
    if (from >= to) return []
    const keys = Array.from({ length: to - from }, (_, i) => chunkKey(number, from + i))
    const values = this.chunks?.getMany(keys) ?? keys.map(() => undefined)
    return values.map((value) => {
      if (value === undefined) throw corruptBytes(`a part of the attachment content ${number} is missing`)
      return value
    })
  }

  /** The number that the next blob gets; undefined if there never was one. */
  nextNumber(): number | undefined {
    const value = this.blobs?.get(NEXT_BLOB)
    return value && new ByteReader(value).varint()
  }

  /** Numbers of the blobs that may have that content. */
  candidates({ digest, length }: ContentName): number[] {
    const prefix = contentPrefix(digest, length)
    const cursor = this.blobs?.cursor({ gte: prefix, lt: prefixUpperBound(prefix) })
    const numbers: number[] = []
    while (cursor?.next() === true) numbers.push(cursor.keyNumber)
    return numbers
  }
}

/** Both trees, made if they are not there. */
export function blobTrees(
  transaction: WriteTransaction,
  collectionNumber: number,
): { readonly blobs: TreeWriter; readonly chunks: TreeWriter } {
  const [blobs, chunks] = [blobTreeName(collectionNumber), chunkTreeName(collectionNumber)].map(
    (name) => transaction.tree(name) ?? transaction.createTree(name, 'ordered'),
  )
  return { blobs: blobs!, chunks: chunks! }
}

/** Where the number of the next blob stands. */
export const NEXT_BLOB: Key = 'n' as Key

/** The key under which a blob is found by its content. */
export function contentKey({ digest, length }: ContentName, number: number): Key {
  return (contentPrefix(digest, length) + numberKey(number)) as Key
}

/** An entry of the tree, if it is a blob; for checks. */
export function blobEntry(key: Key, value: Uint8Array): { number: number; record: BlobRecord } | undefined {
  return key.startsWith(BLOB) ? { number: keyNumber(key), record: decodeRecord(value) } : undefined
}

export function chunkKey(blob: number, index: number): Key {
  return (numberKey(blob) + numberKey(index)) as Key
}

const BLOB = 'b'
const CONTENT = 'd'

export function blobKey(number: number): Key {
  return (BLOB + numberKey(number)) as Key
}

function contentPrefix(digest: Uint8Array, length: number): Key {
  return (CONTENT + readByteString(digest, 0, DIGEST_BYTES) + numberKey(length)) as Key
}

export function encodeRecord({ references, length, digest }: BlobRecord): Uint8Array {
  const writer = new ByteWriter(8 + 8 + DIGEST_BYTES)
  writer.varint(references)
  writer.varint(length)
  writer.raw(digest)
  return writer.finish()
}

/** The value of `NEXT_BLOB`. */
export function encodeNextNumber(number: number): Uint8Array {
  const writer = new ByteWriter(8)
  writer.varint(number)
  return writer.finish()
}

function decodeRecord(value: Uint8Array): BlobRecord {
  const reader = new ByteReader(value)
  const record = { references: reader.varint(), length: reader.varint(), digest: reader.raw(DIGEST_BYTES) }
  if (!reader.done) throw corruptBytes('the record of an attachment content is too long')
  return record
}
