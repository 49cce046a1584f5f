/** An attachment that is read: lazily, whole or in part, at once or as a stream. */
import { checkOptions, type OptionNames, badArgument } from '../../base/options.ts'
import { isPromise, type MaybePromise } from '../../base/async.ts'
import { PannierError } from '../../base/errors.ts'
import type { Snapshot } from '../../kv/key-value-store.ts'
import {
  digestText,
  type AttachmentEntry,
  decodeAttachments,
  stubOf,
  type AttachmentStub,
} from './attachment-section.ts'
import { BlobReader, CHUNK_BYTES, chunkCount } from './blob-store.ts'
import { readByteString } from '../../codec/bytes.ts'

/** A part of the content, as `slice` has it: up to but not including `end`. What lies beyond the content is left out. */
export interface ByteRange {
  /** The start: the first byte, from 0; 0 when left out. */
  readonly start?: number
  /** The end: the byte after the last one; the length when left out. */
  readonly end?: number
}

const RANGE: OptionNames<ByteRange> = { start: true, end: true }

/** A snapshot that is held until it is released. */
export interface BlobSource {
  readonly snapshot: Snapshot
  readonly collectionNumber: number
  attempt<T>(read: () => T): MaybePromise<T>
  release(): void
}

/** Chunks that are fetched together when all is wanted at once. */
const READ_CHUNKS = 4

/**
 * The result of `getAttachment`. The content is read when it is asked for, as of then. Content without any reference is gone by then, but
 * it stays during a read.
 */
export class Attachment {
  /** The name, unique within its document. */
  readonly name: string
  /** The media type, such as 'image/jpeg'. */
  readonly contentType: string
  /** `md5-` and the MD5 of the content in base64. */
  readonly digest: string
  /** Bytes of the whole content. */
  readonly length: number
  readonly #blob: number
  readonly #collectionNumber: number
  readonly #open: () => Promise<BlobSource>
  readonly #range: ByteRange

  /** @internal Use `collection.getAttachment`. */
  constructor(
    entry: AttachmentEntry,
    collectionNumber: number,
    open: () => Promise<BlobSource>,
    range: ByteRange = {},
  ) {
    this.name = entry.name
    this.contentType = entry.contentType
    this.digest = digestText(entry.digest)
    this.length = entry.length
    this.#blob = entry.blob
    this.#collectionNumber = collectionNumber
    this.#open = open
    this.#range = range
  }

  /**
   * @throws PANNIER_NOT_FOUND if the attachment was removed since.
   *
   * @example
   * const bytes = await attachment.bytes({ start: 0, end: 1024 })
   */
  async bytes(range: ByteRange = this.#range): Promise<Uint8Array<ArrayBuffer>> {
    const { start, end } = this.#clamp(range, 'bytes()')
    const bytes = new Uint8Array(end - start)
    let filled = 0
    await this.#pieces(start, end, READ_CHUNKS, (piece) => {
      bytes.set(piece, filled)
      filled += piece.length
    })
    return bytes
  }

  /**
   * The content as UTF-8. @throws as `bytes`.
   *
   * @example
   * show(await attachment.text())
   */
  async text(range?: ByteRange): Promise<string> {
    return new TextDecoder().decode(await this.bytes(range))
  }

  /**
   * With the attachment's content type. @throws as `bytes`.
   *
   * @example
   * image.src = URL.createObjectURL(await attachment.blob())
   */
  async blob(range?: ByteRange): Promise<Blob> {
    return new Blob([await this.bytes(range)], { type: this.contentType })
  }

  /**
   * Reads as fast as it is read from, and takes the memory of one piece. Read it to its end or cancel it: until then
   * the pages that it has not read can't be used again.
   *
   * @example
   * const response = new Response(attachment.stream(), { headers: { 'content-type': attachment.contentType } })
   */
  stream(range: ByteRange = this.#range): ReadableStream<Uint8Array<ArrayBuffer>> {
    const { start, end } = this.#clamp(range, 'stream()')
    let at = start
    let source: BlobSource | undefined
    const release = (): void => source?.release()
    return new ReadableStream<Uint8Array<ArrayBuffer>>(
      {
        pull: async (controller) => {
          try {
            if (at < end) {
              source ??= await this.#openChecked()
              const to = Math.min(end, (Math.floor(at / CHUNK_BYTES) + 1) * CHUNK_BYTES)
              const [piece] = await this.#read(source, at, to)
              at = to
              controller.enqueue(piece!.slice())
            }
            if (at < end) return
            release()
            controller.close()
          } catch (error) {
            release()
            throw error
          }
        },
        cancel: release,
      },
      { highWaterMark: 0 },
    )
  }

  #clamp(range: ByteRange, call: string): { start: number; end: number } {
    checkOptions(call, range, RANGE)
    const { start = 0, end = this.length } = range
    checkRange({ start, end }, call)
    const from = Math.min(start, this.length)
    return { start: from, end: Math.max(from, Math.min(end, this.length)) }
  }

  async #pieces(start: number, end: number, chunks: number, take: (piece: Uint8Array) => void): Promise<void> {
    if (start === end) return
    const source = await this.#openChecked()
    try {
      for (let at = start; at < end;) {
        const to = Math.min(end, (Math.floor(at / CHUNK_BYTES) + chunks) * CHUNK_BYTES)
        const read = this.#read(source, at, to)
        for (const piece of isPromise(read) ? await read : read) take(piece)
        at = to
      }
    } finally {
      source.release()
    }
  }

  /** Views of the bytes from `start` to `end`. */
  #read({ snapshot, attempt }: BlobSource, start: number, end: number): MaybePromise<Uint8Array[]> {
    const first = Math.floor(start / CHUNK_BYTES)
    const last = Math.ceil(end / CHUNK_BYTES)
    return attempt(() =>
      new BlobReader(snapshot, this.#collectionNumber)
        .chunksOf(this.#blob, first, last)
        .map((chunk, at) => chunk.subarray(...within(chunk, (first + at) * CHUNK_BYTES, start, end))),
    )
  }

  async #openChecked(): Promise<BlobSource> {
    const source = await this.#open()
    try {
      const { snapshot, collectionNumber } = source
      const there =
        collectionNumber === this.#collectionNumber &&
        (await source.attempt(() => new BlobReader(snapshot, collectionNumber).record(this.#blob))) !== undefined
      if (there) return source
      throw new PannierError('PANNIER_NOT_FOUND', `The attachment '${this.name}' was removed since it was asked for.`)
    } catch (error) {
      source.release()
      throw error
    }
  }
}

export function checkRange({ start, end }: ByteRange, call: string): void {
  for (const at of [start, end]) {
    if (at !== undefined && (!Number.isSafeInteger(at) || at < 0))
      throw badArgument(call, 'start and end must be whole numbers from 0', at)
  }
}

/** The part of a chunk at `offset` that lies between `start` and `end`. */
function within(chunk: Uint8Array, offset: number, start: number, end: number): [from: number, to: number] {
  return [Math.max(0, start - offset), Math.min(chunk.length, end - offset)]
}

/** How the content of attachments is given inside of documents. */
export type AttachmentForm = 'base64' | 'blob' | 'bytes'

/** An attachment in a document that is read with its attachments. */
export type InlineAttachment = Omit<AttachmentStub, 'length' | 'stub'> & { readonly data: string | Blob | Uint8Array }

/** `_attachments` of a document with all of their content. `section`: of its body. */
export function inlineAttachments(
  snapshot: Snapshot,
  collectionNumber: number,
  section: Uint8Array,
  form: AttachmentForm,
): Record<string, InlineAttachment> {
  const reader = new BlobReader(snapshot, collectionNumber)
  const inlined = decodeAttachments(section).map((entry): [string, InlineAttachment] => {
    const { contentType, digest, revpos } = stubOf(entry)
    const chunks = reader.chunksOf(entry.blob, 0, chunkCount(entry.length))
    return [entry.name, { contentType, digest, revpos, data: toForm(chunks, entry, form) }]
  })
  return Object.fromEntries(inlined)
}

function toForm(
  chunks: readonly Uint8Array[],
  { length, contentType, name }: AttachmentEntry,
  form: AttachmentForm,
): string | Blob | Uint8Array {
  if (form === 'blob') return new Blob(chunks as Uint8Array<ArrayBuffer>[], { type: contentType })
  if (form === 'base64' && length > BASE64_BYTES_MAX) {
    throw new PannierError('PANNIER_ATTACHMENT_TOO_LARGE', `The attachment '${name}' is too long for base64.`)
  }
  const bytes = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return form === 'bytes' ? bytes : btoa(readByteString(bytes, 0, length))
}

/** Strings have a limit of their own, which is lowest in V8: 512 Mi characters. */
const BASE64_BYTES_MAX: number = 380 * 1024 * 1024
