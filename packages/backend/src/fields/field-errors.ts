/** Errors of a value or an option, in PocketBase's codes and words. */
import type { FieldError } from '../gateway/service-error.ts'

type Params = Readonly<Record<string, unknown>>

/** `{max}` in the message is the parameter `max`. Parameters are in the order of the alphabet, as PocketBase shows them. */
export function fieldError(code: string, message: string, params?: Params): FieldError {
  if (params === undefined) return { code, message: sentence(message) }
  const filled = message.replace(/\{(\w+)\}/g, (_, name: string) => String(params[name]))
  return { code, message: sentence(filled), params }
}

/** With a capital, and a full stop unless there is another end. */
export function sentence(text: string): string {
  const trimmed = text.trim()
  const capital = trimmed.slice(0, 1).toUpperCase() + trimmed.slice(1)
  return /[.?!]?$/.exec(capital)![0] === '' && capital !== '' ? `${capital}.` : capital
}

/** A value is required. */
export const BLANK: FieldError = fieldError('validation_required', 'Cannot be blank.')
export const NOT_BLANK: FieldError = fieldError('validation_empty', 'Must be blank.')
export const NO_MATCH: FieldError = fieldError('validation_match_invalid', 'Must be in a valid format.')
export const NO_FORMAT: FieldError = fieldError('validation_invalid_format', 'Invalid value format.')
export const NOT_UNICODE: FieldError = fieldError('validation_not_unicode', 'Must have no half of a surrogate pair.')
export const NOT_UNIQUE: FieldError = fieldError('validation_not_unique', 'Value must be unique.')
export const LISTED: FieldError = fieldError('validation_not_in_invalid', 'Must not be in list.')
export const DIFFERENT: FieldError = fieldError('validation_values_mismatch', "Values don't match.")

export const NOT_LISTED: FieldError = fieldError('validation_in_invalid', 'Must be a valid value.')
export const NO_EMAIL: FieldError = fieldError('validation_is_email', 'Must be a valid email address.')

/** The largest integer that JSON keeps. */
export const INTEGER_MAX: number = Number.MAX_SAFE_INTEGER

/** 0 stands for an option that is not given, so it is not checked. */
export function outside(value: number, min: number, max: number): FieldError | undefined {
  if (value === 0) return undefined
  if (value < min) {
    return fieldError('validation_min_greater_equal_than_required', 'Must be no less than {threshold}.', {
      threshold: min,
    })
  }
  if (value > max) {
    return fieldError('validation_max_less_equal_than_required', 'Must be no greater than {threshold}.', {
      threshold: max,
    })
  }
  return undefined
}

/** In bytes, as PocketBase measures names. Empty texts pass. */
export function outsideLength(text: string, min: number, max: number): FieldError | undefined {
  const length = Buffer.byteLength(text)
  if (length === 0 || (length >= min && length <= max)) return undefined
  return fieldError('validation_length_out_of_range', 'The length must be between {min} and {max}.', { max, min })
}

/** A text or a list with more bytes or items than `max`. */
export function tooLong(max: number): FieldError {
  return fieldError('validation_length_too_long', 'The length must be no more than {max}.', { max, min: 0 })
}
