/** Byte streams into and out of the library. Always loaded: keep it small. */

/** Where bytes come from. Text stands for its UTF-8. */
export type ByteSource =
  | ReadableStream<Uint8Array>
  | Blob
  | Uint8Array
  | ArrayBuffer
  | string
  | AsyncIterable<Uint8Array | string>

/** A stream whose making begins at once, and is loaded first. A failure is the stream's. */
export function lateStream(make: () => Promise<ReadableStream<Uint8Array>>): ReadableStream<Uint8Array> {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  make()
    .then((stream) => stream.pipeTo(writable))
    // The reader has cancelled it, or has the error already.
    .catch((error: unknown) => writable.abort(error))
    .catch(() => {})
  return readable
}
