/**
 * Claims of an `id_token` of OpenID Connect. The server gets it from the provider itself, so its signature is checked where the keys are
 * known.
 */
import { compactVerify, createLocalJWKSet, decodeJwt, errors } from 'jose'
import type { JSONWebKeySet, JWTPayload } from 'jose'
import type { JsonObject } from '../../gateway/documents.ts'
import type { Provider } from './provider.ts'
import { ask, ProviderError } from './provider-requests.ts'

/** The leeway of clocks, which differ. */
const LEEWAY_SECONDS = 300

/** @throws ProviderError, and what `fetch` throws */
export async function idTokenClaims(
  provider: Provider,
  idToken: string,
  { signal, nowMs }: { readonly signal: AbortSignal; readonly nowMs: number },
): Promise<JsonObject> {
  if (idToken === '') throw new ProviderError('The provider gave no id_token.')
  const { extra, clientId } = provider.options
  const jwksURL = provider.idToken?.jwksURL ?? textOf(extra?.['jwksURL'])
  const issuers = provider.idToken?.issuers ?? textsOf(extra?.['issuers'])
  try {
    const claims = decodeJwt(idToken)
    const wrong = wrongIn(claims, { clientId, issuers, nowSeconds: nowMs / 1000 })
    if (wrong !== undefined) throw new ProviderError(`The id_token is not valid: ${wrong}.`)
    if (jwksURL !== '') {
      const keys = (await ask(jwksURL, {}, signal)) as unknown as JSONWebKeySet
      await compactVerify(idToken, createLocalJWKSet(keys))
    }
    return claims as JsonObject
  } catch (error) {
    if (error instanceof errors.JOSEError) throw new ProviderError(`The id_token is not valid: ${error.message}.`)
    throw error
  }
}

interface Expected {
  readonly clientId: string
  /** The issuers that are taken; empty: any. */
  readonly issuers: readonly string[]
  readonly nowSeconds: number
}

function wrongIn(
  { aud, iss, exp, nbf, iat }: JWTPayload,
  { clientId, issuers, nowSeconds }: Expected,
): string | undefined {
  if (![aud ?? []].flat().includes(clientId)) return 'it is for another client'
  if (issuers.length > 0 && !issuers.includes(iss ?? '')) return `its issuer is ${String(iss)}`
  if (typeof exp !== 'number' || nowSeconds >= exp + LEEWAY_SECONDS) return 'it has expired'
  const begins = [nbf ?? 0, iat ?? 0]
  return begins.some((from) => typeof from !== 'number' || nowSeconds < from - LEEWAY_SECONDS)
    ? 'it is not valid yet'
    : undefined
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** A list of texts, or one text with blanks between them. */
function textsOf(value: unknown): readonly string[] {
  return (Array.isArray(value) ? value.map(textOf) : textOf(value).split(/\s+/)).filter((text) => text !== '')
}
