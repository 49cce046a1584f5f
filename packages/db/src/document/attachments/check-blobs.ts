/** The integrity check of attachments: blobs with what refers to them, chunks with blobs, content with digests. */
import { ByteReader, corruptBytes, sameBytes } from '../../codec/bytes.ts'
import type { Key } from '../../base/brand.ts'
import type { Pause } from '../../base/long-work.ts'
import { keyNumber, numberKey, KEY_NUMBER_BYTES } from '../../codec/key-encoding.ts'
import type { HeldSnapshot } from '../../kv/key-value-store.ts'
import { decodeAttachments } from './attachment-section.ts'
import { blobEntry, BlobReader, CHUNK_BYTES, chunkCount, contentKey, NEXT_BLOB, type BlobRecord } from './blob-store.ts'
import { Md5 } from './md5.ts'
import { uploadEntry } from './pending-uploads.ts'

/** The check of blobs gathers what bodies refer to, then compares. */
export class BlobCheck {
  readonly #uses = new Map<number, { count: number; readonly digest: Uint8Array; readonly length: number }>()
  readonly #problems: string[] = []

  /** A body that is stored has this section. */
  add(section: Uint8Array | undefined): void {
    if (section === undefined) return
    for (const { blob, digest, length } of decodeAttachments(section)) {
      const known = this.#uses.get(blob)
      if (known === undefined) this.#uses.set(blob, { count: 1, digest, length })
      else if (known.length === length && sameBytes(known.digest, digest)) known.count++
      else this.#problems.push(`the attachment content ${blob} is given two digests`)
    }
  }

  /** Runs the check: finds the problems. Reads the content of all attachments, one chunk at a time. */
  async run(snapshot: HeldSnapshot, collectionNumber: number, pause: Pause): Promise<readonly string[]> {
    const reader = new BlobReader(snapshot, collectionNumber)
    const { records, pending } = await this.#readEntries(snapshot, reader)
    const stored = await countChunks(snapshot, reader)
    for (const [number, record] of records) {
      const use = this.#uses.get(number)
      this.#uses.delete(number)
      if (record.references !== (use?.count ?? 0) || use === undefined)
        this.#report(number, `counts ${record.references} references and has ${use?.count ?? 0}`)
      else if (use.length !== record.length || !sameBytes(use.digest, record.digest))
        this.#report(number, 'is not what refers to it says')
      const chunks = stored.get(number) ?? 0
      stored.delete(number)
      if (chunks !== chunkCount(record.length)) this.#report(number, `has ${chunks} chunks`)
      else await this.#checkContent(snapshot, reader, number, record, pause)
    }
    for (const number of this.#uses.keys()) this.#report(number, 'is missing')
    for (const number of stored.keys())
      if (!pending.has(number)) this.#report(number, 'has chunks but belongs to nothing')
    return this.#problems
  }

  async #readEntries(
    snapshot: HeldSnapshot,
    reader: BlobReader,
  ): Promise<{ readonly records: Map<number, BlobRecord>; readonly pending: Set<number> }> {
    const records = new Map<number, BlobRecord>()
    const pending = new Set<number>()
    const contents = new Set<Key>()
    let next = 1
    const cursor = reader.blobs?.cursor()
    await snapshot.attempt(() => {
      while (cursor?.next() === true) {
        const { key, value } = cursor
        const blob = blobEntry(key, value)
        const upload = uploadEntry(key, value)
        if (blob !== undefined) records.set(blob.number, blob.record)
        else if (upload !== undefined) pending.add(upload.blob)
        else if (key === NEXT_BLOB) next = new ByteReader(value).varint()
        else contents.add(key)
      }
    })
    for (const number of [...records.keys(), ...pending])
      if (number >= next) this.#report(number, `is not below the next number ${next}`)
    for (const [number, record] of records)
      if (!contents.delete(contentKey(record, number))) this.#report(number, 'is not found by its digest')
    if (contents.size > 0) this.#problems.push(`${contents.size} digests of attachments lead nowhere`)
    return { records, pending }
  }

  async #checkContent(
    snapshot: HeldSnapshot,
    reader: BlobReader,
    number: number,
    { length, digest }: BlobRecord,
    pause: Pause,
  ): Promise<void> {
    const md5 = new Md5()
    for (let index = 0; index < chunkCount(length); index++) {
      await pause()
      const [chunk] = await snapshot.attempt(() => reader.chunksOf(number, index, index + 1))
      if (chunk!.length !== Math.min(CHUNK_BYTES, length - index * CHUNK_BYTES)) {
        this.#report(number, `has a chunk of ${chunk!.length} bytes`)
        return
      }
      md5.update(chunk!)
    }
    if (!sameBytes(md5.digest(), digest)) this.#report(number, 'does not have its digest')
  }

  #report(number: number, what: string): void {
    this.#problems.push(`the attachment content ${number} ${what}`)
  }
}

/** By number of the blob. Their keys are read, not their bytes. */
async function countChunks(snapshot: HeldSnapshot, reader: BlobReader): Promise<Map<number, number>> {
  const counts = new Map<number, number>()
  const cursor = reader.chunks?.cursor()
  await snapshot.attempt(() => {
    while (cursor?.next() === true) {
      const { key } = cursor
      const blob = keyNumber(key.slice(0, KEY_NUMBER_BYTES) as Key)
      const index = counts.get(blob) ?? 0
      if (key !== numberKey(blob) + numberKey(index))
        throw corruptBytes(`a chunk of attachment content ${blob} is missing`)
      counts.set(blob, index + 1)
    }
  })
  return counts
}
