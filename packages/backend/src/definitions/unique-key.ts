/**
 * Keys of UNIQUE indexes that the library can't make of fields. SQLite makes them of the one record: in this process, by one statement,
 * of a text that the read model's describer has prepared before. docs/internals/sql.md is the contract.
 */
import { hash } from 'node:crypto'
import { PannierError, registerCollation } from 'pannier'
import { deriveValues, NOCASE, type ReadPath } from 'pannier/internal'
import { cellOf, columnDeclaration } from '../fields/columns.ts'
import type { FieldDefinition } from '../fields/field-definition.ts'
import { ownValue } from '../fields/field-types.ts'
import { errorText, type Cell } from '../fields/sqlite.ts'
import type { JsonObject } from '../gateway/documents.ts'
import type { Definition } from './definition.ts'
import { IndexTable, type IndexProgram } from './index-program.ts'
import { bodyOf, type IndexStatement } from './index-statement.ts'

/** The collation of an index of SQL's keys. Another number: keys are made in another way. */
export const SQL_KEY = 'sql key 1'
const PREFIX = 'sql '
/** Each keeps an SQLite in memory. */
const INDEXES_MAX = 200
/** Keys of an index, and how long a record's values may be for it. */
const REMEMBERED_MAX = 64
const REMEMBERED_CHARS_MAX = 1000

interface KeyProgram extends IndexProgram {
  readonly fields: readonly (FieldDefinition & IndexProgram['fields'][number])[]
}

/** The fields that a statement may name: its words are more than that. */
export function fieldsNamedIn(index: IndexStatement, { fields }: Definition): readonly FieldDefinition[] {
  const words = new Set(bodyOf(index).toLowerCase().match(/\w+/g))
  return fields.filter(({ name }) => words.has(name.toLowerCase()))
}

/** The path under which the library has the keys: it says all that they are derived from, so that each server makes the same. */
export function keyPath(index: IndexStatement, definition: Definition): string {
  const fields = fieldsNamedIn(index, definition).map((field) => {
    const { name, type } = field
    const declaration = name === 'id' ? 'TEXT' : columnDeclaration(field)
    return { name, declaration, type, ...('maxSelect' in field && { maxSelect: field.maxSelect }) }
  })
  const { name, where } = index
  const columns = index.columns.map(({ sql, sort }) => ({ sql, sort }))
  const program = { name, table: definition.name, columns, where, fields }
  // A dot would stand between two names.
  return PREFIX + encodeURIComponent(JSON.stringify(program)).replaceAll('.', '%2E')
}

/** The program that a path contains. Fields have what their values depend on. */
export function programOf(path: string): KeyProgram {
  return JSON.parse(decodeURIComponent(path.slice(PREFIX.length))) as KeyProgram
}

/** Undefined: the record has no key, and stands in nobody's way. @throws PannierError if SQLite can't make it */
type MakeKey = (read: ReadPath) => string | undefined

const known = new Map<string, MakeKey>()

function keysOf(path: string): MakeKey {
  let make = known.get(path)
  if (make === undefined) {
    if (known.size === INDEXES_MAX) known.clear()
    known.set(path, (make = keyMaker(programOf(path))))
  }
  return make
}

function keyMaker(program: KeyProgram): MakeKey {
  const { name, fields } = program
  const table = new IndexTable(program)
  const keyOf = (cells: readonly Cell[]): string | undefined => {
    try {
      const values = table.valuesOf(cells)
      if (values === undefined || values.includes(null)) return undefined
      const parts = values.map((value, at) => comparedText(value, table.collations[at]!))
      return hash('sha256', JSON.stringify(parts), 'base64url')
    } catch (cause) {
      const reason = errorText(cause)
      const message = `SQLite can't make the key of the unique index '${name}': ${reason}. Change the record.`
      throw new PannierError('PANNIER_DOCUMENT_INVALID', message, { cause, details: { statement: name, reason } })
    }
  }
  // A write asks twice for each state of its record.
  const made = new Map<string, string | undefined>()
  return (read) => {
    const cells = fields.map((field) => cellOf(field, read(field.name === 'id' ? '_id' : field.name)))
    const text = JSON.stringify(cells)
    if (text.length > REMEMBERED_CHARS_MAX) return keyOf(cells)
    if (!made.has(text)) {
      if (made.size === REMEMBERED_MAX) made.clear()
      made.set(text, keyOf(cells))
    }
    return made.get(text)
  }
}

/** The key of a document that is not stored. */
export function documentKey(path: string, document: JsonObject): string | undefined {
  return keysOf(path)((name) => ownValue(document, name))
}

registerCollation({ name: SQL_KEY, key: (text) => text })
deriveValues((path) => (path.startsWith(PREFIX) ? keysOf(path) : undefined))

/** Equal for values that SQLite takes for the same. */
function comparedText(value: Cell, collation: string): string {
  if (typeof value === 'number') return `n${Number.isInteger(value) ? BigInt(value) : value}`
  if (typeof value === 'bigint') return `n${value}`
  if (value instanceof Uint8Array) return `b${Buffer.from(value).toString('hex')}`
  const text = String(value)
  if (collation === 'NOCASE') return `t${NOCASE.key(text)}`
  return `t${collation === 'RTRIM' ? withoutSpaces(text) : text}`
}

function withoutSpaces(text: string): string {
  let end = text.length
  while (text[end - 1] === ' ') end--
  return text.slice(0, end)
}
