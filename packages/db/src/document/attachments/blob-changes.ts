/**
 * The changes of one write to blobs. First it reads and decides everything, which may throw a Miss. Then `apply` changes the trees, and
 * neither misses nor fails. So it runs around the documents of the write: decide before, apply after.
 *
 * Guarantees: after `apply` each blob counts its references, and a blob without references is gone. So content that no
 * section names is never stored.
 */
import { corruptBytes, sameBytes } from '../../codec/bytes.ts'
import type { Snapshot, TreeWriter, WriteTransaction } from '../../kv/key-value-store.ts'
import { decodeAttachments } from './attachment-section.ts'
import {
  blobKey,
  BlobReader,
  blobTrees,
  chunkCount,
  chunkKey,
  contentKey,
  encodeNextNumber,
  encodeRecord,
  NEXT_BLOB,
} from './blob-store.ts'
import type { BlobRecord, ContentName, MemoryContent } from './blob-store.ts'
import { pendingUpload, uploadKey } from './pending-uploads.ts'

/** An upload that has ended. */
export interface FinishedUpload {
  readonly token: string
  /** The number that its blob has if it becomes one. */
  readonly blob: number
  readonly name: ContentName
  /** A blob, or another upload for the same write, that has the same bytes. */
  readonly same: number | undefined
}

/** A blob that does not exist yet. */
interface NewBlob extends ContentName {
  /** Undefined: they are stored, by an upload. */
  readonly chunks: readonly Uint8Array[] | undefined
}

export class BlobChanges {
  readonly #reader: BlobReader
  readonly #references = new Map<number, number>()
  readonly #records = new Map<number, BlobRecord>()
  readonly #added = new Map<number, NewBlob>()
  /** Tokens of uploads that are pending no more. */
  readonly #adopted: string[] = []
  /** Uploads that turned out to be copies: their numbers, with what they hold. */
  readonly #copies = new Map<number, ContentName>()
  #next: number | undefined
  #hasNext = false

  /** `collectionNumber`: undefined if the collection does not exist yet. */
  constructor(snapshot: Snapshot, collectionNumber: number | undefined) {
    this.#reader = new BlobReader(snapshot, collectionNumber)
  }

  /** The number of the blob with this content, which exists or is going to. */
  store(content: MemoryContent): number {
    const same =
      this.#sameAdded(content, content.chunks) ??
      this.#reader.candidates(content).find((number) => this.#holds(number, content.chunks))
    if (same !== undefined) return same
    if (this.#next === undefined) {
      const next = this.#reader.nextNumber()
      this.#hasNext = next !== undefined
      this.#next = next ?? 1
    }
    this.#added.set(this.#next, content)
    return this.#next++
  }

  /** The number of the blob with the content of an upload. */
  adopt({ token, name, same }: FinishedUpload): number {
    const { blob } = pendingUpload(this.#reader, token)
    this.#adopted.push(token)
    // Its content never changes, but it may be gone.
    const shared =
      same !== undefined && (this.#added.has(same) || this.#reader.record(same) !== undefined)
        ? same
        : this.#sameAdded(name, undefined, blob)
    if (shared === undefined) this.#added.set(blob, { ...name, chunks: undefined })
    else this.#copies.set(blob, name)
    return shared ?? blob
  }

  /** A body with this section is written. */
  add(section: Uint8Array): void {
    this.#count(section, 1)
  }

  /** A body with this section goes for good. */
  remove(section: Uint8Array): void {
    this.#count(section, -1)
  }

  /** Reads what `apply` needs. Nothing may be added after it. */
  load(): void {
    for (const [blob, change] of this.#references) {
      if (change === 0 || this.#added.has(blob) || this.#records.has(blob)) continue
      const record = this.#reader.record(blob)
      if (record === undefined) throw corruptBytes(`the attachment content ${blob} is missing`)
      if (record.references + change < 0) throw corruptBytes(`the attachment content ${blob} has too few references`)
      this.#records.set(blob, record)
    }
  }

  apply(transaction: WriteTransaction, collectionNumber: number): void {
    if (this.#adopted.length + this.#added.size + this.#records.size === 0) return
    const { blobs, chunks } = blobTrees(transaction, collectionNumber)
    for (const token of this.#adopted) blobs.remove(uploadKey(token))
    for (const [blob, name] of this.#copies) removeChunks(chunks, blob, name)
    for (const [blob, content] of this.#added) this.#addBlob(blobs, chunks, blob, content)
    for (const [blob, record] of this.#records) {
      const references = record.references + this.#references.get(blob)!
      if (references > 0) {
        blobs.replace(blobKey(blob), encodeRecord({ ...record, references }))
      } else {
        blobs.remove(blobKey(blob))
        blobs.remove(contentKey(record, blob))
        removeChunks(chunks, blob, record)
      }
    }
    if (this.#next === undefined) return
    if (this.#hasNext) blobs.replace(NEXT_BLOB, encodeNextNumber(this.#next))
    else blobs.insert(NEXT_BLOB, encodeNextNumber(this.#next))
  }

  /** The blob with the same content that this write adds; at least one of the two is in memory. */
  #sameAdded(name: ContentName, chunks: readonly Uint8Array[] | undefined, stored?: number): number | undefined {
    for (const [number, added] of this.#added) {
      if (added.length !== name.length || !sameBytes(added.digest, name.digest)) continue
      if (chunks === undefined) {
        if (added.chunks !== undefined && this.#holds(stored!, added.chunks)) return number
      } else if (added.chunks === undefined ? this.#holds(number, chunks) : isSame(added.chunks, chunks)) {
        return number
      }
    }
    return undefined
  }

  /** Whether what is stored under that number has these bytes. */
  #holds(number: number, chunks: readonly Uint8Array[]): boolean {
    return isSame(this.#reader.chunksOf(number, 0, chunks.length), chunks)
  }

  #addBlob(blobs: TreeWriter, chunkTree: TreeWriter, blob: number, { chunks, digest, length }: NewBlob): void {
    const references = this.#references.get(blob) ?? 0
    if (references === 0) {
      if (chunks === undefined) removeChunks(chunkTree, blob, { digest, length })
      return
    }
    blobs.insert(blobKey(blob), encodeRecord({ references, length, digest }))
    blobs.insert(contentKey({ digest, length }, blob), '')
    chunks?.forEach((bytes, index) => chunkTree.insert(chunkKey(blob, index), bytes))
  }

  #count(section: Uint8Array, by: number): void {
    for (const { blob } of decodeAttachments(section))
      this.#references.set(blob, (this.#references.get(blob) ?? 0) + by)
  }
}

function isSame(left: readonly Uint8Array[], right: readonly Uint8Array[]): boolean {
  return left.every((bytes, index) => sameBytes(bytes, right[index]!))
}

function removeChunks(chunks: TreeWriter, blob: number, { length }: ContentName): void {
  for (let index = 0; index < chunkCount(length); index++) chunks.remove(chunkKey(blob, index))
}
