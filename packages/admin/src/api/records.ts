/** Records of a collection. */
import { request } from './request.ts'

/** A row: values by field. */
export type Row = Readonly<Record<string, unknown>> & { readonly id: string }

export interface RowPage {
  readonly items: readonly Row[]
  /** The number of items in all; -1 where it was not asked for. */
  readonly totalItems: number
}

export interface ListQuery {
  readonly page: number
  readonly perPage: number
  readonly sort?: string
  readonly filter?: string
  readonly expand?: string
  readonly fields?: string
  readonly skipTotal?: boolean
}

/** Values of a form: files are sent beside the rest. */
export type Values = Readonly<Record<string, unknown>>

export function listRecords(collection: string, query: ListQuery, signal?: AbortSignal): Promise<RowPage> {
  return request('GET', pathOf(collection), { query: { ...query }, ...(signal !== undefined && { signal }) })
}

/** With `_rev`, by which an update says what it has seen. */
export function viewRecord(collection: string, id: string, expand = ''): Promise<Row> {
  return request('GET', `${pathOf(collection)}/${encodeURIComponent(id)}`, { query: { expand, fields: '*,_rev' } })
}

export function createRecord(collection: string, values: Values): Promise<Row> {
  return request('POST', pathOf(collection), { body: bodyOf(values) })
}

/** `rev`: what is changed; a record that somebody has changed since is left alone, and the error has the status 409. */
export function updateRecord(collection: string, id: string, values: Values, rev?: string): Promise<Row> {
  return request('PATCH', `${pathOf(collection)}/${encodeURIComponent(id)}`, {
    body: bodyOf(values),
    ...(rev !== undefined && { headers: { 'if-match': `"${rev}"` } }),
  })
}

export function deleteRecord(collection: string, id: string): Promise<void> {
  return request('DELETE', `${pathOf(collection)}/${encodeURIComponent(id)}`)
}

/** A text of the language of filters. */
export function quoted(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
}

function pathOf(collection: string): string {
  return `/collections/${encodeURIComponent(collection)}/records`
}

/** With files it is a form: the values are JSON beside them. */
function bodyOf(values: Values): Values | FormData {
  const files: [name: string, file: File][] = []
  const rest: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(values)) {
    const items: readonly unknown[] = Array.isArray(value) ? value : [value]
    const added = items.filter((item) => item instanceof File)
    files.push(...added.map((file): [string, File] => [name, file]))
    if (added.length === 0) rest[name] = value
    // Names of files that stay.
    else if (Array.isArray(value) && added.length < items.length)
      rest[name] = items.filter((item) => !(item instanceof File))
  }
  if (files.length === 0) return values
  const form = new FormData()
  form.append('@jsonPayload', JSON.stringify(rest))
  for (const [name, file] of files) form.append(name, file)
  return form
}
