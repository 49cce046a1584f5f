/** The form of accounts beside their fields: passwords are confirmed, and only managers change proofs of identity. */
import { toText } from '../../fields/cast.ts'
import { BLANK, DIFFERENT, fieldError } from '../../fields/field-errors.ts'
import { newPassword } from '../../fields/types/password.ts'
import type { ErrorData, FieldError } from '../../gateway/service-error.ts'
import type { JsonObject } from '../../gateway/documents.ts'
import type { RecordInput } from '../record-types.ts'

/** The passwords of an input. Empty: none was sent. */
export interface AccountForm {
  readonly password: string
  readonly passwordConfirm: string
  readonly oldPassword: string
  /** Whether an address was sent. */
  readonly hasEmail: boolean
}

/** An answer to whether the old password is right, for one hash. */
export interface CheckedPassword {
  readonly hash: string
  readonly isRight: boolean
}

interface AccountChange {
  /** Undefined: the account is new. */
  readonly old: JsonObject | undefined
  readonly values: JsonObject
  readonly form: AccountForm
  /** A superuser, or somebody whom the manage rule admits. */
  readonly isManager: boolean
  /** Whether the one who writes sees the e-mail address. Else the answer would confirm a guess. */
  readonly seesEmail: boolean
  readonly checked: CheckedPassword | undefined
}

const WRONG_PASSWORD = fieldError('validation_invalid_old_password', 'Missing or invalid old password.')

export function accountForm(input: RecordInput): AccountForm {
  const { password, passwordConfirm, oldPassword, email } = input
  return {
    password: newPassword(password)?.text ?? '',
    passwordConfirm: newPassword(passwordConfirm)?.text ?? '',
    oldPassword: toText(oldPassword),
    hasEmail: email !== undefined,
  }
}

/** Errors of the form; undefined: no errors. */
export function accountErrors({
  old,
  values,
  form,
  isManager,
  seesEmail,
  checked,
}: AccountChange): ErrorData | undefined {
  const { password, passwordConfirm, oldPassword } = form
  const isNew = old === undefined
  const mustConfirm = isNew || password !== '' || oldPassword !== ''
  const changesPassword = !isNew && (password !== '' || passwordConfirm !== '')
  const isSameEmail = (): boolean => (seesEmail || !form.hasEmail) && values['email'] === textOf(old, 'email')
  const errors: Record<string, FieldError | undefined> = {
    email: isNew || isManager || isSameEmail() ? undefined : DIFFERENT,
    verified: isManager || values['verified'] === (old?.['verified'] === true) ? undefined : DIFFERENT,
    password: password === '' && (isNew || passwordConfirm !== '' || oldPassword !== '') ? BLANK : undefined,
    passwordConfirm:
      mustConfirm && passwordConfirm === '' ? BLANK : passwordConfirm === password ? undefined : DIFFERENT,
    oldPassword: changesPassword && !isManager ? oldPasswordError(old, oldPassword, checked) : undefined,
  }
  const wrong = Object.entries(errors).filter(([, error]) => error !== undefined)
  return wrong.length === 0 ? undefined : (Object.fromEntries(wrong) as ErrorData)
}

/** The hash may have changed since it was checked: then the answer is worth nothing. */
function oldPasswordError(
  old: JsonObject,
  oldPassword: string,
  checked: CheckedPassword | undefined,
): FieldError | undefined {
  if (oldPassword === '') return BLANK
  const isRight = checked?.isRight === true && checked.hash === textOf(old, 'password')
  return isRight ? undefined : WRONG_PASSWORD
}

function textOf(document: JsonObject | undefined, field: string): string {
  const value = document?.[field]
  return typeof value === 'string' ? value : ''
}
