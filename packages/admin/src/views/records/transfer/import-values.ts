/** The content of a file of records: CSV or JSON. Its columns are matched to fields, and its cells become values that the server takes. */
import type { Collection, Field } from '../../../api/collections.ts'
import type { Values } from '../../../api/records.ts'
import { isObject } from '../../../api/request.ts'
import { TRANSFER } from '../../../texts/transfer.ts'
import { kindOf } from '../../kinds.ts'
import { parseCsv } from './csv.ts'

const { import: texts } = TRANSFER
const YES = /^(?:true|t|yes|y|1)$/i
const NO = /^(?:false|f|no|n|0)$/i

export interface ImportedFile {
  readonly isCsv: boolean
  /** Names of columns, in the order in which they come. */
  readonly columns: readonly string[]
  readonly rows: readonly Values[]
}

/** Names of fields by those of columns. A column that is left out has none. */
export type Mapping = ReadonlyMap<string, string>

/** A row that can't be sent, or was refused. */
export interface WrongRow {
  /** The place in the file; the first is 1. */
  readonly row: number
  readonly message: string
}

interface ImportedValues {
  readonly values: readonly Values[]
  readonly wrong: readonly WrongRow[]
}

/** @throws Error what can't be read */
export function readImport(name: string, text: string): ImportedFile {
  const isCsv = /\.csv$/i.test(name)
  const rows = isCsv ? parseCsv(text) : parseJson(text)
  return { isCsv, columns: [...new Set(rows.flatMap((row) => Object.keys(row)))], rows }
}

/** Files, and dates that are set by themselves, come from no file. */
export function importedFields({ fields }: Collection): readonly Field[] {
  return fields.filter((field) => {
    const { holds, isAutomatic } = kindOf(field)
    return holds !== 'files' && !isAutomatic && field.name !== 'tokenKey'
  })
}

/** By name, however a spreadsheet has changed it: `In Stock` is `in_stock`. */
export function guessMapping(collection: Collection, columns: readonly string[]): Mapping {
  const free = new Set(importedFields(collection).map(({ name }) => name))
  const taken = new Map<string, string>()
  for (const isSame of [(a: string, b: string) => a === b, (a: string, b: string) => plain(a) === plain(b)])
    for (const column of columns) {
      const name = taken.has(column) ? undefined : [...free].find((one) => isSame(one, column))
      if (name === undefined) continue
      taken.set(column, name)
      free.delete(name)
    }
  return taken
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '')
}

export function valuesOf(collection: Collection, file: ImportedFile, mapping: Mapping): ImportedValues {
  const fields = new Map(importedFields(collection).map((field) => [field.name, field]))
  const wrong: WrongRow[] = []
  const values = file.rows.map((row, at) => {
    const sent: Record<string, unknown> = {}
    for (const [column, value] of Object.entries(row)) {
      const field = fields.get(mapping.get(column) ?? '')
      if (field === undefined || (file.isCsv && value === '')) continue
      try {
        sent[field.name] = file.isCsv ? valueOf(field, value as string) : value
      } catch (error) {
        wrong.push({ row: at + 1, message: `${column}: ${(error as Error).message}` })
      }
      if (kindOf(field).isHashed && field.system) sent['passwordConfirm'] = sent[field.name]
    }
    return sent
  })
  return { values, wrong }
}

/** A list of records, or the answer of a list of the API. */
function parseJson(text: string): readonly Values[] {
  const given = JSON.parse(text) as unknown
  const rows = Array.isArray(given) ? given : (given as { readonly items?: unknown } | null)?.items
  if (!Array.isArray(rows) || !rows.every(isObject)) throw new Error(texts.noList)
  return rows as readonly Values[]
}

/** @throws Error what is no value of the field's type, where the server would take it for another one */
function valueOf(field: Field, cell: string): unknown {
  const text = cell.trim()
  switch (kindOf(field).inCsv) {
    case 'number': {
      const number = Number(text)
      if (text === '' || !Number.isFinite(number)) throw new Error(texts.noNumber(cell))
      return number
    }
    case 'truth':
      if (!YES.test(text) && !NO.test(text)) throw new Error(texts.noBool(cell))
      return YES.test(text)
    case 'json':
      return parsed(text)
    case 'list':
      return text.startsWith('[') ? parsed(text) : cell
    default:
      return cell
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    throw new Error(texts.noJson((error as Error).message), { cause: error })
  }
}
