/**
 * Values that code gives, and not JSON: dates, files, instances, maps. Each becomes what JSON has for it, or is refused with the name of
 * the field. No value is taken for empty.
 */
import { meant } from './apply-input.ts'
import type { FieldDefinition } from './field-definition.ts'
import { typeOfField } from './field-types.ts'
import { isScalar, refuse, type Place } from './program-readers.ts'

/** The value of a field for `value`. `name`: as the caller has it, with a modifier. @throws TypeError */
export function programValue(field: Pick<FieldDefinition, 'type'>, value: unknown, place: Place): unknown {
  if (value === null) return null
  return value === undefined
    ? refuse('a value, or null for none', value, place)
    : typeOfField(field).ofProgram(value, place)
}

/** An input of a client that code has changed: what JSON can't have is read as `programValue` does. */
export function programInput(
  fields: readonly FieldDefinition[],
  input: Readonly<Record<string, unknown>>,
  { call, chance }: Omit<Place, 'name'>,
): Record<string, unknown> {
  const entries = Object.entries(input).map(([name, value]) => {
    const field = isOfJson(value) ? undefined : meant(fields, name)?.[0]
    return [name, field === undefined ? value : programValue(field, value, { call, name, chance })] as const
  })
  return Object.fromEntries(entries)
}

function isOfJson(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return isScalar(value) || value === null
  return Array.isArray(value) || [Object.prototype, null].includes(Object.getPrototypeOf(value) as object | null)
}
