/** A definition as the API shows it: PocketBase's order of keys, without secrets. */
import type { Chance } from '../gateway/chance.ts'
import type { JsonObject } from '../gateway/documents.ts'
import { completeDefinition } from './complete-definition.ts'
import type { Definition } from './definition.ts'
import { randomName, scaffoldOf } from './scaffolds.ts'

const KEYS = [
  'id',
  'listRule',
  'viewRule',
  'createRule',
  'updateRule',
  'deleteRule',
  'name',
  'type',
  'fields',
  'indexes',
  'created',
  'updated',
  'system',
] as const

type TokenOption = 'authToken' | 'passwordResetToken' | 'emailChangeToken' | 'verificationToken' | 'fileToken'
type TemplateOption = 'verificationTemplate' | 'resetPasswordTemplate' | 'confirmEmailChangeTemplate'

export const TOKENS: readonly TokenOption[] = [
  'authToken',
  'passwordResetToken',
  'emailChangeToken',
  'verificationToken',
  'fileToken',
]

export const TEMPLATES: readonly TemplateOption[] = [
  'verificationTemplate',
  'resetPasswordTemplate',
  'confirmEmailChangeTemplate',
]

const AUTH_KEYS = ['authRule', 'manageRule', 'authAlert', 'oauth2', 'passwordAuth', 'mfa', 'otp'] as const

/** Everything but what signs tokens, and the secrets of OAuth2. */
export function presentDefinition(definition: Definition): JsonObject {
  const shown = picked(definition, KEYS)
  if (definition.type === 'view') shown['viewQuery'] = definition.viewQuery
  if (definition.type !== 'auth') return shown
  Object.assign(shown, picked(definition, AUTH_KEYS))
  const { providers, mappedFields, enabled } = definition.oauth2
  shown['oauth2'] = { providers: providers.map(({ clientSecret: _, ...open }) => open), mappedFields, enabled }
  for (const name of TOKENS) shown[name] = { duration: definition[name].duration }
  if (definition.passkey !== undefined) shown['passkey'] = definition.passkey
  return Object.assign(shown, picked(definition, TEMPLATES))
}

/** The definitions with which new collections of each type begin. */
export function presentScaffolds(chance: Chance): JsonObject {
  const id = randomName(chance)
  const types: readonly Definition['type'][] = ['auth', 'base', 'view']
  return Object.fromEntries(
    types.map((type) => [
      type,
      presentDefinition({ ...completeDefinition({ ...scaffoldOf(type, chance), id }), id: '' }),
    ]),
  )
}

function picked<T extends object>(from: T, keys: readonly (keyof T & string)[]): JsonObject {
  return Object.fromEntries(keys.map((key) => [key, from[key]]))
}
