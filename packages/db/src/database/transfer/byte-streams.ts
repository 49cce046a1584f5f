/** Bytes from callers as an async iterable, and streams of a generator's output. Loaded on first use. */
import { throwIfCancelled, untilCancelled } from '../../base/long-work.ts'
import { streamChunks } from '../../base/async.ts'
import { ArgumentError } from '../../base/options.ts'
import type { ByteSource } from './byte-stream.ts'

/** A TypeError tells what can't be a source. */
export function bytesOf(source: ByteSource): AsyncIterable<Uint8Array> {
  if (typeof source === 'string') return chunksOf([encoder.encode(source)])
  if (source instanceof ArrayBuffer) return chunksOf([new Uint8Array(source)])
  if (ArrayBuffer.isView(source)) return chunksOf([asBytes(source)])
  if (typeof Blob === 'function' && source instanceof Blob) return chunksOf(streamChunks(source.stream()))
  if (typeof source === 'object' && source !== null) {
    if ('getReader' in source) return chunksOf(streamChunks(source))
    if (Symbol.asyncIterator in source) return chunksOf(source)
  }
  throw new ArgumentError(
    'source must be a string, bytes, a Blob, a ReadableStream or an async iterable of bytes or strings',
    source,
  )
}

/** How many bytes there will be, where that is known. */
export function sizeOf(source: ByteSource): number | undefined {
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) return source.byteLength
  if (typeof source === 'string') return source.length
  return typeof Blob === 'function' && source instanceof Blob ? source.size : undefined
}

/** As `bytesOf`, and it ends with the signal also where the source keeps it waiting (a download that stalls). */
export async function* bytesUntilCancelled(
  open: () => ByteSource | Promise<ByteSource>,
  signal: AbortSignal | undefined,
  name: string,
): AsyncGenerator<Uint8Array, void, undefined> {
  let iterator: AsyncIterator<Uint8Array> | undefined
  try {
    throwIfCancelled(signal, name)
    const opened = await untilCancelled(Promise.resolve(open()), signal, name)
    iterator = bytesOf(opened)[Symbol.asyncIterator]()
    for (;;) {
      throwIfCancelled(signal, name)
      const next = await untilCancelled(iterator.next(), signal, name)
      if (next.done === true) return
      yield next.value
    }
  } catch (error) {
    throwIfCancelled(signal, name)
    throw error
  } finally {
    const closing = iterator?.return?.()
    // One that keeps others waiting may never end.
    if (signal?.aborted === true) closing?.catch(() => {})
    else await closing
  }
}

const encoder = new TextEncoder()

async function* chunksOf(
  source: AsyncIterable<Uint8Array | string> | Iterable<Uint8Array | string>,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const chunk of source) yield toBytes(chunk)
}

function toBytes(chunk: unknown): Uint8Array {
  if (typeof chunk === 'string') return encoder.encode(chunk)
  if (chunk instanceof ArrayBuffer) return new Uint8Array(chunk)
  if (ArrayBuffer.isView(chunk)) return asBytes(chunk)
  throw new ArgumentError('a source must give bytes or strings', chunk)
}

/** Copies a Buffer too: its `slice` does not copy, so a write into it would change the caller's bytes. */
function asBytes(view: ArrayBufferView): Uint8Array {
  return view.constructor === Uint8Array ? view : new Uint8Array(view.buffer, view.byteOffset, view.byteLength)
}

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
