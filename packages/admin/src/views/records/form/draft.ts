/** The draft of a record in a form, and the values that are sent of it. */
import type { Collection, Field } from '../../../api/collections.ts'
import type { Row, Values } from '../../../api/records.ts'
import type { ControlProps } from '../../../parts/form-field.tsx'
import { kindOf } from '../../kinds.ts'

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

/** Fields that a form has, in the order of the definition. */
export function formFields({ fields }: Collection): readonly Field[] {
  return fields.filter((field) => !kindOf(field).isAutomatic && !(field.system && field.name === 'tokenKey'))
}

/** `row`: undefined for a new record. */
export function draftOf(collection: Collection, row: Row | undefined): Draft {
  return Object.fromEntries(formFields(collection).map((field) => [field.name, kindOf(field).draft(row?.[field.name])]))
}

/** The values that are not as they were. @throws DraftError */
export function changedValues(collection: Collection, before: Draft, now: Draft): Values {
  const values: Record<string, unknown> = {}
  for (const field of formFields(collection)) {
    const { name } = field
    if (isSame(before[name], now[name])) continue
    values[name] = kindOf(field).sent(field, now[name])
    // The form asks once for it; only its owner would mistype it.
    if (kindOf(field).isHashed && field.system) values['passwordConfirm'] = values[name]
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
