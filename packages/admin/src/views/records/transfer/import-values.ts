/** What is in a file of records: CSV or JSON, as values that the server takes. */
import type { Collection, Field, FieldType } from '../../../api/collections.ts'
import type { Values } from '../../../api/records.ts'
import { parseCsv } from './csv.ts'

const PARSED: ReadonlySet<FieldType> = new Set(['bool', 'number', 'json', 'geoPoint'])
const LISTS: ReadonlySet<FieldType> = new Set(['select', 'relation'])

export interface ImportedFile {
  readonly rows: readonly Values[]
  /** Names that no field takes: files, dates that are set by themselves, and what the collection does not have. */
  readonly leftOut: readonly string[]
}

/** @throws Error what can't be read */
export function readImport({ fields }: Collection, name: string, text: string): ImportedFile {
  const isCsv = /\.csv$/i.test(name)
  const given = isCsv ? parseCsv(text) : parseJson(text)
  const taken = new Map(
    fields.filter(({ type }) => type !== 'file' && type !== 'autodate').map((field) => [field.name, field]),
  )
  const leftOut = new Set<string>()
  const rows = given.map((row) => {
    const values: Record<string, unknown> = {}
    for (const [key, value] of Object.entries(row)) {
      const field = taken.get(key)
      if (field === undefined) leftOut.add(key)
      else if (!isCsv) values[key] = value
      else if (value !== '') values[key] = valueOf(field, value as string)
      if (field?.type === 'password' && field.system) values['passwordConfirm'] = values[key]
    }
    return values
  })
  return { rows, leftOut: [...leftOut] }
}

/** A list of records, or the answer of a list of the API. */
function parseJson(text: string): readonly Readonly<Record<string, unknown>>[] {
  const given = JSON.parse(text) as unknown
  const rows = Array.isArray(given) ? given : (given as { readonly items?: unknown } | null)?.items
  const isRow = (row: unknown): boolean => typeof row === 'object' && row !== null && !Array.isArray(row)
  if (!Array.isArray(rows) || !rows.every(isRow)) throw new Error('it has to be a list of objects')
  return rows as readonly Readonly<Record<string, unknown>>[]
}

/** What is no value of the field's type stays a text: the server says so. */
function valueOf({ type }: Field, cell: string): unknown {
  if (!PARSED.has(type) && !(LISTS.has(type) && cell.startsWith('['))) return cell
  try {
    return JSON.parse(cell) as unknown
  } catch {
    return cell
  }
}
