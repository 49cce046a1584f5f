/** Fields as columns of SQLite's tables, as PocketBase declares them. */
import { isMany, type FieldDefinition } from './field-definition.ts'
import type { FieldType } from './field-type.ts'
import { emptyValue, typeOfField } from './field-types.ts'
import type { Cell } from './sqlite.ts'

type ColumnType = FieldType<FieldDefinition>['column']

const DEFAULTS: Readonly<Record<Exclude<ColumnType, 'JSON'>, string>> = { TEXT: "''", NUMERIC: '0', BOOLEAN: 'FALSE' }

/** The type of a column. Its affinity decides how SQLite compares values. */
export function columnType(field: FieldDefinition): ColumnType {
  return isMany(field) ? 'JSON' : typeOfField(field).column
}

/** `TEXT DEFAULT '' NOT NULL` */
export function columnDeclaration(field: FieldDefinition): string {
  const type = columnType(field)
  if (field.name === 'id') return "TEXT PRIMARY KEY DEFAULT ('r'||lower(hex(randomblob(7)))) NOT NULL"
  if (typeOfField(field).takesAll) return `${type} DEFAULT NULL`
  return `${type} DEFAULT ${type === 'JSON' ? `'${JSON.stringify(emptyValue(field))}'` : DEFAULTS[type]} NOT NULL`
}

/** A value that its field can't have is there as SQLite can have it. */
export function cellOf(field: FieldDefinition, stored: unknown): Cell {
  const value = stored === undefined ? emptyValue(field) : stored
  const type = columnType(field)
  if (type === 'JSON') return value === null && typeOfField(field).takesAll ? null : JSON.stringify(value)
  if (value === null) return type === 'TEXT' ? '' : 0
  if (typeof value === 'boolean') return value ? 1 : 0
  return typeof value === 'string' || typeof value === 'number' ? value : JSON.stringify(value)
}
