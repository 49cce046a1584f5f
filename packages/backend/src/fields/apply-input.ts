/** From what somebody sends to the values of a record. */
import type { Chance } from '../gateway/chance.ts'
import { toTexts } from './cast.ts'
import type { FieldDefinition } from './field-definition.ts'
import type { Filling, Modifier } from './field-type.ts'
import { castValue, holdsFiles, typeOfField, valueIn } from './field-types.ts'
import type { FileField } from './types/file.ts'

interface InputOptions extends Omit<Filling, 'isNew'> {
  /** Whether a superuser asks: hidden fields are read too. */
  readonly isSuperuser: boolean
}

/**
 * The values of all fields. They are stored values, except what was not there before: a `NewPassword` in a password field, and
 * a `NewFile` in a file field. The input has uploads as `NewFile`s.
 *
 * Keys that name no field are ignored. Modifiers work on the stored value, and shorter keys come first.
 */
export function applyInput(
  fields: readonly FieldDefinition[],
  old: Readonly<Record<string, unknown>> | undefined,
  input: Readonly<Record<string, unknown>>,
  options: InputOptions,
): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  for (const field of fields) values[field.name] = valueIn(old, field)
  for (const key of Object.keys(input).toSorted((a, b) => a.length - b.length)) {
    const [field, modifier] = meant(fields, key) ?? []
    if (field === undefined || (field.hidden && !options.isSuperuser && !isPassword(field))) continue
    values[field.name] = changed(field, modifier, values[field.name], input[key], options.chance)
  }
  const filling = { ...options, isNew: old === undefined }
  for (const field of fields) {
    const { fill } = typeOfField(field)
    if (fill !== undefined) values[field.name] = fill(field, values[field.name], filling)
  }
  return values
}

/** The values of fields that the server sets at each write. */
export function datesOf(
  fields: readonly FieldDefinition[],
  values: Readonly<Record<string, unknown>>,
  filling: Filling,
): Record<string, unknown> {
  const entries = fields.flatMap((field): [string, unknown][] => {
    const { isAutomatic, fill } = typeOfField(field)
    return isAutomatic === true && fill !== undefined ? [[field.name, fill(field, values[field.name], filling)]] : []
  })
  return Object.fromEntries(entries)
}

/** The values after one change, as a superuser makes it. Undefined: the key names no field. */
export function applyChange(
  fields: readonly FieldDefinition[],
  values: Readonly<Record<string, unknown>>,
  key: string,
  value: unknown,
  chance: Chance,
): Record<string, unknown> | undefined {
  const [field, modifier] = meant(fields, key) ?? []
  return field && { ...values, [field.name]: changed(field, modifier, values[field.name], value, chance) }
}

/** Everybody may set the password of an account, though it is hidden. */
function isPassword(field: FieldDefinition): boolean {
  return field.system && field.name === 'password' && typeOfField(field).isHashed === true
}

/** The keys of inputs that modifiers have. */
export const MODIFIED: Readonly<Record<Modifier, (name: string) => string>> = {
  add: (name) => `${name}+`,
  prepend: (name) => `+${name}`,
  remove: (name) => `${name}-`,
  generate: (name) => `${name}:autogenerate`,
}

type Meant = readonly [field: FieldDefinition, modifier: Modifier | undefined]

const meantBy = new WeakMap<readonly FieldDefinition[], ReadonlyMap<string, Meant>>()

/** Which field a key of an input is about. */
export function meant(fields: readonly FieldDefinition[], key: string): Meant | undefined {
  const known = meantBy.get(fields) ?? meanings(fields)
  meantBy.set(fields, known)
  return known.get(key)
}

/** The field that takes the files of a key of an input. */
export function fileFieldMeant(fields: readonly FieldDefinition[], key: string): FileField | undefined {
  const [field, modifier] = meant(fields, key) ?? []
  return field !== undefined && holdsFiles(field) && modifier !== 'remove' ? field : undefined
}

/** The input that a form brings: values, and files by file field. The names of files that are to stay may come with new ones. */
export function formInput(
  fields: readonly FieldDefinition[],
  values: Readonly<Record<string, unknown>>,
  files: ReadonlyMap<string, readonly unknown[]>,
): Record<string, unknown> {
  const input: Record<string, unknown> = { ...values }
  for (const [key, uploaded] of files) {
    const field = fileFieldMeant(fields, key)
    if (field === undefined) continue
    const kept = key === field.name && Object.hasOwn(input, key) ? toTexts(input[key]) : []
    input[key] = [...kept, ...uploaded]
  }
  return input
}

function meanings(fields: readonly FieldDefinition[]): ReadonlyMap<string, Meant> {
  const modified = fields.flatMap((field) =>
    (typeOfField(field).modifiers ?? []).map((modifier): [string, Meant] => [
      MODIFIED[modifier](field.name),
      [field, modifier],
    ]),
  )
  const plain = fields.map((field): [string, Meant] => [field.name, [field, undefined]])
  return new Map([...modified, ...plain])
}

function changed(
  field: FieldDefinition,
  modifier: Modifier | undefined,
  value: unknown,
  input: unknown,
  chance: Chance,
): unknown {
  const type = typeOfField(field)
  if (type.isAutomatic) return value
  if (modifier !== undefined) return type.modify!(field, modifier, value, input, chance)
  return type.accept === undefined ? castValue(field, input) : type.accept(input)
}
