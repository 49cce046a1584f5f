/** Reads all records that a filter matches, and gives them to the browser as a file. */
import type { Collection } from '../../../api/collections.ts'
import { quoted } from '../../../api/records.ts'
import { listRecords } from '../../../state/device/records.ts'
import type { Row } from '../../../api/records.ts'
import { shownFields } from '../../field-types.ts'
import { csvLine, csvOf } from './csv.ts'

export type Format = 'csv' | 'json'

const PAGE = 500
const TYPES: Readonly<Record<Format, string>> = { csv: 'text/csv', json: 'application/json' }

interface ExportOptions {
  readonly filter: string
  readonly format: Format
  readonly onProgress: (done: number) => void
  readonly signal: AbortSignal
}

/** In the order of the ids. @throws ApiError */
export async function exportRecords(collection: Collection, options: ExportOptions): Promise<Blob> {
  const fields = shownFields(collection)
  const names = fields.map(({ name }) => name)
  const parts: string[] = [options.format === 'csv' ? csvLine(names) : '[']
  let done = 0
  for await (const rows of pagesOf(collection, names, options)) {
    if (options.format === 'csv') parts.push(csvOf(fields, rows))
    else parts.push(...rows.map((row, at) => `${done + at === 0 ? '' : ','}\n${JSON.stringify(pick(row, names))}`))
    done += rows.length
    options.onProgress(done)
  }
  if (options.format === 'json') parts.push('\n]\n')
  return new Blob(parts, { type: TYPES[options.format] })
}

/** Each page begins behind the last id: what others make or delete meanwhile shifts no record out of it. */
async function* pagesOf(
  collection: Collection,
  names: readonly string[],
  { filter, signal }: ExportOptions,
): AsyncGenerator<readonly Row[]> {
  let behind: string | undefined
  for (;;) {
    const rest = behind === undefined ? '' : `id > ${quoted(behind)}`
    const both = [filter === '' ? '' : `(${filter})`, rest].filter((part) => part !== '').join(' && ')
    const query = { page: 1, perPage: PAGE, sort: 'id', filter: both, fields: names.join(','), skipTotal: true }
    const { items } = await listRecords(collection.name, query, signal)
    if (items.length > 0) yield items
    if (items.length < PAGE) return
    behind = items.at(-1)!.id
  }
}

function pick(row: Row, names: readonly string[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(names.map((name) => [name, row[name]]))
}
