/** Fields of type `text` and `editor`. */
import type { Chance } from '../gateway/chance.ts'
import type { FieldError } from '../gateway/service-error.ts'
import { toText } from './cast.ts'
import { BLANK, fieldError, INTEGER_MAX, NOT_BLANK, outside } from './field-errors.ts'
import type { EditorField, FieldDefinition, TextField } from './field-definition.ts'
import type { FieldType } from './field-type.ts'
import { flagOption, integerOption, textOption } from './options.ts'
import { checkPattern, generate, isMatch } from './pattern.ts'
import { PatternError } from './translate-pattern.ts'

const ID_PATTERN = '^[a-z0-9]+$'
const TEXT_MAX = 5000
const EDITOR_MAX = 5 << 20

const FORBIDDEN_IN_ID = [
  '.',
  '/',
  '\\',
  '|',
  '"',
  "'",
  '`',
  '<',
  '>',
  ':',
  '?',
  '*',
  '%',
  '$',
  '\0',
  '\t',
  '\n',
  '\r',
  ' ',
]
/** Names of devices in Windows: ids are names of folders in backups. */
const RESERVED_ID = /^(?:con|prn|aux|nul|com[1-9]|lpt[1-9])$/i

const NOT_CHANGEABLE = fieldError('validation_pk_change', 'The record primary key cannot be changed.')
const COMPOSITE = fieldError(
  'validation_unsupported_composite_pk',
  'Composite PKs are not supported and the collection must have only 1 PK.',
)
export const NO_FORMAT: FieldError = fieldError('validation_invalid_format', 'Invalid value format.')

export const TEXT: FieldType<TextField> = {
  options: {
    autogeneratePattern: textOption,
    max: integerOption,
    min: integerOption,
    pattern: textOption,
    primaryKey: flagOption,
    required: flagOption,
  },
  empty: () => '',
  cast: (_, value) => toText(value),
  check(field, value, { old }) {
    if (field.primaryKey && old !== undefined) return value === old ? undefined : NOT_CHANGEABLE
    return checkText(field, value as string)
  },
  checkOptions(field, { definition, chance }) {
    const { primaryKey, name, min, max, pattern, hidden, required, autogeneratePattern } = field
    return {
      name:
        primaryKey && name !== 'id'
          ? fieldError('validation_in_invalid', 'The primary key must be named "id".')
          : undefined,
      min: outside(min, 0, INTEGER_MAX),
      max: outside(max, min, INTEGER_MAX),
      pattern: primaryKey && pattern === '' ? BLANK : checkPattern(pattern),
      primaryKey: primaryKey && hasOtherKey(definition.fields, field) ? COMPOSITE : undefined,
      hidden: primaryKey && hidden ? NOT_BLANK : undefined,
      required: primaryKey && !required ? BLANK : undefined,
      autogeneratePattern: checkPattern(autogeneratePattern) ?? checkGenerated(field, chance),
    }
  },
  modifiers: ['generate'],
  modify(field, _modifier, _value, input, chance) {
    const text = toText(input)
    return field.autogeneratePattern === '' ? text : text + generate(field.autogeneratePattern, chance)
  },
}

function checkText(field: TextField, value: string): FieldError | undefined {
  const { required, primaryKey, min, pattern } = field
  if (value === '') return required || primaryKey ? BLANK : undefined
  const length = charsOf(value)
  if (length < min) return tooShort(min)
  const max = field.max === 0 ? TEXT_MAX : field.max
  if (length > max) {
    return fieldError('validation_max_text_constraint', 'Must be no more than {max} character(s).', { max })
  }
  if (pattern !== '' && !isMatch(pattern, value)) return NO_FORMAT
  return primaryKey && pattern !== ID_PATTERN ? idError(value) : undefined
}

function hasOtherKey(fields: readonly FieldDefinition[], { id }: TextField): boolean {
  return fields.some((other) => other.type === 'text' && other.primaryKey && other.id !== id)
}

function tooShort(min: number): FieldError {
  return fieldError('validation_min_text_constraint', 'Must be at least {min} character(s).', { min })
}

/** Characters of Unicode. */
export function charsOf(text: string): number {
  let count = 0
  for (const char of text) count += char === '' ? 0 : 1
  return count
}

/** Why no field admits the id, whatever its pattern. */
export function idError(value: string): FieldError | undefined {
  const ch = FORBIDDEN_IN_ID.find((char) => value.includes(char))
  if (ch !== undefined) {
    return fieldError('validation_forbidden_pk_character', "'{ch}' is not a valid primary key character.", { ch })
  }
  if (!RESERVED_ID.test(value)) return undefined
  const reserved = value.toUpperCase()
  return fieldError('validation_reserved_pk', "The primary key '{reserved}' is reserved and cannot be used.", {
    reserved,
  })
}

const TRIES = 10

/** The other options must let pass what the pattern makes. */
function checkGenerated(field: TextField, chance: Chance): FieldError | undefined {
  const { autogeneratePattern } = field
  if (autogeneratePattern === '') return undefined
  try {
    for (let count = 0; count < TRIES; count++) {
      const text = generate(autogeneratePattern, chance)
      if (checkText(field, text) !== undefined) {
        return fieldError(
          'validation_invalid_autogenerate_pattern_value',
          `The provided autogenerate pattern could produce invalid field values, ex.: ${JSON.stringify(text)}.`,
        )
      }
    }
  } catch (error) {
    if (!(error instanceof PatternError)) throw error
    return fieldError('validation_invalid_autogenerate_pattern', error.message)
  }
  return undefined
}

export const EDITOR: FieldType<EditorField> = {
  options: { convertURLs: flagOption, maxSize: integerOption, required: flagOption },
  empty: () => '',
  cast: (_, value) => toText(value),
  check(field, value) {
    if (field.required && value === '') return BLANK
    const maxSize = field.maxSize <= 0 ? EDITOR_MAX : field.maxSize
    if (Buffer.byteLength(value as string) <= maxSize) return undefined
    return fieldError('validation_content_size_limit', 'The maximum allowed content size is {maxSize} bytes.', {
      maxSize,
    })
  },
  checkOptions: ({ maxSize }) => ({ maxSize: outside(maxSize, 0, INTEGER_MAX) }),
}
