/** How the records of a collection can log in, as PocketBase's API says it. */
import type { AuthDefinition } from '../definitions/definition.ts'
import type { JsonObject } from '../gateway/documents.ts'

/** Logins by OAuth2 are still to come, so no provider is listed. */
export function authMethods({ passwordAuth, mfa, otp, oauth2 }: AuthDefinition): JsonObject {
  const identityFields = passwordAuth.enabled ? passwordAuth.identityFields : []
  return {
    password: { identityFields, enabled: passwordAuth.enabled },
    oauth2: { providers: [], enabled: oauth2.enabled },
    mfa: { enabled: mfa.enabled, duration: mfa.enabled ? mfa.duration : 0 },
    otp: { enabled: otp.enabled, duration: otp.enabled ? otp.duration : 0 },
    authProviders: oauth2.enabled ? [] : null,
    usernamePassword: identityFields.includes('username'),
    emailPassword: identityFields.includes('email'),
  }
}
