/** Reads the content of attachments: in pieces of any size from whatever it is handed in as, into chunks of one size. */
import { PannierError } from '../../base/errors.ts'
import { ArgumentError } from '../../base/options.ts'
import { ATTACHMENT_BYTES_MAX } from './attachment-section.ts'
import { isStream, type CheckedAttachment } from './attachment-input.ts'
import { CHUNK_BYTES, type ContentName, type MemoryContent } from './blob-store.ts'
import { Md5 } from './md5.ts'

/** Cuts content into chunks; knows its digest and length at the end. */
export class ChunkCutter {
  readonly #md5 = new Md5()
  #length = 0
  #chunk = new Uint8Array(0)
  #filled = 0

  /** Gives the chunks that are whole now: copies. */
  add(piece: Uint8Array): Uint8Array[] {
    this.#length += piece.length
    if (this.#length > ATTACHMENT_BYTES_MAX) throw tooLarge()
    this.#md5.update(piece)
    const whole: Uint8Array[] = []
    for (let at = 0; at < piece.length;) {
      const count = Math.min(piece.length - at, CHUNK_BYTES - this.#filled)
      this.#reserve(count)
      this.#chunk.set(piece.subarray(at, at + count), this.#filled)
      this.#filled += count
      at += count
      if (this.#filled === CHUNK_BYTES) whole.push(this.#take())
    }
    return whole
  }

  /** The rest, and what names the whole. */
  end(): { readonly rest: readonly Uint8Array[]; readonly name: ContentName } {
    const rest = this.#filled > 0 ? [this.#take()] : []
    return { rest, name: { digest: this.#md5.digest(), length: this.#length } }
  }

  #reserve(count: number): void {
    const needed = this.#filled + count
    if (needed <= this.#chunk.length) return
    const grown = new Uint8Array(Math.min(CHUNK_BYTES, Math.max(needed, 2 * this.#chunk.length)))
    grown.set(this.#chunk.subarray(0, this.#filled))
    this.#chunk = grown
  }

  #take(): Uint8Array {
    const chunk = this.#filled === this.#chunk.length ? this.#chunk : this.#chunk.slice(0, this.#filled)
    this.#chunk = new Uint8Array(0)
    this.#filled = 0
    return chunk
  }
}

/** Cuts content at once. A copy. */
export function memoryContent(bytes: Uint8Array): MemoryContent {
  const cutter = new ChunkCutter()
  const chunks = cutter.add(bytes)
  const { rest, name } = cutter.end()
  return { ...name, chunks: [...chunks, ...rest] }
}

/** The bytes of what is in memory as a whole anyway; undefined for what has to be waited for. */
export function bytesInMemory(data: NonNullable<CheckedAttachment['data']>): Uint8Array | undefined {
  if (data instanceof ArrayBuffer) return new Uint8Array(data)
  return ArrayBuffer.isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength) : undefined
}

/** Gives content piece by piece. */
export interface PieceReader {
  /** Undefined at the end. A piece may be changed by its source once the next one is asked for. */
  next(): Promise<Uint8Array | undefined>
  /** Releases the source before its end, also while it keeps `next` waiting. */
  cancel(reason: unknown): void
}

/** `path` says in messages where it stands. */
export function readPieces(data: NonNullable<CheckedAttachment['data']>, path: string): PieceReader {
  if (data instanceof Blob) {
    // By slices, so that no engine reads ahead what nobody asks for.
    return readSlices(data.size, async (from, to) => new Uint8Array(await data.slice(from, to).arrayBuffer()))
  }
  const bytes = bytesInMemory(data)
  if (bytes !== undefined) return readSlices(bytes.length, async (from, to) => bytes.subarray(from, to))
  return isStream(data) ? readStream(data, path) : readIterable(data as AsyncIterable<unknown>, path)
}

function readSlices(length: number, slice: (from: number, to: number) => Promise<Uint8Array>): PieceReader {
  let at = 0
  return {
    next: async () => {
      if (at >= length) return undefined
      const from = at
      at = Math.min(length, from + CHUNK_BYTES)
      return slice(from, at)
    },
    cancel: () => {},
  }
}

function readStream(stream: ReadableStream<unknown>, path: string): PieceReader {
  const reader = stream.getReader()
  return {
    next: async () => {
      const { done, value } = await reader.read()
      if (!done) return checkPiece(value, path)
      reader.releaseLock()
      return undefined
    },
    // Not waited for: a source that does not answer must not delay a reader that gives up on it.
    cancel: (reason) => void reader.cancel(reason).catch(() => {}),
  }
}

function readIterable(iterable: AsyncIterable<unknown>, path: string): PieceReader {
  const iterator = iterable[Symbol.asyncIterator]()
  return {
    next: async () => {
      const { done, value } = await iterator.next()
      return done === true ? undefined : checkPiece(value, path)
    },
    cancel: () => void iterator.return?.().catch(() => {}),
  }
}

function checkPiece(piece: unknown, path: string): Uint8Array {
  if (piece instanceof Uint8Array) return piece
  if (piece instanceof ArrayBuffer) return new Uint8Array(piece)
  throw new ArgumentError(`the pieces of ${path} must be bytes`, piece)
}

function tooLarge(): PannierError {
  return new PannierError(
    'PANNIER_ATTACHMENT_TOO_LARGE',
    `An attachment has at most ${ATTACHMENT_BYTES_MAX} bytes; this one has more.`,
  )
}
