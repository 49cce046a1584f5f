/** The types of fields, and what is asked of every field. */
import type { JsonObject } from '../gateway/documents.ts'
import type { FieldError } from '../gateway/service-error.ts'
import { EMAIL, URL_FIELD } from './domain-fields.ts'
import type { FieldDefinition } from './field-definition.ts'
import type { FieldType, ValueContext } from './field-type.ts'
import { FILE } from './file-field.ts'
import { RELATION, SELECT } from './list-fields.ts'
import { PASSWORD } from './password-field.ts'
import { AUTODATE, BOOL, DATE, GEO_POINT, JSON_FIELD, NUMBER } from './scalar-fields.ts'
import { EDITOR, TEXT } from './text-fields.ts'

const FIELD_TYPES = {
  autodate: AUTODATE,
  bool: BOOL,
  date: DATE,
  editor: EDITOR,
  email: EMAIL,
  file: FILE,
  geoPoint: GEO_POINT,
  json: JSON_FIELD,
  number: NUMBER,
  password: PASSWORD,
  relation: RELATION,
  select: SELECT,
  text: TEXT,
  url: URL_FIELD,
} satisfies { readonly [T in FieldDefinition['type']]: FieldType<Extract<FieldDefinition, { type: T }>> }

export const FIELD_TYPE_NAMES: readonly string[] = Object.keys(FIELD_TYPES)

export function isFieldType(type: unknown): type is FieldDefinition['type'] {
  return typeof type === 'string' && Object.hasOwn(FIELD_TYPES, type)
}

/** The type of this very field. */
export function typeOfField(field: Pick<FieldDefinition, 'type'>): FieldType<FieldDefinition> {
  return FIELD_TYPES[field.type] as FieldType<FieldDefinition>
}

/** The value of a record where nothing was given. */
export function emptyValue(field: FieldDefinition): unknown {
  return typeOfField(field).empty(field)
}

/** The value of a record in the field, whatever objects inherit under its name. */
export function valueIn(record: JsonObject | undefined, field: FieldDefinition): unknown {
  return ownValue(record, field.name) ?? emptyValue(field)
}

export function ownValue(of: JsonObject | undefined, name: string): unknown {
  return of !== undefined && Object.hasOwn(of, name) ? of[name] : undefined
}

/** Reads a value of a body as PocketBase does. A text that looks like JSON becomes JSON in a `json` field. */
export function castValue(field: FieldDefinition, value: unknown): unknown {
  return typeOfField(field).cast(field, value)
}

/** The error of a value that `castValue` made, as far as no other record is needed to know. */
export function checkValue(field: FieldDefinition, value: unknown, context: ValueContext): FieldError | undefined {
  return typeOfField(field).check(field, value, context)
}

/** The shown form of a stored value. */
export function presentValue(field: FieldDefinition, value: unknown): unknown {
  if (value === undefined) return emptyValue(field)
  return field.type === 'password' ? '' : value
}
