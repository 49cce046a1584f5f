/** The common part of fields of one text, or of a list of different ones. */
import type { FieldError } from '../gateway/service-error.ts'
import { toTexts } from './cast.ts'
import type { FieldBase } from './field-base.ts'
import { fieldError } from './field-errors.ts'
import type { FieldType, Modifier } from './field-type.ts'
import { readText, type Place } from './program-readers.ts'

interface ListField extends FieldBase {
  /** The most values that are selected; more than 1: the value is a list. */
  readonly maxSelect: number
}

/** The common part of lists, whatever is in them. */
export const LIST: Pick<FieldType<ListField>, 'column' | 'empty' | 'modifiers'> = {
  column: 'TEXT',
  empty: ({ maxSelect }) => (maxSelect > 1 ? [] : ''),
  modifiers: ['add', 'prepend', 'remove'],
}

/** The common part of lists of texts. */
export const TEXTS: typeof LIST & Pick<FieldType<ListField>, 'order' | 'cast' | 'ofProgram' | 'modify'> = {
  ...LIST,
  order: 'text',
  cast: (field, value) => castList(field, value, toTexts),
  ofProgram: readTexts,
  modify(field, modifier, value, input) {
    const texts = modified(modifier, toTexts(value), toTexts(input), (text) => text)
    return castList(field, texts, toTexts)
  },
}

/** A list with others before it or after it, or without them. `keyOf`: what tells one from another. */
export function modified<T>(
  modifier: Modifier,
  before: readonly T[],
  given: readonly T[],
  keyOf: (one: T) => unknown,
): readonly T[] {
  if (modifier === 'add') return [...before, ...given]
  if (modifier === 'prepend') return [...given, ...before]
  const gone = new Set(given.map(keyOf))
  return before.filter((one) => !gone.has(keyOf(one)))
}

/** The last one, if the field takes one. It may be the JSON of a list in its turn. */
export function castList(field: ListField, value: unknown, toList: (value: unknown) => readonly unknown[]): unknown {
  const list = toList(value)
  if (field.maxSelect > 1) return list
  const last = list.at(-1) ?? ''
  return last === value ? last : castList(field, last, toList)
}

export function tooMany(maxSelect: number): FieldError {
  return fieldError('validation_too_many_values', 'Select no more than {maxSelect}.', { maxSelect })
}

/** The type of TypeScript of what a modifier takes. `added`: of one that is new; `kept`: of one that is there. */
export function listModifierType(
  { maxSelect }: ListField,
  modifier: Modifier,
  added: string,
  kept: string = added,
): string | undefined {
  const one = modifier === 'remove' ? kept : added
  return modifier === 'remove' || maxSelect > 1 ? `${one} | (${one})[]` : undefined
}

/** A relation takes a record, too. */
function readTexts(value: unknown, place: Place): unknown {
  if (value instanceof Set) return readTexts([...value], place)
  if (Array.isArray(value)) return value.map((one) => readTexts(one, place))
  if (isRecordLike(value)) return value.id
  return readText(value, place)
}

interface RecordLike {
  readonly id: string
  collection(): unknown
}

function isRecordLike(value: unknown): value is RecordLike {
  return (
    typeof value === 'object' &&
    value !== null &&
    'collection' in value &&
    'id' in value &&
    typeof value.id === 'string'
  )
}
