/** Fields of type `text`. */
import type { Chance } from '../../gateway/chance.ts'
import type { FieldError } from '../../gateway/service-error.ts'
import { toText } from '../cast.ts'
import { BLANK, fieldError, INTEGER_MAX, NO_FORMAT, NOT_BLANK, outside } from '../field-errors.ts'
import type { FieldBase, Requirable } from '../field-base.ts'
import type { FieldType } from '../field-type.ts'
import { flagOption, integerOption, textOption } from '../options.ts'
import { checkPattern, generate, isMatch } from '../pattern.ts'
import { charsOf, ONE_TEXT } from '../text-fields.ts'
import { PatternError } from '../translate-pattern.ts'

export interface TextField extends FieldBase, Requirable {
  readonly type: 'text'
  readonly min: number
  /** 0: 5000. */
  readonly max: number
  readonly pattern: string
  readonly autogeneratePattern: string
  readonly primaryKey: boolean
}

const ID_PATTERN = '^[a-z0-9]+$'
const TEXT_MAX = 5000

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

export const TEXT: FieldType<TextField> = {
  ...ONE_TEXT,
  order: 'text',
  isSearchable: true,
  isIndexable: true,
  options: {
    autogeneratePattern: textOption,
    max: integerOption,
    min: integerOption,
    pattern: textOption,
    primaryKey: flagOption,
    required: flagOption,
  },
  fill({ name, autogeneratePattern: pattern }, value, { isNew, chance, drawn }) {
    if (!isNew || value !== '' || pattern === '') return value
    return drawn !== undefined && Object.hasOwn(drawn, name) ? drawn[name] : generate(pattern, chance)
  },
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
  modifierType: ({ autogeneratePattern }) => (autogeneratePattern === '' ? undefined : 'string'),
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

function hasOtherKey(fields: readonly FieldBase[], { id }: TextField): boolean {
  return fields.some((other) => 'primaryKey' in other && other.primaryKey === true && other.id !== id)
}

function tooShort(min: number): FieldError {
  return fieldError('validation_min_text_constraint', 'Must be at least {min} character(s).', { min })
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
