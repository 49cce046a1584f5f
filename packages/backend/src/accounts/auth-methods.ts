/** How the records of a collection can log in, as PocketBase's API says it. */
import type { AuthDefinition } from '../definitions/definition.ts'
import type { Chance } from '../gateway/chance.ts'
import type { JsonObject } from '../gateway/documents.ts'
import { presentProviders } from './oauth2/provider.ts'

/** The methods of an account to log in; each provider comes with a fresh state and verifier. */
export function authMethods(definition: AuthDefinition, chance: Chance): JsonObject {
  const { passwordAuth, mfa, otp, oauth2, passkey } = definition
  const identityFields = passwordAuth.enabled ? passwordAuth.identityFields : []
  const providers = oauth2.enabled ? presentProviders(definition, chance) : []
  return {
    password: { identityFields, enabled: passwordAuth.enabled },
    oauth2: { providers, enabled: oauth2.enabled },
    mfa: { enabled: mfa.enabled, duration: mfa.enabled ? mfa.duration : 0 },
    otp: { enabled: otp.enabled, duration: otp.enabled ? otp.duration : 0 },
    ...(passkey?.enabled === true && { passkey: { enabled: true } }),
    authProviders: oauth2.enabled ? providers.map((provider) => ({ ...provider, logo: '' })) : null,
    usernamePassword: identityFields.includes('username'),
    emailPassword: identityFields.includes('email'),
  }
}
