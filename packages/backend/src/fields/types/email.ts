/** Fields of type `email`. */
import { isEmail } from '../addresses.ts'
import { domainType, type DomainOptions } from '../domain-fields.ts'
import { fieldError, NO_EMAIL } from '../field-errors.ts'
import type { FieldType } from '../field-type.ts'

export interface EmailField extends DomainOptions {
  readonly type: 'email'
}

export const EMAIL: FieldType<EmailField> = domainType({
  is: isEmail,
  domainOf: (value) => value.slice(value.lastIndexOf('@') + 1),
  wrong: NO_EMAIL,
  elsewhere: fieldError('validation_email_domain_not_allowed', 'Email domain is not allowed.'),
})
