/**
 * A queue of bytes: takes chunks of any size, returns pieces of the sizes asked for. Also recognises sealed snapshot
 * files.
 */
export class ByteQueue {
  readonly #source: AsyncIterator<Uint8Array>
  #chunk: Uint8Array = new Uint8Array(0)
  #ended = false

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]()
  }

  /** `count` bytes, fewer only where the source ends. */
  async take(count: number): Promise<Uint8Array> {
    const parts: Uint8Array[] = []
    let missing = count
    while (missing > 0 && !this.#ended) {
      if (this.#chunk.length === 0) {
        const next = await this.#source.next()
        if (next.done === true) this.#ended = true
        else this.#chunk = next.value
        continue
      }
      const part = this.#chunk.subarray(0, missing)
      this.#chunk = this.#chunk.subarray(part.length)
      missing -= part.length
      parts.push(part)
    }
    if (parts.length === 1) return parts[0]!
    const bytes = new Uint8Array(count - missing)
    let at = 0
    for (const part of parts) {
      bytes.set(part, at)
      at += part.length
    }
    return bytes
  }

  /** The rest of the bytes: what was not taken. */
  async *rest(): AsyncGenerator<Uint8Array, void, undefined> {
    if (this.#chunk.length > 0) yield this.#chunk
    while (!this.#ended) {
      const next = await this.#source.next()
      if (next.done === true) this.#ended = true
      else yield next.value
    }
  }

  /** Lets the source go of what it holds. */
  async close(): Promise<void> {
    if (!this.#ended) await this.#source.return?.()
  }
}

/** The first bytes of a sealed snapshot file. */
export const SEALED_SNAPSHOT_MAGIC = 'PNNRSEAL'

export function isSealedSnapshot(bytes: Uint8Array): boolean {
  return String.fromCharCode(...bytes.subarray(0, SEALED_SNAPSHOT_MAGIC.length)) === SEALED_SNAPSHOT_MAGIC
}
