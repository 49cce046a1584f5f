/** Fields of type `url`. */
import { hostOf, isUrl } from '../addresses.ts'
import { domainType, type DomainOptions } from '../domain-fields.ts'
import { fieldError } from '../field-errors.ts'
import type { FieldType } from '../field-type.ts'

export interface UrlField extends DomainOptions {
  readonly type: 'url'
}

export const URL_FIELD: FieldType<UrlField> = domainType({
  is: isUrl,
  domainOf: hostOf,
  wrong: fieldError('validation_invalid_url', 'Must be a valid url.'),
  elsewhere: fieldError('validation_url_domain_not_allowed', 'Url domain is not allowed.'),
})
