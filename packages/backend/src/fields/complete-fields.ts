/** Fields as a request has them, with what it leaves out. */
import { crc32 } from 'node:zlib'
import { invalid } from '../gateway/service-error.ts'
import { FIELD_RULES } from './field-base.ts'
import type { FieldDefinition } from './field-definition.ts'
import { isFieldType, typeOfField } from './field-types.ts'
import type { OptionReader } from './field-type.ts'
import { flagOption, textOption } from './options.ts'

const COMMON = { hidden: flagOption, id: textOption, name: textOption, presentable: flagOption, system: flagOption }

/**
 * A list of complete fields. A missing id is derived from type and name. A field takes the place of an earlier one with its
 * id, or with its name if it came without an id.
 *
 * @throws ServiceError INVALID for what can't be a list of fields
 */
export function completeFields(input: unknown): FieldDefinition[] {
  if (input === undefined || input === null) return []
  if (!Array.isArray(input)) throw malformed()
  const fields: FieldDefinition[] = []
  for (const each of input) {
    const field = completeField(each, fields)
    const same = fields.findIndex(({ id }) => id === field.id)
    if (same === -1) fields.push(field)
    else fields[same] = field
  }
  return fields
}

/**
 * A complete field. `others` may have taken its id.
 *
 * @throws ServiceError INVALID for what can't be a field
 */
export function completeField(input: unknown, others: readonly FieldDefinition[]): FieldDefinition {
  if (typeof input !== 'object' || input === null) throw malformed()
  const given = input as Readonly<Record<string, unknown>>
  const { type } = given
  if (!isFieldType(type)) throw malformed()
  const options = Object.entries(readersOf(type)).map(([name, read]) => {
    const value = read(given[name])
    if (value === undefined) throw malformed()
    return [name, value] as const
  })
  const rules = FIELD_RULES.filter((name) => given[name] !== undefined && given[name] !== '').map((name) => {
    if (given[name] !== null && typeof given[name] !== 'string') throw malformed()
    return [name, given[name]] as const
  })
  const searchable = flagOption(given['searchable'])
  if (searchable === undefined) throw malformed()
  const added = [...rules, ...(searchable === true ? [['searchable', true]] : [])]
  const field = { ...Object.fromEntries([...options, ...added]), type } as unknown as FieldDefinition
  const id = field.id === '' ? newId(field, others) : field.id
  return sorted({ ...field, id })
}

/** The options of fields of a type, by name. */
export function completableOptions(type: FieldDefinition['type']): Readonly<Record<string, unknown>> {
  const rules = Object.fromEntries(FIELD_RULES.map((name) => [name, true]))
  return { type: true, ...readersOf(type), ...rules, searchable: true }
}

function readersOf(type: FieldDefinition['type']): Readonly<Record<string, OptionReader>> {
  const { options, isAutomatic } = typeOfField({ type })
  return { ...COMMON, ...(!isAutomatic && { help: textOption }), ...options }
}

function newId({ type, name }: FieldDefinition, others: readonly FieldDefinition[]): string {
  const same = name === '' ? undefined : others.find((other) => other.name === name)
  if (same !== undefined) return same.id
  const base = fieldId(type, name)
  let id = base
  for (let count = 2; others.some((other) => other.id === id); count++) id = `${base}${count}`
  return id
}

/** `text3208210256` for a text field `id`. */
function fieldId(type: FieldDefinition['type'], name: string): string {
  return `${type}${crc32(name)}`
}

/** Options in the order of the alphabet, as PocketBase shows them. */
function sorted(field: FieldDefinition): FieldDefinition {
  const options = Object.entries(field).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(options) as unknown as FieldDefinition
}

function malformed(): Error {
  return invalid('Failed to load the submitted data due to invalid formatting.')
}
