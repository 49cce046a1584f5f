/** Streams for code that is not ours: what a source throws is not taken to be handed over with the stream. */
import { Readable } from 'node:stream'

/**
 * The bytes of a source as a stream. `failed` hears of the first error, whether anybody else listens or not. Without a listener an error
 * of a stream ends the process.
 */
export function handedStream(source: AsyncIterable<Uint8Array>, failed: (error: Error) => void): Readable {
  const stream = Readable.from(source, { objectMode: false })
  stream.on('error', failed)
  return stream
}
