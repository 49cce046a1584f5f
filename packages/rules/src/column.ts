/** The values of fields, as PocketBase's columns have them. */
import { kindOf } from './kinds.ts'
import type { Field } from './schema.ts'
import { toJson, type SqlValue } from './values.ts'

/** As the column of the field has it. Nothing is the empty value of the type. */
export function column(field: Field, value: unknown): SqlValue {
  if (field.isMany) return toJson(Array.isArray(value) ? value : [])
  const { empty, json } = kindOf(field)
  return json ? json(value) : sqlValue(typeof value === typeof empty ? value : empty)
}

/** A value inside JSON, as SQLite's JSON functions return it. */
export function sqlValue(value: unknown): SqlValue {
  if (value === null || value === undefined) return null
  if (typeof value === 'boolean') return value ? 1 : 0
  return typeof value === 'string' || typeof value === 'number' ? value : toJson(value)
}
