/** Limits the ratio of content in gzip: a sender can make it expand a thousandfold at no cost. */
import type { Gunzip } from 'node:zlib'
import { tooLarge } from './http-error.ts'

/** Bytes that it may become for each byte that has come. Text becomes 5 to 30. */
export const RATIO_MAX = 100
/** Less than this may become of anything. */
const FREE_BYTES: number = 1024 * 1024

/** `bytes`: that have come out so far. @throws HttpError 413 */
export function checkRatio({ bytesWritten }: Gunzip, bytes: number): void {
  if (bytes > FREE_BYTES && bytes > bytesWritten * RATIO_MAX)
    throw tooLarge(`Content in gzip may become ${RATIO_MAX} times as large: send it without compression.`)
}
