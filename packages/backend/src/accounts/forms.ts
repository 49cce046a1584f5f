/** Forms of requests about accounts, and their errors in PocketBase's codes and words. */
import { isEmail } from '../fields/addresses.ts'
import { BLANK, NO_EMAIL, outsideLength } from '../fields/field-errors.ts'
import type { JsonObject } from '../gateway/documents.ts'
import { invalid, ServiceError } from '../gateway/service-error.ts'
import type { FieldError } from '../gateway/service-error.ts'

export const NAME_BYTES_MAX = 255

/** The texts of an input; `''` for what is left out. @throws ServiceError INVALID */
export function readTexts<N extends string>(input: JsonObject, names: readonly N[]): Readonly<Record<N, string>> {
  const texts = names.map((name) => {
    const value = input[name] ?? ''
    if (typeof value !== 'string') throw invalid('An error occurred while loading the submitted data.')
    return [name, value]
  })
  return Object.fromEntries(texts) as Record<N, string>
}

/** Whether a text can be the id of a record of the system. The library does not take every text. */
export function isRecordId(text: string): boolean {
  return /^[a-z0-9]{1,255}$/.test(text)
}

/** @throws ServiceError INVALID with data if anything is wrong */
export function checkForm(
  found: Readonly<Record<string, FieldError | undefined>>,
  message = 'An error occurred while validating the submitted data.',
): void {
  const wrong = Object.entries(found).filter((entry): entry is [string, FieldError] => entry[1] !== undefined)
  if (wrong.length > 0) throw new ServiceError('INVALID', message, { data: Object.fromEntries(wrong) })
}

export function textError(text: string, min: number, max: number): FieldError | undefined {
  return text === '' ? BLANK : outsideLength(text, min, max)
}

export function emailError(email: string): FieldError | undefined {
  return textError(email, 1, NAME_BYTES_MAX) ?? (isEmail(email) ? undefined : NO_EMAIL)
}

/** The address of a form that has nothing else. @throws ServiceError INVALID with data */
export function readEmail(input: JsonObject): string {
  const { email } = readTexts(input, ['email'])
  checkForm({ email: emailError(email) })
  return email
}
