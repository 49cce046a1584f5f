/** Questions to every field, which its type answers. */
import type { JsonObject } from '../gateway/documents.ts'
import type { FieldError } from '../gateway/service-error.ts'
import { FIELD_TYPES, type FieldDefinition } from './field-definition.ts'
import { NOT_UNICODE } from './field-errors.ts'
import type { FieldType, ValueContext } from './field-type.ts'
import type { FileField } from './types/file.ts'
import type { RelationField } from './types/relation.ts'

export const FIELD_TYPE_NAMES: readonly string[] = Object.keys(FIELD_TYPES)

export function isFieldType(type: unknown): type is FieldDefinition['type'] {
  return typeof type === 'string' && Object.hasOwn(FIELD_TYPES, type)
}

/** The type of this very field. */
export function typeOfField(field: Pick<FieldDefinition, 'type'>): FieldType<FieldDefinition> {
  return FIELD_TYPES[field.type] as FieldType<FieldDefinition>
}

/** Whether fields of a type hold names of files or ids of records. Undefined: neither, or there is no such type. */
export function holdsOf(type: unknown): 'files' | 'records' | undefined {
  return isFieldType(type) ? FIELD_TYPES[type].holds : undefined
}

/** Whether the values are names of files. */
export function holdsFiles(field: FieldDefinition): field is FileField {
  return holdsOf(field.type) === 'files'
}

/** Whether the values are ids of records. */
export function holdsRecords(field: FieldDefinition): field is RelationField {
  return holdsOf(field.type) === 'records'
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
  const error = typeOfField(field).check(field, value, context)
  return error ?? (value === context.old || isUnicode(value) ? undefined : NOT_UNICODE)
}

/** False for half of a surrogate pair: no UTF-8 has one, so no JSON of a request brings it. Code may. */
function isUnicode(value: unknown): boolean {
  return typeof value === 'string' ? value.isWellFormed() : !Array.isArray(value) || value.every(isUnicode)
}

/** The most bytes that an input of the field adds to those of a usual body. */
export function inputBytesMax(field: FieldDefinition): number {
  return typeOfField(field).bytesMax?.(field) ?? 0
}

/** The shown form of a stored value. */
export function presentValue(field: FieldDefinition, value: unknown): unknown {
  if (value === undefined) return emptyValue(field)
  return typeOfField(field).isHashed ? '' : value
}
