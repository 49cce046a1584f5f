/**
 * Prepares the content of attachments for the transaction that writes their documents. Short content is read into
 * memory and stored by that transaction. Long content is uploaded before.
 */
import { throwIfCancelled, untilCancelled } from '../../base/long-work.ts'
import { PannierError } from '../../base/errors.ts'
import { ArgumentError } from '../../base/options.ts'
import type { CheckedAttachment } from './attachment-input.ts'
import { TRANSACTION_ATTACHMENT_BYTES_MAX } from './attachment-section.ts'
import type { FinishedUpload } from './blob-changes.ts'
import { CHUNK_BYTES, type MemoryContent } from './blob-store.ts'
import { bytesInMemory, ChunkCutter, memoryContent, readPieces, type PieceReader } from './content-reader.ts'
import { Upload, type UploadTarget } from './upload.ts'

/** Content that is in memory anyway goes into the write's transaction up to this size. */
const MEMORY_BYTES_MAX: number = 32 * 1024 * 1024
/** Content that must be read goes into the write's transaction up to this number of chunks; longer content is uploaded. */
const READ_CHUNKS_MAX = 4

/** An attachment whose content is at hand. */
export interface PreparedAttachment extends Omit<CheckedAttachment, 'data'> {
  /** Undefined: a stub. */
  readonly content: MemoryContent | FinishedUpload | undefined
}

/** The preparation of attachments for one write. `end` must be called when it is over. */
export class AttachmentPreparation {
  readonly #target: UploadTarget | undefined
  readonly #signal: AbortSignal | undefined
  readonly #uploads: Upload[] = []
  readonly #finished: FinishedUpload[] = []
  #bytesInMemory = 0

  /** Without `target`, inside a transaction, nothing can be uploaded: all of it takes memory, and is limited. */
  constructor(target: UploadTarget | undefined, signal?: AbortSignal) {
    this.#target = target
    const signals = [signal, target?.closing].filter((one) => one !== undefined)
    this.#signal = signals.length > 1 ? AbortSignal.any(signals) : signals[0]
  }

  /** Prepares attachments one after another, as each may take its share of memory. */
  async prepare(attachments: readonly CheckedAttachment[]): Promise<PreparedAttachment[]> {
    const prepared: PreparedAttachment[] = []
    for (const { data, ...rest } of attachments) {
      const content = data === undefined ? undefined : await this.#content(data, `_attachments['${rest.name}'].data`)
      prepared.push({ ...rest, content })
    }
    return prepared
  }

  /** When the write is over, however: forgets uploads that nothing has adopted. */
  async end(): Promise<void> {
    await Promise.all(this.#uploads.map((upload) => upload.end()))
  }

  async #content(data: NonNullable<CheckedAttachment['data']>, path: string): Promise<MemoryContent | FinishedUpload> {
    throwIfCancelled(this.#signal, 'The attachment upload')
    const bytes = bytesInMemory(data)
    const room = this.#target === undefined ? TRANSACTION_ATTACHMENT_BYTES_MAX : MEMORY_BYTES_MAX
    if (bytes !== undefined && this.#bytesInMemory + bytes.length <= room) {
      this.#bytesInMemory += bytes.length
      return memoryContent(bytes)
    }
    const reader = readPieces(data, path)
    const signal = this.#signal
    const abort = (): void => reader.cancel(signal?.reason)
    signal?.addEventListener('abort', abort)
    try {
      return await this.#read(reader, room)
    } catch (error) {
      reader.cancel(error)
      throw error
    } finally {
      signal?.removeEventListener('abort', abort)
    }
  }

  async #read(reader: PieceReader, room: number): Promise<MemoryContent | FinishedUpload> {
    const cutter = new ChunkCutter()
    const chunks: Uint8Array[] = []
    let upload: Upload | undefined
    for (;;) {
      const piece = await this.#next(reader)
      if (piece === undefined) break
      const whole = cutter.add(piece)
      if (upload !== undefined) {
        await upload.add(whole)
        continue
      }
      chunks.push(...whole)
      const bytes = this.#bytesInMemory + chunks.length * CHUNK_BYTES
      if (this.#target === undefined) {
        if (bytes > room) throw tooMuchForTransaction()
      } else if (chunks.length > READ_CHUNKS_MAX || bytes > room) {
        upload = await Upload.start(this.#target)
        this.#uploads.push(upload)
        await upload.add(chunks)
        chunks.length = 0
      }
    }
    const { rest, name } = cutter.end()
    if (upload !== undefined) {
      await upload.add(rest)
      const finished = await upload.finish(name, this.#finished)
      this.#finished.push(finished)
      return finished
    }
    this.#bytesInMemory += name.length
    return { ...name, chunks: [...chunks, ...rest] }
  }

  /** A signal ends the wait for a source at once. */
  #next(reader: PieceReader): Promise<Uint8Array | undefined> {
    throwIfCancelled(this.#signal, 'The attachment upload')
    return untilCancelled(reader.next(), this.#signal, 'The attachment upload')
  }
}

/** Prepares attachments that are in memory as a whole, at once; for callers that can't wait. */
export function prepareInMemory(attachments: readonly CheckedAttachment[]): PreparedAttachment[] {
  return attachments.map(({ data, ...rest }) => {
    if (data === undefined) return { ...rest, content: undefined }
    const bytes = bytesInMemory(data)
    if (bytes === undefined) {
      throw new ArgumentError(
        `_attachments['${rest.name}'].data must be bytes or base64 here (putAttachment() takes others)`,
        data,
      )
    }
    if (bytes.length > TRANSACTION_ATTACHMENT_BYTES_MAX) throw tooMuchForTransaction()
    return { ...rest, content: memoryContent(bytes) }
  })
}

function tooMuchForTransaction(): PannierError {
  return new PannierError(
    'PANNIER_ATTACHMENT_TOO_LARGE',
    `Attachments that are written inside a transaction take at most ${TRANSACTION_ATTACHMENT_BYTES_MAX} bytes together. ` +
      'Write larger ones before it.',
  )
}
