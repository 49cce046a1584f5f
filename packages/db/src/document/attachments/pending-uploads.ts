/**
 * Pending uploads: content whose chunks are committed while it is still being read, before anything refers to it.
 *
 * An entry of `<collection>/blobs`, 'u' token -> varint number of the future blob, varint time of the last renewal
 * (milliseconds since 1970). The token is random and known only to the handle that uploads.
 *
 * The entry exists from the first chunk until a document's commit adopts the upload, or until it is discarded. So every
 * chunk belongs to a blob or to such an entry. A handle that dies in between leaves the entry. The next upload (or
 * compaction) of any handle reclaims it if it was not renewed for `UPLOAD_SILENCE_MS_MAX`. This level has no locks, and
 * a token does not name its owner, so time decides. The clock may be wrong, or the tab may have been frozen. Therefore
 * each step of an upload, above all its adoption, requires that its entry exists. An upload that was reclaimed by
 * mistake fails; it never becomes a damaged attachment.
 */
import type { Key } from '../../base/brand.ts'
import { PannierError } from '../../base/errors.ts'
import { ByteReader, ByteWriter } from '../../codec/bytes.ts'
import { prefixUpperBound, numberKey } from '../../codec/key-encoding.ts'
import type { TreeWriter, WriteTransaction } from '../../kv/key-value-store.ts'
import { BlobReader, blobTrees, chunkKey, encodeNextNumber, NEXT_BLOB } from './blob-store.ts'

/** An upload that was silent for so long is taken for dead. */
export const UPLOAD_SILENCE_MS_MAX: number = 15 * 60_000
/** The time after which an upload renews itself while its source keeps it waiting. */
export const UPLOAD_RENEWAL_MS = 60_000

interface PendingUpload {
  readonly token: string
  readonly blob: number
  readonly renewedAt: number
}

/** Gives the number of the blob that is to be. Forgets uploads that have died. `isOwn`: of this handle, which knows better. */
export function beginUpload(
  transaction: WriteTransaction,
  collectionNumber: number,
  token: string,
  now: number,
  isOwn: (token: string) => boolean,
): number {
  const reader = new BlobReader(transaction, collectionNumber)
  const next = reader.nextNumber()
  const forgetDead = planReclaim(reader, now, isOwn)
  const { blobs, chunks } = blobTrees(transaction, collectionNumber)
  forgetDead(blobs, chunks)
  const blob = next ?? 1
  if (next === undefined) blobs.insert(NEXT_BLOB, encodeNextNumber(blob + 1))
  else blobs.replace(NEXT_BLOB, encodeNextNumber(blob + 1))
  blobs.insert(uploadKey(token), encodeUpload(blob, now))
  return blob
}

/** Adds chunks from that index on, none to keep the upload from being taken for dead. */
export function continueUpload(
  transaction: WriteTransaction,
  collectionNumber: number,
  token: string,
  now: number,
  added: readonly Uint8Array[] = [],
  from: number = 0,
): void {
  const { blob } = pendingUpload(new BlobReader(transaction, collectionNumber), token)
  const { blobs, chunks } = blobTrees(transaction, collectionNumber)
  blobs.replace(uploadKey(token), encodeUpload(blob, now))
  added.forEach((bytes, at) => chunks.insert(chunkKey(blob, from + at), bytes))
}

/** Forgets an upload with its chunks, if it is still pending. */
export function discardUpload(transaction: WriteTransaction, collectionNumber: number, token: string): void {
  const reader = new BlobReader(transaction, collectionNumber)
  const pending = find(reader, token)
  if (pending === undefined) return
  const forget = planDiscard(reader, [pending])
  const { blobs, chunks } = blobTrees(transaction, collectionNumber)
  forget(blobs, chunks)
}

/** Forgets uploads that have died, as `beginUpload` does. */
export function reclaimUploads(
  transaction: WriteTransaction,
  collectionNumber: number,
  now: number,
  isOwn: (token: string) => boolean,
): void {
  const reader = new BlobReader(transaction, collectionNumber)
  if (reader.blobs === undefined) return
  const forget = planReclaim(reader, now, isOwn)
  const { blobs, chunks } = blobTrees(transaction, collectionNumber)
  forget(blobs, chunks)
}

/** @throws PANNIER_ABORTED if it is pending no more. */
export function pendingUpload(reader: BlobReader, token: string): PendingUpload {
  const pending = find(reader, token)
  if (pending === undefined) {
    throw new PannierError(
      'PANNIER_ABORTED',
      'The upload of an attachment paused too long (in a frozen tab?) and was cancelled. Try again.',
    )
  }
  return pending
}

/** An entry of the tree, if it is that of an upload; for checks. */
export function uploadEntry(key: Key, value: Uint8Array): PendingUpload | undefined {
  return key.startsWith(UPLOAD) ? decodeUpload(key, value) : undefined
}

export function uploadKey(token: string): Key {
  return (UPLOAD + token) as Key
}

const UPLOAD = 'u'

type Forget = (blobs: TreeWriter, chunks: TreeWriter) => void

function planReclaim(reader: BlobReader, now: number, isOwn: (token: string) => boolean): Forget {
  const cursor = reader.blobs?.cursor({ gte: UPLOAD as Key, lt: prefixUpperBound(UPLOAD) })
  const dead: PendingUpload[] = []
  while (cursor?.next() === true) {
    const pending = decodeUpload(cursor.key, cursor.value)
    // A time that lies ahead is the mark of a clock that was set back.
    const silent = Math.abs(now - pending.renewedAt) > UPLOAD_SILENCE_MS_MAX
    if (silent && !isOwn(pending.token)) dead.push(pending)
  }
  return planDiscard(reader, dead)
}

/** Reads which chunks there are; the function it gives reads nothing. */
function planDiscard(reader: BlobReader, uploads: readonly PendingUpload[]): Forget {
  const keys: Key[] = []
  for (const { blob } of uploads) {
    const cursor = reader.chunks?.cursor({ gte: numberKey(blob), lt: numberKey(blob + 1) })
    while (cursor?.next() === true) keys.push(cursor.key)
  }
  return (blobs, chunks) => {
    for (const { token } of uploads) blobs.remove(uploadKey(token))
    for (const key of keys) chunks.remove(key)
  }
}

function find({ blobs }: BlobReader, token: string): PendingUpload | undefined {
  const key = uploadKey(token)
  const value = blobs?.get(key)
  return value && decodeUpload(key, value)
}

function encodeUpload(blob: number, now: number): Uint8Array {
  const writer = new ByteWriter(16)
  writer.varint(blob)
  writer.varint(Math.max(0, Math.floor(now)))
  return writer.finish()
}

function decodeUpload(key: Key, value: Uint8Array): PendingUpload {
  const reader = new ByteReader(value)
  return { token: key.slice(UPLOAD.length), blob: reader.varint(), renewedAt: reader.varint() }
}
