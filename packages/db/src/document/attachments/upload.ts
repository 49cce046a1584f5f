/**
 * Stores content while it is read, in transactions of its own that are bounded in size: an attachment of any length takes
 * `UPLOAD_CHUNKS` chunks of memory. Until a document's commit adopts it nothing refers to it (pending-uploads.ts).
 */
import type { Environment } from '../../base/environment.ts'
import { PannierError } from '../../base/errors.ts'
import { sameBytes } from '../../codec/bytes.ts'
import type { HeldSnapshot, WriteTransaction } from '../../kv/key-value-store.ts'
import type { FinishedUpload } from './blob-changes.ts'
import { BlobReader, CHUNK_BYTES, chunkCount, type ContentName } from './blob-store.ts'
import { beginUpload, continueUpload, discardUpload, UPLOAD_RENEWAL_MS } from './pending-uploads.ts'

/** Chunks of one transaction: about 2 MB, which goes straight to pages and not to the log. */
const UPLOAD_CHUNKS = 8

/** Where uploads go. */
export interface UploadTarget {
  readonly environment: Pick<Environment, 'after' | 'randomId' | 'wallClock'>
  /** A transaction of its own. */
  write<T>(run: (transaction: WriteTransaction) => T): Promise<T>
  snapshot(): HeldSnapshot
  /** The number of the collection, which is made if it is not there. */
  create(transaction: WriteTransaction): number
  /** The number of the collection, or undefined. */
  find(transaction: WriteTransaction): number | undefined
  /** Aborted when the database is closed. */
  readonly closing: AbortSignal
  /** Tokens of the uploads of this handle that are under way. */
  readonly live: Set<string>
}

/** An upload, whose creator calls `end` when the document is committed, or will not be. */
export class Upload {
  readonly #target: UploadTarget
  readonly #token: string
  #collectionNumber = 0
  #blob = 0
  #stored = 0
  #waiting: Uint8Array[] = []
  #cancelRenewal: () => void = () => {}
  #ended = false

  private constructor(target: UploadTarget) {
    this.#target = target
    this.#token = target.environment.randomId()
  }

  static async start(target: UploadTarget): Promise<Upload> {
    const upload = new Upload(target)
    target.live.add(upload.#token)
    try {
      await target.write((transaction) => upload.#begin(transaction))
    } catch (error) {
      target.live.delete(upload.#token)
      throw error
    }
    upload.#renewLater()
    return upload
  }

  /** The next chunks; all but the last one of the content are whole. They are not changed from now on. */
  async add(chunks: readonly Uint8Array[]): Promise<void> {
    for (const chunk of chunks) {
      this.#waiting.push(chunk)
      if (this.#waiting.length === UPLOAD_CHUNKS) await this.#flush()
    }
  }

  /** `siblings`: uploads for the same write that have ended. */
  async finish(name: ContentName, siblings: readonly FinishedUpload[]): Promise<FinishedUpload> {
    if (this.#waiting.length > 0) await this.#flush()
    const alike = siblings.filter((one) => one.name.length === name.length && sameBytes(one.name.digest, name.digest))
    const same = await this.#findSame(
      name,
      alike.map(({ blob, same: shared }) => shared ?? blob),
    )
    return { token: this.#token, blob: this.#blob, name, same }
  }

  /** Ends it: forgets the upload unless it was adopted. What is left when that fails is reclaimed later. */
  async end(): Promise<void> {
    if (this.#ended) return
    this.#ended = true
    this.#cancelRenewal()
    try {
      await this.#write((transaction, number) => discardUpload(transaction, number, this.#token))
    } catch {
      // What is wrong shows itself to the operation that the upload belongs to.
    } finally {
      this.#target.live.delete(this.#token)
    }
  }

  #begin(transaction: WriteTransaction): void {
    const { live, environment } = this.#target
    this.#collectionNumber = this.#target.create(transaction)
    this.#blob = beginUpload(transaction, this.#collectionNumber, this.#token, environment.wallClock(), (token) =>
      live.has(token),
    )
  }

  async #flush(): Promise<void> {
    const chunks = this.#waiting
    const from = this.#stored
    this.#waiting = []
    this.#stored += chunks.length
    await this.#continue(chunks, from)
  }

  #continue(chunks: readonly Uint8Array[], from: number): Promise<void> {
    const now = this.#target.environment.wallClock()
    return this.#write((transaction, number) => continueUpload(transaction, number, this.#token, now, chunks, from))
  }

  #write(run: (transaction: WriteTransaction, collectionNumber: number) => void): Promise<void> {
    return this.#target.write((transaction) => {
      if (this.#target.find(transaction) !== this.#collectionNumber) throw collectionDropped()
      run(transaction, this.#collectionNumber)
    })
  }

  /** A source that keeps its reader waiting must not make the upload look dead. */
  #renewLater(): void {
    this.#cancelRenewal = this.#target.environment.after(UPLOAD_RENEWAL_MS, () => {
      if (this.#ended) return
      // If it fails, the next step of the upload will tell.
      this.#continue([], 0).catch(() => {})
      this.#renewLater()
    })
  }

  /** Compares with what has the same digest, chunk by chunk, outside of any transaction. */
  async #findSame(name: ContentName, others: readonly number[]): Promise<number | undefined> {
    const snapshot = this.#target.snapshot()
    try {
      const reader = new BlobReader(snapshot, this.#collectionNumber)
      const candidates = await snapshot.attempt(() => reader.candidates(name))
      for (const candidate of [...candidates, ...others]) {
        if (await this.#isSame(snapshot, reader, candidate, name.length)) return candidate
      }
      return undefined
    } finally {
      snapshot.release()
    }
  }

  async #isSame(snapshot: HeldSnapshot, reader: BlobReader, other: number, length: number): Promise<boolean> {
    for (let index = 0; index < chunkCount(length); index++) {
      const same = await snapshot.attempt(() =>
        sameBytes(reader.chunksOf(this.#blob, index, index + 1)[0]!, reader.chunksOf(other, index, index + 1)[0]!),
      )
      if (!same) return false
    }
    return true
  }
}

/** The memory of one transaction of an upload. */
export const UPLOAD_BYTES: number = UPLOAD_CHUNKS * CHUNK_BYTES

function collectionDropped(): PannierError {
  return new PannierError('PANNIER_ABORTED', 'The collection was dropped during the write of an attachment.')
}
