/** Writes a stream to the standard output, or to a file that appears only once it is complete. */
import { existsSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream as NodeReadableStream } from 'node:stream/web'
import { PRIVATE_FILE } from '../http/private-files.ts'
import { UsageError } from './outcome.ts'
import type { Terminal } from './terminal.ts'

/** `file`: undefined or - for the standard output. Only this account can read the file: it holds all that the database does. Gives the number of bytes. */
export async function writeOutput(
  stream: ReadableStream<Uint8Array>,
  file: string | undefined,
  { stdout, signal }: Terminal,
): Promise<number> {
  if (file !== undefined && !existsSync(dirname(file))) {
    await stream.cancel()
    throw new UsageError(`There is no folder ${dirname(file)}.`)
  }
  let bytes = 0
  const counted = async function* (chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      bytes += chunk.length
      yield chunk
    }
  }
  // Made when something listens to it: it may fail at once.
  const source = (): Readable => Readable.fromWeb(stream as NodeReadableStream<Uint8Array>)
  if (file === undefined || file === '-') {
    await pipeline(source(), counted, stdout, { signal, end: false })
    return bytes
  }
  const unfinished = `${file}.unfinished`
  try {
    await rm(unfinished, { force: true })
    const handle = await open(unfinished, 'w', PRIVATE_FILE)
    await pipeline(source(), counted, handle.createWriteStream({ flush: true }), { signal })
    await rename(unfinished, file)
  } catch (error) {
    await rm(unfinished, { force: true })
    throw error
  }
  return bytes
}
