/** Fields of type `select` and `relation`: one text, or a list of different ones. */
import type { FieldError } from '../gateway/service-error.ts'
import { toTexts } from './cast.ts'
import { BLANK, fieldError, outside } from './field-errors.ts'
import { isMany } from './field-definition.ts'
import type { RelationField, SelectField } from './field-definition.ts'
import type { FieldContext, FieldType, Modifier } from './field-type.ts'
import { flagOption, integerOption, textOption, textsOption } from './options.ts'

type ListField = SelectField | RelationField

const NOT_CHANGEABLE = fieldError('validation_field_relation_change', 'The relation collection cannot be changed.')
const NO_COLLECTION = fieldError(
  'validation_field_relation_missing_collection',
  "The relation collection doesn't exist.",
)
const NO_VIEW = fieldError(
  'validation_relation_field_non_view_base_collection',
  'Only view collections are allowed to have relations to other views.',
)

const LIST = {
  empty: (field: ListField): unknown => (isMany(field) ? [] : ''),
  cast,
  modifiers: ['add', 'prepend', 'remove'] as readonly Modifier[],
  modify(field: ListField, modifier: Modifier, value: unknown, input: unknown): unknown {
    return cast(
      field,
      modified(modifier, toTexts(value), toTexts(input), (text) => text),
    )
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
function cast(field: ListField, value: unknown): unknown {
  const texts = toTexts(value)
  if (isMany(field)) return texts
  const last = texts.at(-1) ?? ''
  return last === value ? last : cast(field, last)
}

function tooMany(maxSelect: number): FieldError {
  return fieldError('validation_too_many_values', 'Select no more than {maxSelect}.', { maxSelect })
}

export const SELECT: FieldType<SelectField> = {
  ...LIST,
  options: {
    maxSelect: integerOption,
    required: flagOption,
    values: (value) => textsOption(value ?? []),
  },
  check({ required, values, maxSelect }, value) {
    const texts = toTexts(value)
    if (texts.length === 0) return required ? BLANK : undefined
    const max = Math.max(maxSelect, 1)
    if (texts.length > max) return tooMany(max)
    const unknown = texts.find((text) => !values.includes(text))
    return unknown === undefined
      ? undefined
      : fieldError('validation_invalid_value', 'Invalid value {value}', { value: unknown })
  },
  checkOptions: ({ values, maxSelect }) => ({
    values: values.length === 0 ? BLANK : undefined,
    maxSelect: outside(maxSelect, 0, Math.max(values.length, 1)),
  }),
}

/** Whether the records exist is checked by the writer, who can see them. */
export const RELATION: FieldType<RelationField> = {
  ...LIST,
  options: {
    cascadeDelete: flagOption,
    collectionId: textOption,
    maxSelect: integerOption,
    minSelect: integerOption,
    required: flagOption,
  },
  check({ required, minSelect, maxSelect }, value) {
    const count = toTexts(value).length
    if (count === 0) return required ? BLANK : undefined
    if (count < minSelect) {
      return fieldError('validation_not_enough_values', 'Select at least {minSelect}.', { minSelect })
    }
    const max = Math.max(maxSelect, 1)
    return count > max ? tooMany(max) : undefined
  },
  checkOptions(field, context) {
    const { minSelect, maxSelect } = field
    return {
      collectionId: checkCollection(field, context),
      minSelect: outside(minSelect, 0, Infinity),
      maxSelect: minSelect > 0 && maxSelect === 0 ? BLANK : outside(maxSelect, minSelect, Infinity),
    }
  },
}

function checkCollection({ collectionId }: RelationField, context: FieldContext): FieldError | undefined {
  if (collectionId === '') return BLANK
  const { old, definition } = context
  if (old?.type === 'relation' && old.collectionId !== collectionId) return NOT_CHANGEABLE
  const related = context.typeOf(collectionId)
  if (related === undefined) return NO_COLLECTION
  return related === 'view' && definition.type !== 'view' ? NO_VIEW : undefined
}
