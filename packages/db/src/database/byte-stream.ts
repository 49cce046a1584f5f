/** Streams of bytes in and out of the library, and what long work that streams is given. */

/** Options of long work. */
export interface LongWork {
  /** Ends it with PANNIER_ABORTED. */
  readonly signal?: AbortSignal | undefined
  /** Called with the part that is done, 0 to 1. */
  readonly onProgress?: ((done: number) => void) | undefined
}

/** Where bytes come from. Text stands for its UTF-8. */
export type ByteSource =
  | ReadableStream<Uint8Array>
  | Blob
  | Uint8Array
  | ArrayBuffer
  | string
  | AsyncIterable<Uint8Array | string>

/** Bytes in the making. */
export interface ByteChunks {
  readonly chunks: AsyncGenerator<Uint8Array, void, undefined>
  /** Lets go of what is held for them. Idempotent. */
  release(): void
}

/** Makes the next chunk when the one before was taken. `start` is called at once. */
export function byteStream(start: () => Promise<ByteChunks>): ReadableStream<Uint8Array> {
  const started = start()
  const finish = async (): Promise<void> => {
    const { chunks, release } = await started
    try {
      await chunks.return()
    } finally {
      release()
    }
  }
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { value } = await (await started).chunks.next()
        if (value !== undefined) {
          controller.enqueue(value)
          return
        }
        await finish()
        controller.close()
      } catch (error) {
        await finish().catch(() => {})
        throw error
      }
    },
    cancel: () => finish().catch(() => {}),
  })
}
