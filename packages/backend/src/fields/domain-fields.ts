/** Fields of type `email` and `url`. */
import type { ErrorData, FieldError } from '../gateway/service-error.ts'
import { toText } from './cast.ts'
import { hostOf, isEmail, isUrl } from './addresses.ts'
import { BLANK, fieldError, NO_EMAIL, NOT_BLANK } from './field-errors.ts'
import type { DomainField } from './field-definition.ts'
import type { FieldType } from './field-type.ts'
import { flagOption, textsOption } from './options.ts'

const NO_DOMAIN = fieldError('validation_is_domain', 'Must be a valid domain.')

interface Kind {
  is(value: string): boolean
  domainOf(value: string): string
  readonly wrong: FieldError
  readonly elsewhere: FieldError
}

export const EMAIL: FieldType<DomainField> = domainType({
  is: isEmail,
  domainOf: (value) => value.slice(value.lastIndexOf('@') + 1),
  wrong: NO_EMAIL,
  elsewhere: fieldError('validation_email_domain_not_allowed', 'Email domain is not allowed.'),
})

export const URL_FIELD: FieldType<DomainField> = domainType({
  is: isUrl,
  domainOf: hostOf,
  wrong: fieldError('validation_invalid_url', 'Must be a valid url.'),
  elsewhere: fieldError('validation_url_domain_not_allowed', 'Url domain is not allowed.'),
})

function domainType({ is, domainOf, wrong, elsewhere }: Kind): FieldType<DomainField> {
  return {
    options: { exceptDomains: textsOption, onlyDomains: textsOption, required: flagOption },
    empty: () => '',
    cast: (_, value) => toText(value),
    check(field, given) {
      const value = given as string
      if (value === '') return field.required ? BLANK : undefined
      if (!is(value)) return wrong
      const [only, except] = [field.onlyDomains ?? [], field.exceptDomains ?? []]
      const domain = domainOf(value)
      const isRefused = (only.length > 0 && !only.includes(domain)) || except.includes(domain)
      return isRefused ? elsewhere : undefined
    },
    checkOptions: ({ onlyDomains, exceptDomains }) => ({
      onlyDomains: checkDomains(onlyDomains, exceptDomains),
      exceptDomains: checkDomains(exceptDomains, onlyDomains),
    }),
  }
}

/** Only one of the two lists may have domains. */
function checkDomains(
  domains: readonly string[] | null,
  others: readonly string[] | null,
): FieldError | ErrorData | undefined {
  if (domains === null || domains.length === 0) return undefined
  if (others !== null && others.length > 0) return NOT_BLANK
  const errors = domains.flatMap((domain, index) => (isDomain(domain) ? [] : [[String(index), NO_DOMAIN] as const]))
  return errors.length === 0 ? undefined : Object.fromEntries(errors)
}

function isDomain(text: string): boolean {
  if (text === '') return true
  const labels = text.split('.')
  const last = labels.pop()!
  return (
    text.length <= 255 &&
    labels.length > 0 &&
    /^[a-z]{1,63}$/i.test(last) &&
    labels.every((label) => /^[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-z0-9])?$/.test(label))
  )
}
