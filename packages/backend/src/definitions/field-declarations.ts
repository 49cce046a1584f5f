/** Fields of records as TypeScript has them. */
import { isMany, type FieldDefinition } from '../fields/field-definition.ts'
import type { Definition } from './definition.ts'

/** A property of an object type. */
export type Property = readonly [name: string, type: string, isOptional: boolean]

const GEO_POINT = '{ lon: number; lat: number }'

export function block(properties: readonly Property[]): string {
  if (properties.length === 0) return '{}'
  const lines = properties.map(([name, type, isOptional]) => `      ${keyOf(name)}${isOptional ? '?' : ''}: ${type}\n`)
  return `{\n${lines.join('')}    }`
}

export function keyOf(name: string): string {
  return /^[a-z_]\w*$/i.test(name) ? name : JSON.stringify(name)
}

export function readType(field: FieldDefinition): string {
  switch (field.type) {
    case 'number':
      return 'number'
    case 'bool':
      return 'boolean'
    case 'json':
      return 'unknown'
    case 'geoPoint':
      return GEO_POINT
    case 'select':
      return isMany(field) ? `(${choicesOf(field.values)})[]` : `${choicesOf(field.values)} | ""`
    case 'relation':
    case 'file':
      return isMany(field) ? 'string[]' : 'string'
    default:
      return 'string'
  }
}

function choicesOf(values: readonly string[]): string {
  return values.length === 0 ? 'never' : values.map((value) => JSON.stringify(value)).join(' | ')
}

/** The types of what fields take that is not read from them: of one file, and of a date. */
export interface InputTypes {
  readonly file: string
  readonly date: string
}

function writeType(field: FieldDefinition, { file, date }: InputTypes): string {
  switch (field.type) {
    case 'date':
      return date
    case 'file':
      return isMany(field) ? `${file} | (${file})[] | null` : `${file} | null`
    default:
      return readType(field)
  }
}

/** The properties that `create` and `update` take. What is set by itself can't be set. */
export function inputsOf({ type, fields }: Definition, action: 'create' | 'update', types: InputTypes): Property[] {
  const isNew = action === 'create'
  const settable = fields.filter(
    (field) =>
      field.type !== 'autodate' && !(type === 'auth' && field.name === 'tokenKey') && (isNew || field.name !== 'id'),
  )
  const inputs = settable.flatMap((field): Property[] => {
    const own: Property = [field.name, writeType(field, types), !isNew || !isRequired(field)]
    if (field.type === 'text' && field.autogeneratePattern !== '')
      return [own, [`${field.name}:autogenerate`, 'string', true]]
    return isNew ? [own] : [own, ...modifiersOf(field, types)]
  })
  if (type !== 'auth') return inputs
  const confirmation: Property = ['passwordConfirm', 'string', !isNew]
  return isNew ? [...inputs, confirmation] : [...inputs, confirmation, ['oldPassword', 'string', true]]
}

function isRequired(field: FieldDefinition): boolean {
  const isMade = field.type === 'text' && field.autogeneratePattern !== ''
  return 'required' in field && field.required && !isMade
}

function modifiersOf(field: FieldDefinition, { file }: InputTypes): Property[] {
  const { name } = field
  if (field.type === 'number')
    return [
      [`${name}+`, 'number', true],
      [`${name}-`, 'number', true],
    ]
  if (field.type !== 'select' && field.type !== 'relation' && field.type !== 'file') return []
  const one = field.type === 'select' ? choicesOf(field.values) : 'string'
  const added = field.type === 'file' ? file : one
  const removed: Property = [`${name}-`, `${one} | (${one})[]`, true]
  const more = `${added} | (${added})[]`
  return isMany(field) ? [[`${name}+`, more, true], [`+${name}`, more, true], removed] : [removed]
}
