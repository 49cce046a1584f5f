/** The values of fields, as PocketBase's columns have them. */
import type { Field } from './schema.ts'
import type { SqlValue } from './values.ts'

/** As the column of the field has it. Nothing is the empty value of the type. */
export function column({ type, isMany }: Field, value: unknown): SqlValue {
  if (isMany) return toJson(Array.isArray(value) ? value : [])
  if (type === 'number') return typeof value === 'number' ? value : 0
  if (type === 'bool') return value === true ? 1 : 0
  if (type === 'geoPoint') return pointJson(value)
  return typeof value === 'string' ? value : ''
}

export function pointJson(value: unknown): string {
  const { lon = 0, lat = 0 } = (value ?? {}) as { readonly lon?: number; readonly lat?: number }
  return JSON.stringify({ lon, lat })
}

/** A value inside JSON, as SQLite's JSON functions return it. */
export function sqlValue(value: unknown): SqlValue {
  if (value === null || value === undefined) return null
  if (typeof value === 'boolean') return value ? 1 : 0
  return typeof value === 'string' || typeof value === 'number' ? value : toJson(value)
}

/** With sorted keys, as Go writes objects. */
export function toJson(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  )
}
