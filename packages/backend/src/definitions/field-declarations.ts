/** Fields of records as TypeScript has them. */
import { MODIFIED } from '../fields/apply-input.ts'
import { patternOf, type FieldDefinition } from '../fields/field-definition.ts'
import type { InputTypes } from '../fields/field-type.ts'
import { typeOfField } from '../fields/field-types.ts'
import type { Definition } from './definition.ts'

/** A property of an object type. */
export type Property = readonly [name: string, type: string, isOptional: boolean]

export function block(properties: readonly Property[]): string {
  if (properties.length === 0) return '{}'
  const lines = properties.map(([name, type, isOptional]) => `      ${keyOf(name)}${isOptional ? '?' : ''}: ${type}\n`)
  return `{\n${lines.join('')}    }`
}

export function keyOf(name: string): string {
  return /^[a-z_]\w*$/i.test(name) ? name : JSON.stringify(name)
}

/** The properties that `create` and `update` take. What is set by itself can't be set. */
export function inputsOf({ type, fields }: Definition, action: 'create' | 'update', types: InputTypes): Property[] {
  const isNew = action === 'create'
  const settable = fields.filter(
    (field) =>
      !typeOfField(field).isAutomatic &&
      !(type === 'auth' && field.name === 'tokenKey') &&
      (isNew || field.name !== 'id'),
  )
  const inputs = settable.flatMap((field): Property[] => {
    const { writeType, readType } = typeOfField(field)
    const own: Property = [field.name, (writeType ?? readType)(field, types), !isNew || !isRequired(field)]
    return [own, ...modifiersOf(field, isNew, types)]
  })
  if (type !== 'auth') return inputs
  const confirmation: Property = ['passwordConfirm', 'string', !isNew]
  return isNew ? [...inputs, confirmation] : [...inputs, confirmation, ['oldPassword', 'string', true]]
}

function isRequired(field: FieldDefinition): boolean {
  return 'required' in field && field.required && patternOf(field) === ''
}

function modifiersOf(field: FieldDefinition, isNew: boolean, types: InputTypes): Property[] {
  const { modifiers = [], modifierType } = typeOfField(field)
  return modifiers.flatMap((modifier): Property[] => {
    const type = isNew && modifier !== 'generate' ? undefined : modifierType!(field, modifier, types)
    return type === undefined ? [] : [[MODIFIED[modifier](field.name), type, true]]
  })
}
