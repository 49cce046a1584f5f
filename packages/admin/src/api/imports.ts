/** Records of a file, in one request: all of them, or none. */
import type { Values } from './records.ts'
import { request } from './request.ts'

interface ImportOptions {
  /** Whether a record whose id is there is changed; else it is refused. */
  readonly upsert: boolean
  /** True for a dry run: nothing is written. */
  readonly dryRun: boolean
}

interface Refused {
  /** The place in the list; the first is 0. */
  readonly index: number
  readonly message: string
  readonly data: Readonly<Record<string, unknown>>
}

/** Imports records. Gives the refused ones; then nothing is written. */
export async function importRecords(
  collection: string,
  rows: readonly Values[],
  options: ImportOptions,
  signal: AbortSignal,
): Promise<readonly Refused[]> {
  const path = `/imports/${encodeURIComponent(collection)}/records`
  const { refused } = await request<{ refused: readonly Refused[] }>('POST', path, {
    body: { rows, ...options },
    signal,
  })
  return refused
}
