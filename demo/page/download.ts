/** The cities as the server streams them: one JSON document a line, in batches. */
import type { City } from '../shared/city.ts'
import { BATCH_DOCUMENTS } from '../shared/load.ts'
import type { CitySource } from '../shared/load.ts'

/** The server can't be reached, answers with something else, or broke off. */
export class DownloadError extends Error {}

export interface DownloadProgress {
  readonly documents: number
  /** Of JSON, as it arrives decompressed. */
  readonly bytes: number
  readonly durationMs: number
}

/** Asks the server what it has; the download itself begins with the first batch. */
export async function openDownload(
  signal: AbortSignal,
  onProgress: (progress: DownloadProgress) => void,
): Promise<CitySource> {
  const head = await request('/cities.ndjson', { method: 'HEAD', signal })
  return {
    name: head.headers.get('x-city-source') ?? 'unknown',
    documents: Number(head.headers.get('x-city-count')),
    batches: (from) => readBatches(from, signal, onProgress),
  }
}

async function* readBatches(
  from: number,
  signal: AbortSignal,
  onProgress: (progress: DownloadProgress) => void,
): AsyncGenerator<readonly City[]> {
  const started = performance.now()
  const response = await request(`/cities.ndjson?from=${from}`, { signal })
  const reader = response.body?.getReader()
  if (reader === undefined) throw new DownloadError('The answer has no body.')
  const decoder = new TextDecoder()
  let bytes = 0
  let documents = from
  let rest = ''
  let batch: City[] = []
  try {
    for (;;) {
      const { done, value } = await read(reader, signal)
      if (done) break
      bytes += value.byteLength
      const lines = (rest + decoder.decode(value, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) batch.push(JSON.parse(line) as City)
      documents += lines.length
      onProgress({ documents, bytes, durationMs: performance.now() - started })
      while (batch.length >= BATCH_DOCUMENTS) {
        yield batch.slice(0, BATCH_DOCUMENTS)
        batch = batch.slice(BATCH_DOCUMENTS)
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
  if (batch.length > 0) yield batch
}

async function request(url: string, init: RequestInit): Promise<Response> {
  try {
    const response = await fetch(url, { ...init, cache: 'no-store' })
    if (!response.ok) throw new DownloadError(`The server answered with status ${response.status}.`)
    return response
  } catch (error) {
    throw asDownloadError(error, init.signal)
  }
}

async function read(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  signal: AbortSignal,
): Promise<ReadableStreamReadResult<Uint8Array>> {
  try {
    return await reader.read()
  } catch (error) {
    throw asDownloadError(error, signal)
  }
}

function asDownloadError(error: unknown, signal: AbortSignal | null | undefined): unknown {
  if (signal?.aborted || error instanceof DownloadError) return error
  return new DownloadError(error instanceof Error ? error.message : String(error), { cause: error })
}
