/** A stream of what a generator makes. Loaded when it is needed. */

/** Bytes in the making. */
export interface ByteChunks {
  readonly chunks: AsyncGenerator<Uint8Array, void, undefined>
  /** Releases what is held for them. Idempotent. */
  release(): void
}

/** Makes the next chunk when the one before was taken. */
export function chunkStream({ chunks, release }: ByteChunks): ReadableStream<Uint8Array> {
  const finish = async (): Promise<void> => {
    try {
      await chunks.return()
    } finally {
      release()
    }
  }
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { value } = await chunks.next()
          if (value !== undefined) {
            controller.enqueue(value)
            return
          }
          release()
          controller.close()
        } catch (error) {
          release()
          throw error
        }
      },
      cancel: finish,
    },
    { highWaterMark: 0 },
  )
}
