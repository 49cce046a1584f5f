/**
 * Where bodies wait until they are complete: in memory if they are small and there is room for all, otherwise in a
 * file. The file has no name, so it disappears with the process. Its bytes are encrypted with a key that exists only in
 * memory.
 */
import { createCipheriv, type Cipheriv } from 'node:crypto'
import { mkdir, open, rm } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import type { Environment } from 'pannier/types'
import { HttpError } from './http-error.ts'

interface BodyStoreLimits {
  /** Bytes of one body in memory; a longer one goes to a file. */
  readonly memoryBytesMax: number
  /** Bytes of all bodies in memory. */
  readonly sharedBytesMax: number
  /** Bytes of all files. */
  readonly fileBytesMax: number
}

export interface StoredBody {
  readonly length: number
  /** All bytes of a range. */
  read(start: number, end: number): Promise<Uint8Array>
  dispose(): Promise<void>
}

const KIBIBYTE = 1024
const MEBIBYTE: number = 1024 * KIBIBYTE
const LIMITS: BodyStoreLimits = {
  memoryBytesMax: 4 * MEBIBYTE,
  sharedBytesMax: 64 * MEBIBYTE,
  fileBytesMax: 16 * 1024 * MEBIBYTE,
}
const GATHERED_BYTES: number = 256 * KIBIBYTE
const PRIVATE_FILE = 0o600

export class BodyStore {
  readonly #folder: string
  readonly #environment: Environment
  readonly #limits: BodyStoreLimits
  #memoryBytes = 0
  #fileBytes = 0

  /** `folder`: for the files; made when there is one. */
  constructor(folder: string, environment: Environment, limits: Partial<BodyStoreLimits> = {}) {
    this.#folder = folder
    this.#environment = environment
    this.#limits = { ...LIMITS, ...limits }
  }

  /**
   * Reads `pieces` to their end. `look` sees each piece as it comes.
   *
   * @throws HttpError 503 if there is no room for it now; errors of `pieces` or `look`
   */
  async receive(pieces: AsyncIterable<Uint8Array>, look: (piece: Uint8Array) => void): Promise<StoredBody> {
    let stored: WritableBody = new MemoryBody((bytes) => void (this.#memoryBytes += bytes))
    try {
      for await (const piece of pieces) {
        look(piece)
        const { memoryBytesMax, sharedBytesMax, fileBytesMax } = this.#limits
        const isFull =
          stored.length + piece.length > memoryBytesMax || this.#memoryBytes + piece.length > sharedBytesMax
        if (stored instanceof MemoryBody && isFull) stored = await this.#moved(stored)
        if (stored instanceof FileBody && this.#fileBytes + piece.length > fileBytesMax)
          throw new HttpError(503, 'service_unavailable', 'Too much is being uploaded at once: try again later.')
        await stored.write(piece)
      }
      await stored.flush()
      return stored
    } catch (error) {
      await stored.dispose()
      throw (error as { code?: unknown }).code === 'ENOSPC'
        ? new HttpError(507, 'insufficient_storage', 'The disk is full.', { cause: error })
        : error
    }
  }

  #file(): Promise<FileBody> {
    return FileBody.make(this.#folder, this.#environment, (bytes) => void (this.#fileBytes += bytes))
  }

  async #moved(body: MemoryBody): Promise<FileBody> {
    const file = await this.#file()
    try {
      for (const piece of body.pieces) await file.write(piece)
      return file
    } catch (error) {
      await file.dispose()
      throw error
    } finally {
      await body.dispose()
    }
  }
}

interface WritableBody extends StoredBody {
  write(piece: Uint8Array): Promise<void>
  /** Flushes it. Call it before the first `read`. */
  flush(): Promise<void>
}

/** Tells how many bytes more, or less, there are. */
type Count = (bytes: number) => void

class MemoryBody implements WritableBody {
  readonly pieces: Uint8Array[] = []
  readonly #count: Count
  #whole: Uint8Array = Buffer.alloc(0)
  length = 0

  constructor(count: Count) {
    this.#count = count
  }

  async write(piece: Uint8Array): Promise<void> {
    this.pieces.push(piece)
    this.length += piece.length
    this.#count(piece.length)
  }

  async flush(): Promise<void> {
    this.#whole = this.pieces.length === 1 ? this.pieces[0]! : Buffer.concat(this.pieces)
    this.pieces.length = 0
  }

  async read(start: number, end: number): Promise<Uint8Array> {
    return this.#whole.subarray(start, end)
  }

  async dispose(): Promise<void> {
    this.#count(-this.length)
    this.length = 0
  }
}

/** AES in counter mode: the n-th block of 16 bytes is encrypted with the n-th counter, so any range can be read. */
class FileBody implements WritableBody {
  readonly #file: FileHandle
  readonly #count: Count
  readonly #key: Uint8Array
  readonly #encrypt: Cipheriv
  #waiting: Uint8Array[] = []
  #waitingBytes = 0
  /** The bytes that were read last. */
  #window: { readonly from: number; readonly bytes: Uint8Array } = { from: 0, bytes: new Uint8Array(0) }
  #closed: Promise<void> | undefined
  length = 0

  private constructor(file: FileHandle, key: Uint8Array, count: Count) {
    this.#file = file
    this.#key = key
    this.#encrypt = createCipheriv(CIPHER, key, counterOf(0))
    this.#count = count
  }

  static async make(folder: string, environment: Environment, count: Count): Promise<FileBody> {
    await mkdir(folder, { recursive: true })
    const path = join(folder, `upload-${environment.randomId()}`)
    const file = await open(path, 'wx+', PRIVATE_FILE)
    await rm(path, { force: true })
    return new FileBody(file, environment.randomBytes(KEY_BYTES), count)
  }

  async write(piece: Uint8Array): Promise<void> {
    this.length += piece.length
    this.#count(piece.length)
    this.#waiting.push(piece)
    this.#waitingBytes += piece.length
    if (this.#waitingBytes >= GATHERED_BYTES) await this.flush()
  }

  async flush(): Promise<void> {
    const bytes = this.#encrypt.update(Buffer.concat(this.#waiting))
    this.#waiting = []
    this.#waitingBytes = 0
    await this.#file.appendFile(bytes)
  }

  /** Small ranges are mostly read one behind the other. */
  async read(start: number, end: number): Promise<Uint8Array> {
    const { from, bytes } = this.#window
    if (start >= from && end <= from + bytes.length) return bytes.subarray(start - from, end - from)
    if (end - start >= GATHERED_BYTES) return this.#decrypted(start, end)
    const read = await this.#decrypted(start, Math.min(this.length, start + GATHERED_BYTES))
    this.#window = { from: start, bytes: read }
    return read.subarray(0, end - start)
  }

  async #decrypted(start: number, end: number): Promise<Uint8Array> {
    const block = Math.floor(start / BLOCK_BYTES)
    const from = block * BLOCK_BYTES
    const sealed = Buffer.alloc(end - from)
    for (let at = 0; at < sealed.length;) {
      const { bytesRead } = await this.#file.read(sealed, at, sealed.length - at, from + at)
      if (bytesRead === 0) throw new Error('a file of an upload has become shorter')
      at += bytesRead
    }
    return createCipheriv(CIPHER, this.#key, counterOf(block))
      .update(sealed)
      .subarray(start - from)
  }

  async dispose(): Promise<void> {
    this.#count(-this.length)
    this.length = 0
    await (this.#closed ??= this.#file.close())
  }
}

const CIPHER = 'aes-256-ctr'
const KEY_BYTES = 32
const BLOCK_BYTES = 16

function counterOf(block: number): Buffer {
  const counter = Buffer.alloc(BLOCK_BYTES)
  counter.writeBigUInt64BE(BigInt(block), BLOCK_BYTES - 8)
  return counter
}
