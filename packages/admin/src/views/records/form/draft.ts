/** The draft of a record in a form, and the values that are sent of it. */
import type { Collection, Field } from '../../../api/collections.ts'
import type { Row, Values } from '../../../api/records.ts'
import type { ControlProps } from '../../../parts/form-field.tsx'
import { TEXTS } from '../../../texts.ts'

const { form: texts } = TEXTS.records

/** By the name of the field. Numbers and JSON are texts while they are typed; files are names and new files. */
export type Draft = Readonly<Record<string, unknown>>

/** The properties of a field's control. */
export interface FieldInputProps {
  readonly collection: Collection
  readonly field: Field
  /** The id of the record; undefined for a new one. */
  readonly record: string | undefined
  readonly value: unknown
  readonly onValue: (value: unknown) => void
  readonly control: ControlProps
}

/** An error of a draft that can't be sent. */
export class DraftError extends Error {
  readonly field: string

  constructor(field: string, message: string) {
    super(message)
    this.field = field
  }
}

/** Fields that a form has, in the order of the definition. */
export function formFields({ fields }: Collection): readonly Field[] {
  return fields.filter(({ type, name, system }) => type !== 'autodate' && !(system && name === 'tokenKey'))
}

export function isMany(field: Field): boolean {
  return (field.maxSelect ?? 1) > 1
}

/** `row`: undefined for a new record. */
export function draftOf(collection: Collection, row: Row | undefined): Draft {
  return Object.fromEntries(formFields(collection).map((field) => [field.name, draftValue(field, row?.[field.name])]))
}

function draftValue(field: Field, value: unknown): unknown {
  switch (field.type) {
    case 'bool':
      return value === true
    case 'number':
      return typeof value === 'number' ? String(value) : ''
    case 'json':
      return value === undefined || value === null ? '' : JSON.stringify(value, undefined, 2)
    case 'geoPoint': {
      const { lon = 0, lat = 0 } = (value ?? {}) as { readonly lon?: number; readonly lat?: number }
      return { lon: String(lon), lat: String(lat) }
    }
    case 'select':
    case 'relation':
    case 'file':
      return Array.isArray(value) ? value : value === undefined || value === '' ? [] : [value]
    case 'password':
      return ''
    default:
      return typeof value === 'string' ? value : ''
  }
}

/** The values that are not as they were. @throws DraftError */
export function changedValues(collection: Collection, before: Draft, now: Draft): Values {
  const values: Record<string, unknown> = {}
  for (const field of formFields(collection)) {
    const { name } = field
    if (isSame(before[name], now[name])) continue
    values[name] = sentValue(field, now[name])
    // The form asks once for it; only its owner would mistype it.
    if (field.type === 'password' && field.system) values['passwordConfirm'] = values[name]
  }
  return values
}

export function isChanged(before: Draft, now: Draft): boolean {
  return Object.keys(now).some((name) => !isSame(before[name], now[name]))
}

function isSame(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, at) => item === b[at])
  return a === b || (typeof a === 'object' && JSON.stringify(a) === JSON.stringify(b))
}

/** As the server takes it. @throws DraftError */
export function sentValue(field: Field, value: unknown): unknown {
  switch (field.type) {
    case 'number':
      return value === '' ? 0 : numberOf(field, value as string)
    case 'json':
      return value === '' ? null : parsedJson(field, value as string)
    case 'geoPoint': {
      const { lon, lat } = value as { readonly lon: string; readonly lat: string }
      return { lon: numberOf(field, lon), lat: numberOf(field, lat) }
    }
    case 'select':
    case 'relation':
    case 'file':
      return isMany(field) ? value : ((value as readonly unknown[])[0] ?? (field.type === 'file' ? null : ''))
    default:
      return value
  }
}

function numberOf({ name }: Field, text: string): number {
  const number = Number(text.trim())
  if (text.trim() === '' || !Number.isFinite(number)) throw new DraftError(name, texts.noNumber(text))
  return number
}

function parsedJson({ name }: Field, text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    throw new DraftError(name, texts.noJson((error as Error).message))
  }
}
