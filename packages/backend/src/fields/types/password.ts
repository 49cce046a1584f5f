/** Fields of type `password`. What is stored is the hash of a password. */
import type { FieldError } from '../../gateway/service-error.ts'
import { toText } from '../cast.ts'
import { BLANK, fieldError, NO_FORMAT, outside } from '../field-errors.ts'
import type { FieldBase, Requirable } from '../field-base.ts'
import type { FieldType } from '../field-type.ts'
import { flagOption, integerOption, textOption } from '../options.ts'
import { checkPattern, isMatch } from '../pattern.ts'
import { readText } from '../program-readers.ts'
import { charsOf, ONE_TEXT } from '../text-fields.ts'

export interface PasswordField extends FieldBase, Requirable {
  readonly type: 'password'
  readonly min: number
  readonly max: number
  readonly pattern: string
  readonly cost: number
}

/** The greatest length in bytes that bcrypt takes. */
const LENGTH_MAX = 71

/** A password that is not hashed yet. It must be before the record is stored. */
export class NewPassword {
  /** Private, so that no log shows it. */
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  get text(): string {
    return this.#text
  }
}

/** A password that nobody knows. Its field takes it, whatever its options say. */
export class UnknownPassword extends NewPassword {}

/** Undefined if none was sent. */
export function newPassword(input: unknown): NewPassword | undefined {
  if (input instanceof NewPassword) return input
  const text = toText(input)
  return text === '' ? undefined : new NewPassword(text)
}

export const PASSWORD: FieldType<PasswordField> = {
  ...ONE_TEXT,
  isHashed: true,
  options: {
    cost: integerOption,
    max: integerOption,
    min: integerOption,
    pattern: textOption,
    required: flagOption,
  },
  cast: (_, value) => (value instanceof NewPassword ? value : toText(value)),
  accept: (input) => newPassword(input) ?? '',
  ofProgram: (value, place) => (value instanceof NewPassword ? value : readText(value, place)),
  check(field, value) {
    if (value instanceof UnknownPassword) return undefined
    if (value instanceof NewPassword) return checkPassword(field, value.text)
    return field.required && value === '' ? BLANK : undefined
  },
  checkOptions: ({ min, max, cost, pattern }) => ({
    min: outside(min, 1, LENGTH_MAX),
    max: outside(max, min, LENGTH_MAX),
    cost: outside(cost, 4, 31),
    pattern: checkPattern(pattern),
  }),
}

/** These messages have no parameters in PocketBase. */
function checkPassword({ min, max, pattern }: PasswordField, text: string): FieldError | undefined {
  const length = charsOf(text)
  if (length < min) return fieldError('validation_min_text_constraint', `Must be at least ${min} character(s).`)
  const most = max <= 0 ? LENGTH_MAX : max
  if (length > most) return fieldError('validation_max_text_constraint', `Must be less than ${most} character(s).`)
  return pattern !== '' && !isMatch(pattern, text) ? NO_FORMAT : undefined
}
