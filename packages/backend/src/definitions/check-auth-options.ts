/** Errors of the options of an auth collection. */
import type { Schema } from '@pannier/rules'
import { isUrl } from '../fields/addresses.ts'
import { BLANK, fieldError, outside, outsideLength } from '../fields/field-errors.ts'
import type { ErrorData, FieldError } from '../gateway/service-error.ts'
import { checkRule, checkSystemRule, errorsOf, type Errors } from './check-rule.ts'
import type { AuthDefinition, Definition, MailTemplate, ProviderOptions, TokenOptions } from './definition.ts'
import { uniqueIndexOf } from './index-statement.ts'
import { knownProvider } from './oauth2-providers.ts'
import { TEMPLATES, TOKENS } from './present-definition.ts'

const DAY_SECONDS = 86_400
/** The longest time of a token, in seconds: some three years. */
const TOKEN_SECONDS_MAX = 94_670_856

export function checkAuthOptions(definition: AuthDefinition, old: Definition | undefined, schema: Schema): Errors {
  const oldAuth = old?.type === 'auth' ? old : undefined
  const errors: Errors = {
    authRule:
      checkRule(definition.authRule, schema, definition.id) ??
      checkSystemRule(definition.authRule, oldAuth, oldAuth?.authRule),
    manageRule: checkManageRule(definition, oldAuth, schema),
    authAlert: errorsOf({ emailTemplate: checkTemplate(definition.authAlert.emailTemplate) }),
    passwordAuth: checkIdentityFieldsGiven(definition),
    oauth2: checkOAuth2(definition),
    otp: checkOtp(definition),
    mfa: errorsOf({ duration: definition.mfa.enabled ? within(definition.mfa.duration, 10, DAY_SECONDS) : undefined }),
    ...Object.fromEntries(TOKENS.map((name) => [name, checkToken(definition[name])])),
    ...Object.fromEntries(TEMPLATES.map((name) => [name, checkTemplate(definition[name])])),
  }
  return errorsOf(errors) ?? checkMfa(definition, oldAuth, schema) ?? checkIdentityFields(definition)
}

function within(value: number, min: number, max: number): FieldError | undefined {
  return value === 0 ? BLANK : outside(value, min, max)
}

function checkManageRule(
  { manageRule, id }: AuthDefinition,
  old: AuthDefinition | undefined,
  schema: Schema,
): FieldError | undefined {
  if (manageRule === '') return fieldError('validation_nil_or_not_empty_required', BLANK.message)
  return checkRule(manageRule, schema, id) ?? checkSystemRule(manageRule, old, old?.manageRule)
}

function checkTemplate({ subject, body }: MailTemplate): ErrorData | undefined {
  return errorsOf({ subject: subject === '' ? BLANK : undefined, body: body === '' ? BLANK : undefined })
}

function checkToken({ duration, secret }: TokenOptions): ErrorData | undefined {
  return errorsOf({
    secret: secret === '' ? BLANK : outsideLength(secret, 30, 255),
    duration: within(duration, 10, TOKEN_SECONDS_MAX),
  })
}

function checkOtp({ otp }: AuthDefinition): ErrorData | undefined {
  return errorsOf({
    duration: otp.enabled ? within(otp.duration, 10, DAY_SECONDS) : undefined,
    length: otp.enabled ? within(otp.length, 4, Infinity) : undefined,
    emailTemplate: checkTemplate(otp.emailTemplate),
  })
}

function checkMfa(
  { id, mfa, passwordAuth, oauth2, otp, passkey }: AuthDefinition,
  old: AuthDefinition | undefined,
  schema: Schema,
): Errors | undefined {
  if (!mfa.enabled) return undefined
  if ([passwordAuth, oauth2, otp, passkey].filter((method) => method?.enabled).length < 2) {
    const error = fieldError('validation_mfa_not_enough_auths', 'MFA requires at least 2 auth methods to be enabled.')
    return { mfa: { enabled: error } }
  }
  const rule = checkRule(mfa.rule, schema, id) ?? checkSystemRule(mfa.rule, old, old?.mfa.rule)
  return rule && { mfa: { rule } }
}

function checkIdentityFieldsGiven({ passwordAuth }: AuthDefinition): ErrorData | undefined {
  return passwordAuth.enabled && passwordAuth.identityFields.length === 0 ? { identityFields: BLANK } : undefined
}

/** One account at most has the value of such a field. */
function checkIdentityFields(definition: AuthDefinition): Errors {
  const { passwordAuth, fields } = definition
  if (!passwordAuth.enabled) return {}
  for (const fieldName of passwordAuth.identityFields) {
    const isThere = fields.some(({ name }) => name === fieldName)
    if (isThere && uniqueIndexOf(definition, fieldName) !== undefined) continue
    const error = isThere
      ? fieldError('validation_missing_unique_constraint', "The field {fieldName} doesn't have a UNIQUE constraint.", {
          fieldName,
        })
      : fieldError('validation_missing_field', 'Invalid or missing field {fieldName}.', { fieldName })
    return { passwordAuth: { identityFields: error } }
  }
  return {}
}

function checkOAuth2({ oauth2: { enabled, providers } }: AuthDefinition): ErrorData | undefined {
  if (!enabled) return undefined
  const names = providers.map(({ name }) => name)
  const twice = names.findIndex((name, place) => name !== '' && names.indexOf(name) < place)
  if (twice >= 0) {
    const message = 'The provider {name} is already registered.'
    const error = fieldError('validation_duplicated_provider', message, { name: names[twice] })
    return { providers: { [twice]: { name: error } } }
  }
  return errorsOf({
    providers: errorsOf(Object.fromEntries(providers.map((provider, place) => [place, checkProvider(provider)]))),
  })
}

function checkProvider({ name, clientId, clientSecret, ...urls }: ProviderOptions): ErrorData | undefined {
  const url = (text: string): FieldError | undefined =>
    text === '' || isUrl(text) ? undefined : fieldError('validation_is_url', 'Must be a valid URL.')
  const unknown = fieldError('validation_missing_provider', 'Invalid or missing provider with name {name}.', { name })
  return errorsOf({
    name: name === '' ? BLANK : knownProvider(name) === undefined ? unknown : undefined,
    clientId: clientId === '' ? BLANK : undefined,
    clientSecret: clientSecret === '' ? BLANK : undefined,
    authURL: url(urls.authURL),
    tokenURL: url(urls.tokenURL),
    userInfoURL: url(urls.userInfoURL),
  })
}
