/** Fields as columns of SQLite's tables, as PocketBase declares them. */
import { isMany, type FieldDefinition } from './field-definition.ts'
import { emptyValue } from './field-types.ts'
import type { Cell } from './sqlite.ts'

/** The type of a column. Its affinity decides how SQLite compares values. */
export function columnType(field: FieldDefinition): string {
  if (field.type === 'number') return 'NUMERIC'
  if (field.type === 'bool') return 'BOOLEAN'
  return field.type === 'json' || field.type === 'geoPoint' || isMany(field) ? 'JSON' : 'TEXT'
}

/** `TEXT DEFAULT '' NOT NULL` */
export function columnDeclaration(field: FieldDefinition): string {
  const type = columnType(field)
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
export function cellOf(field: FieldDefinition, stored: unknown): Cell {
  const value = stored === undefined ? emptyValue(field) : stored
  if (columnType(field) === 'JSON') return value === null && field.type === 'json' ? null : JSON.stringify(value)
  if (value === null) return field.type === 'number' || field.type === 'bool' ? 0 : ''
  if (typeof value === 'boolean') return value ? 1 : 0
  return typeof value === 'string' || typeof value === 'number' ? value : JSON.stringify(value)
}
