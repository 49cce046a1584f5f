/** Reads an input on top of a definition, as PocketBase's API does: what is left out stays, lists are replaced. */
import { isObject } from 'pannier/internal'
import type { JsonObject } from '../gateway/documents.ts'
import type { Chance } from '../gateway/chance.ts'
import { completeFields } from '../fields/complete-fields.ts'
import { invalid, ServiceError } from '../gateway/service-error.ts'
import type { AuthDefinition, Definition } from './definition.ts'
import { withSystemFields } from './system-fields.ts'
import { indexesOf } from './index-statement.ts'
import { scaffoldOf } from './scaffolds.ts'
import { SUPERUSERS } from './system-collections.ts'

/** A new collection as an input has it. @throws ServiceError INVALID */
export function newDefinition(input: unknown, chance: Chance): Definition {
  const { type = '', name = '' } = isObject(input) ? input : { type: input }
  if (typeof (type ?? '') !== 'string' || typeof (name ?? '') !== 'string')
    throw new ServiceError('INVALID', 'Failed to load the collection type data due to invalid formatting.')
  return mergeDefinition(scaffoldOf(type === 'auth' || type === 'view' ? type : 'base', chance), input, chance)
}

/** `definition` with what the input says. @throws ServiceError INVALID */
export function mergeDefinition(definition: Definition, input: unknown, chance: Chance): Definition {
  if (!isObject(input)) throw malformed()
  const { fields, ...rest } = input['type'] === '' ? { ...input, type: 'base' } : input
  // Nobody sets these.
  const { created, updated } = definition
  const merged = {
    ...(mergeObject(ofType(definition, rest['type'], chance), rest, RULES) as unknown as Definition),
    created,
    updated,
  }
  const named = merged.type === 'auth' ? withPasskey(merged, rest['passkey']) : merged
  return fields === undefined ? named : { ...named, fields: completeFields(fields) }
}

/** The definition with its passkey option. PocketBase has no such option, so it is not there before it is set. */
function withPasskey(definition: AuthDefinition, input: unknown): AuthDefinition {
  if (input === undefined) return definition
  const passkey = mergeValue(definition.passkey ?? { enabled: false }, input) as { readonly enabled: boolean }
  return { ...definition, passkey }
}

/** With the options of another type. The change is refused later, with all that is wrong beside it. */
function ofType(definition: Definition, type: unknown, chance: Chance): Definition {
  const isOther = (type === 'base' || type === 'auth' || type === 'view') && type !== definition.type
  return isOther ? ({ ...scaffoldOf(type, chance), ...definition } as Definition) : definition
}

/** Completes a definition by the parts of its type: system fields and their indexes, statements that name it. */
export function completeDefinition(definition: Definition): Definition {
  const complete = { ...definition, fields: withSystemFields(definition), indexes: indexesOf(definition) }
  if (complete.type !== 'auth') return complete
  return withKnownMappedFields(complete.name === SUPERUSERS ? withStrictLogins(complete) : complete)
}

/** Superusers always have passwords. A one-time password is a second method only, and nobody else vouches for them. */
function withStrictLogins(definition: AuthDefinition): AuthDefinition {
  const { mfa, oauth2, otp, passwordAuth } = definition
  return {
    ...definition,
    mfa: { ...mfa, enabled: mfa.enabled || otp.enabled },
    oauth2: { ...oauth2, enabled: false, providers: [] },
    // The check refuses two methods without passwords.
    passwordAuth: { ...passwordAuth, enabled: passwordAuth.enabled || !mfa.enabled },
  }
}

/** OAuth2 can't fill fields that are not there. */
function withKnownMappedFields(definition: AuthDefinition): AuthDefinition {
  const names = new Set(definition.fields.map(({ name }) => name))
  const mappedFields = Object.fromEntries(
    Object.entries(definition.oauth2.mappedFields).map(([key, field]) => [key, names.has(field) ? field : '']),
  ) as AuthDefinition['oauth2']['mappedFields']
  return { ...definition, oauth2: { ...definition.oauth2, mappedFields } }
}

/** Keys whose value may be null. */
const RULES = new Set(['listRule', 'viewRule', 'createRule', 'updateRule', 'deleteRule', 'authRule', 'manageRule'])

function mergeObject(base: object, input: JsonObject, nullable: ReadonlySet<string> = new Set()): JsonObject {
  return Object.fromEntries(
    Object.entries(base).map(([key, value]) => {
      if (input[key] === undefined) return [key, value]
      if (nullable.has(key)) return [key, input[key] === null ? null : textOf(input[key])]
      return [
        key,
        key === 'providers' ? mergeProviders(value as JsonObject[], input[key]) : mergeValue(value, input[key]),
      ]
    }),
  )
}

/** A value of the type of `base`. Null changes nothing, but empties a list. */
function mergeValue(base: unknown, input: unknown): unknown {
  if (Array.isArray(base)) {
    if (input === null) return []
    if (!Array.isArray(input)) throw malformed()
    return input.map(textOf)
  }
  if (input === null) return base
  if (isObject(base)) {
    if (!isObject(input)) throw malformed()
    return mergeObject(base, input)
  }
  if (typeof input !== typeof base || (typeof input === 'number' && !Number.isSafeInteger(input))) throw malformed()
  return input
}

function textOf(value: unknown): string {
  if (typeof value !== 'string') throw malformed()
  return value
}

/** The options of a provider: texts. `pkce` and `extra` may be null. */
export const PROVIDER: JsonObject = {
  name: '',
  clientId: '',
  clientSecret: '',
  authURL: '',
  tokenURL: '',
  userInfoURL: '',
  displayName: '',
}

/**
 * A provider takes what it leaves out from the stored one of its name: nobody can read secrets to send them again. A new provider has
 * nothing of the one whose place it takes: codes and secrets would go to the old addresses. Without a name, the place says which it is.
 */
function mergeProviders(old: readonly JsonObject[], input: unknown): JsonObject[] {
  if (input === null) return []
  if (!Array.isArray(input)) throw malformed()
  return input.map((provider, index) => {
    if (!isObject(provider)) throw malformed()
    const { name = old[index]?.['name'] } = provider
    const stored = old.find((one) => one['name'] === name)
    const { pkce, extra, ...texts } = { ...PROVIDER, pkce: null, extra: null, ...stored }
    const { pkce: newPkce = pkce, extra: newExtra = extra } = provider
    if (newPkce !== null && typeof newPkce !== 'boolean') throw malformed()
    if (newExtra !== null && !isObject(newExtra)) throw malformed()
    return { pkce: newPkce, ...mergeObject(texts, provider), extra: newExtra }
  })
}

function malformed(): ServiceError {
  return invalid('Failed to load the submitted data due to invalid formatting.')
}
