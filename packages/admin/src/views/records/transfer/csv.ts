/** Records as CSV (RFC 4180) for spreadsheets. Lists, objects and the values of JSON fields are JSON in their cell. */
import type { Field } from '../../../api/collections.ts'
import { kindOf } from '../../kinds.ts'

type NamedField = Pick<Field, 'name' | 'type'>

export function csvOf(fields: readonly NamedField[], rows: readonly Readonly<Record<string, unknown>>[]): string {
  return rows
    .map((row) => csvLine(fields.map((field) => cellOf(row[field.name], kindOf(field).inCsv === 'json'))))
    .join('')
}

export function csvLine(cells: readonly string[]): string {
  return `${cells.map(quotedCell).join(',')}\r\n`
}

/**
 * A spreadsheet computes a text that begins so, and a formula may open addresses. Numbers of telephones and the like are none. The
 * apostrophes are of texts that were formulas before.
 */
const FORMULA = /^'*(?:[=@\t\r]|[+-](?![\d\s().,/+-]*(?:e[+-]?\d+)?$))/

/** An apostrophe makes a formula a text; `parseCsv` takes it away. */
function quotedCell(cell: string): string {
  const text = FORMULA.test(cell) ? `'${cell}` : cell
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

function readCell(text: string): string {
  return text.startsWith("'") && FORMULA.test(text) ? text.slice(1) : text
}

function cellOf(value: unknown, isJson: boolean): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'string' && !isJson ? value : JSON.stringify(value)
}

/** The first line has the names. @throws Error with the line that can't be read */
export function parseCsv(text: string): Record<string, string>[] {
  const [names = [], ...lines] = linesOf(text.replace(/^\uFEFF/, ''))
  return lines.map((cells, at) => {
    if (cells.length !== names.length)
      throw new Error(`record ${at + 1} has ${cells.length} values, and the first line has ${names.length} names`)
    return Object.fromEntries(names.map((name, column) => [name, cells[column]!]))
  })
}

/** One cell: in quotes, in which a quote is doubled, or without any; then what ends it. */
const CELL = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|\n|\r|$)/y

function linesOf(text: string): string[][] {
  const lines: string[][] = []
  let line: string[] = []
  CELL.lastIndex = 0
  while (CELL.lastIndex < text.length) {
    const from = CELL.lastIndex
    const found = CELL.exec(text)
    if (found === null)
      throw new Error(
        `a quote in record ${lines.length} is not closed, or stands inside a value: ${text.slice(from, from + 40)}`,
      )
    const [, quoted, plain = '', end] = found
    line.push(readCell(quoted === undefined ? plain : quoted.replaceAll('""', '"')))
    if (end === ',' && CELL.lastIndex < text.length) continue
    if (end === ',') line.push('')
    // Empty lines are skipped.
    if (line.length > 1 || line[0] !== '' || quoted !== undefined) lines.push(line)
    line = []
  }
  return lines
}
