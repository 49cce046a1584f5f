/** From what somebody sends to the values of a record. */
import type { Chance } from '../gateway/chance.ts'
import type { FieldDefinition } from './field-definition.ts'
import type { Modifier } from './field-type.ts'
import { castValue, ownValue, typeOfField, valueIn } from './field-types.ts'
import { newPassword } from './password-field.ts'
import { generate } from './pattern.ts'

interface InputOptions {
  /** For autodate fields: `2026-11-22 15:04:49.813Z`. */
  readonly now: string
  /** Hidden fields are read too. */
  readonly isSuperuser: boolean
  /** Draws texts of patterns. */
  readonly chance: Chance
  /** Texts that are drawn already, by field. */
  readonly drawn?: Readonly<Record<string, string>>
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
  for (const field of fields) values[field.name] = filled(field, values[field.name], old === undefined, options)
  return values
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
function isPassword({ type, name, system }: FieldDefinition): boolean {
  return type === 'password' && name === 'password' && system
}

const MODIFIED: Readonly<Record<Modifier, (name: string) => string>> = {
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
  if (field.type === 'autodate') return value
  if (modifier !== undefined) return typeOfField(field).modify!(field, modifier, value, input, chance)
  if (field.type !== 'password') return castValue(field, input)
  return newPassword(input) ?? ''
}

/** A value with the server's additions. */
function filled(field: FieldDefinition, value: unknown, isNew: boolean, { now, chance, drawn }: InputOptions): unknown {
  if (field.type === 'autodate') return (isNew ? field.onCreate : field.onUpdate) ? now : value
  const isMissing = field.type === 'text' && isNew && value === '' && field.autogeneratePattern !== ''
  return isMissing ? (ownValue(drawn, field.name) ?? generate(field.autogeneratePattern, chance)) : value
}
