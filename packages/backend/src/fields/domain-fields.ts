/** The common part of fields of addresses with a domain. */
import type { ErrorData, FieldError } from '../gateway/service-error.ts'
import { BLANK, fieldError, NOT_BLANK } from './field-errors.ts'
import type { FieldBase, Requirable } from './field-base.ts'
import type { FieldType } from './field-type.ts'
import { flagOption, textsOption } from './options.ts'
import { ONE_TEXT } from './text-fields.ts'

export interface DomainOptions extends FieldBase, Requirable {
  readonly onlyDomains: readonly string[] | null
  readonly exceptDomains: readonly string[] | null
}

const NO_DOMAIN = fieldError('validation_is_domain', 'Must be a valid domain.')

interface Kind {
  is(value: string): boolean
  domainOf(value: string): string
  readonly wrong: FieldError
  readonly elsewhere: FieldError
}

export function domainType({ is, domainOf, wrong, elsewhere }: Kind): FieldType<DomainOptions> {
  return {
    ...ONE_TEXT,
    isSearchable: true,
    isIndexable: true,
    options: { exceptDomains: textsOption, onlyDomains: textsOption, required: flagOption },
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
