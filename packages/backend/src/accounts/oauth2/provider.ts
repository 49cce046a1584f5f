/** A provider of OAuth2 as a collection uses it, and what a client needs to send somebody there. */
import { createHash } from 'node:crypto'
import type { AuthDefinition, ProviderOptions } from '../../definitions/definition.ts'
import { knownProvider, providerLogo } from '../../definitions/oauth2-providers.ts'
import type { KnownProvider } from '../../definitions/oauth2-providers.ts'
import { randomText, type Chance } from '../../gateway/chance.ts'
import type { JsonObject } from '../../gateway/documents.ts'

/** A provider with its options. Empty options are as the provider has them. */
export interface Provider extends KnownProvider {
  readonly name: string
  /** As the definition has it: another object after every change. */
  readonly options: ProviderOptions
}

const STATE_CHARS = 30
const VERIFIER_CHARS = 43

/** Undefined if the collection does not admit logins by it. */
export function providerOf({ oauth2 }: AuthDefinition, name: string): Provider | undefined {
  const options = oauth2.providers.find((one) => one.name === name)
  return options && withDefaults(options)
}

function withDefaults(options: ProviderOptions): Provider | undefined {
  const known = knownProvider(options.name)
  if (known === undefined) return undefined
  const { name, displayName, authURL, tokenURL, userInfoURL, pkce, extra } = options
  const needsIdToken = known.idTokenEmail !== undefined && (extra?.['idTokenEmailClaim'] ?? '') !== ''
  return {
    ...known,
    name,
    options,
    displayName: displayName || known.displayName,
    authURL: authURL || known.authURL,
    tokenURL: tokenURL || known.tokenURL,
    userInfoURL: userInfoURL || known.userInfoURL,
    pkce: pkce ?? known.pkce,
    scopes: needsIdToken ? [...known.scopes, 'openid'] : known.scopes,
  }
}

/** The providers that a collection admits, each with a fresh state and, for PKCE, a fresh verifier. */
export function presentProviders({ oauth2 }: AuthDefinition, chance: Chance): JsonObject[] {
  return oauth2.providers.flatMap((options) => {
    const provider = withDefaults(options)
    return provider === undefined ? [] : [presentProvider(provider, chance)]
  })
}

function presentProvider(provider: Provider, chance: Chance): JsonObject {
  const state = randomText(chance, STATE_CHARS)
  const codeVerifier = provider.pkce ? randomText(chance, VERIFIER_CHARS) : ''
  const codeChallenge = provider.pkce ? createHash('sha256').update(codeVerifier).digest('base64url') : ''
  const codeChallengeMethod = provider.pkce ? 'S256' : ''
  const { name, displayName, scopes, options, authParameters } = provider
  const parameters = new URLSearchParams({
    ...authParameters,
    client_id: options.clientId,
    ...(provider.pkce && { code_challenge: codeChallenge, code_challenge_method: codeChallengeMethod }),
    response_type: 'code',
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
    state,
  })
  parameters.sort()
  // The client appends its own.
  const authURL = `${provider.authURL}${provider.authURL.includes('?') ? '&' : '?'}${parameters.toString()}&redirect_uri=`
  return {
    name,
    displayName,
    logo: providerLogo(provider),
    state,
    authURL,
    // What older clients read.
    authUrl: authURL,
    codeVerifier,
    codeChallenge,
    codeChallengeMethod,
  }
}
