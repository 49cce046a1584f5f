/** Fields of type `select`. */
import { toTexts } from '../cast.ts'
import type { FieldBase, Requirable } from '../field-base.ts'
import { BLANK, fieldError, outside } from '../field-errors.ts'
import type { FieldType } from '../field-type.ts'
import { listModifierType, TEXTS, tooMany } from '../list-fields.ts'
import { flagOption, integerOption, textsOption } from '../options.ts'

export interface SelectField extends FieldBase, Requirable {
  readonly type: 'select'
  readonly values: readonly string[]
  /** The most values that are selected; more than 1: the value is a list. */
  readonly maxSelect: number
}

export const SELECT: FieldType<SelectField> = {
  ...TEXTS,
  isSearchable: true,
  isIndexable: true,
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
  modifierType: (field, modifier) => listModifierType(field, modifier, choicesOf(field.values)),
  readType({ values, maxSelect }) {
    return maxSelect > 1 ? `(${choicesOf(values)})[]` : `${choicesOf(values)} | ""`
  },
}

function choicesOf(values: readonly string[]): string {
  return values.length === 0 ? 'never' : values.map((value) => JSON.stringify(value)).join(' | ')
}
