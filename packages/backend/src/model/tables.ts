/** Collections as tables of PocketBase, and values of such tables as inputs of records. */
import type { Definition } from '../definitions/definition.ts'
import { parseIndex, printIndex } from '../definitions/index-statement.ts'
import { isMany, type FieldDefinition } from '../fields/field-definition.ts'
import { castValue, ownValue, presentValue } from '../fields/field-types.ts'
import { isJsonObject, type JsonObject } from '../gateway/documents.ts'
import { invalid } from '../gateway/service-error.ts'
import type { Cell, ModelTable, Row } from './protocol.ts'

/** The fields in the order of the columns. */
export function columnFields({ fields }: Definition): readonly FieldDefinition[] {
  return fields.toSorted((one, other) => (one.name < other.name ? -1 : 1))
}

export function tableOf(definition: Definition): ModelTable {
  const columns = columnFields(definition).map((field) => ({
    name: field.name,
    declaration: declarationOf(field),
    isSecret: isSecret(definition, field),
  }))
  return { name: definition.name, columns, indexes: definition.indexes.flatMap(plainIndex) }
}

/** Nothing is refused because of it: what is unique, the records keep so. */
function plainIndex(text: string): readonly string[] {
  const index = parseIndex(text)
  return index === undefined ? [] : [printIndex({ ...index, schema: '$model', unique: false, optional: true })]
}

export function rowOf(definition: Definition, fields: readonly FieldDefinition[], document: JsonObject): Row {
  return fields.map((field) => {
    if (field.name === 'id') return document['_id'] as string
    return isSecret(definition, field) ? '' : cellOf(field, ownValue(document, field.name))
  })
}

/** Hashes of passwords, and what tokens are signed with. */
function isSecret({ type }: Definition, { type: fieldType, name }: FieldDefinition): boolean {
  return fieldType === 'password' || (type === 'auth' && name === 'tokenKey')
}

function typeOf(field: FieldDefinition): string {
  if (field.type === 'number') return 'NUMERIC'
  if (field.type === 'bool') return 'BOOLEAN'
  return field.type === 'json' || field.type === 'geoPoint' || isMany(field) ? 'JSON' : 'TEXT'
}

function declarationOf(field: FieldDefinition): string {
  const type = typeOf(field)
  if (field.name === 'id') return "TEXT PRIMARY KEY DEFAULT ('r'||lower(hex(randomblob(7)))) NOT NULL"
  if (field.type === 'json') return `${type} DEFAULT NULL`
  return `${type} DEFAULT ${defaultOf(field)} NOT NULL`
}

function defaultOf(field: FieldDefinition): string {
  if (field.type === 'number') return '0'
  if (field.type === 'bool') return 'FALSE'
  if (field.type === 'geoPoint') return `'{"lon":0,"lat":0}'`
  return isMany(field) ? "'[]'" : "''"
}

/** A value that its field can't have is there as SQLite can have it. */
function cellOf(field: FieldDefinition, stored: unknown): Cell {
  const value = presentValue(field, stored) ?? null
  if (typeOf(field) === 'JSON') return value === null && field.type === 'json' ? null : JSON.stringify(value)
  if (value === null) return field.type === 'number' || field.type === 'bool' ? 0 : ''
  if (typeof value === 'boolean') return value ? 1 : 0
  return typeof value === 'string' || typeof value === 'number' ? value : JSON.stringify(value)
}

/** The value that a record gets. @throws ServiceError INVALID if its field can't have it */
export function valueOf(definition: Definition, field: FieldDefinition, cell: Cell): unknown {
  const value = readCell(field, cell)
  const cast = value === undefined ? undefined : castValue(field, value)
  const isDate = field.type === 'date' || field.type === 'autodate'
  const isRead = isDate ? value === '' || cast !== '' : JSON.stringify(cast) === JSON.stringify(value)
  if (value !== undefined && isRead) return cast
  const shown = cell instanceof Uint8Array ? 'a BLOB' : String(cell)
  throw invalid(`${definition.name}.${field.name} is a field of type ${field.type}, and can't be ${shown}`)
}

/** As a record would have it. Undefined: there is no such value. */
function readCell(field: FieldDefinition, cell: Cell): unknown {
  if (field.type === 'number') return typeof cell === 'number' && Number.isFinite(cell) ? cell : undefined
  if (field.type === 'bool') return cell === 0 || cell === 1 ? cell === 1 : undefined
  if (field.type === 'json' && cell === null) return null
  if (typeof cell !== 'string') return undefined
  if (typeOf(field) !== 'JSON') return cell
  const value = parsed(cell)
  const isFit = field.type === 'json' || (field.type === 'geoPoint' ? isJsonObject(value) : Array.isArray(value))
  return isFit ? value : undefined
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
