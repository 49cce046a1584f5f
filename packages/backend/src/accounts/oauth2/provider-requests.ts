/**
 * Requests of the server to a provider: tokens for a code, and answers about the user. URLs come from superusers, so they may lead
 * anywhere. Answers are read up to a limit, and the caller's signal ends everything.
 */
import { isObject } from 'pannier/internal'
import type { JsonObject } from '../../gateway/documents.ts'
import type { ProviderOptions } from '../../definitions/definition.ts'
import type { Provider } from './provider.ts'

/** The code that a client brings back from a provider. */
export interface ProviderCode {
  readonly code: string
  readonly codeVerifier: string
  readonly redirectURL: string
}

/** The tokens that a provider gives for a code. */
export interface ProviderTokens {
  readonly accessToken: string
  readonly refreshToken: string
  /** Empty if the provider gives no such token. */
  readonly idToken: string
  /** When the token expires, in milliseconds since 1970. Undefined: not said. */
  readonly expiresMs: number | undefined
  /** `Bearer TOKEN` */
  readonly authorization: string
  /** The whole answer. */
  readonly answer: JsonObject
}

/** A provider that answers with something else than what was asked for. */
export class ProviderError extends Error {}

const ANSWER_BYTES_MAX: number = 1024 * 1024
const JSON_TYPE = 'application/json'

/** Where a provider wants the secret of the client. */
type SecretPlace = 'header' | 'body'

/** The place of the secret in requests to each provider, found by trying. Forgotten when the definition changes. */
const secretPlaces = new WeakMap<ProviderOptions, SecretPlace>()

/** Exchanges a code. @throws ProviderError, and what `fetch` throws */
export async function fetchTokens(
  provider: Provider,
  code: ProviderCode,
  { signal, nowMs }: { readonly signal: AbortSignal; readonly nowMs: number },
): Promise<ProviderTokens> {
  const { options } = provider
  const known = secretPlaces.get(options)
  let failure: unknown
  // The standard asks for the header. Some providers read the body only, and none spends a code on a client that it does not know.
  for (const place of known === undefined ? (['header', 'body'] as const) : [known]) {
    try {
      const answer = await ask(provider.tokenURL, tokenRequest(provider, code, place), signal)
      const tokens = tokensIn(answer, nowMs)
      secretPlaces.set(options, place)
      return tokens
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error
      failure ??= error
    }
  }
  throw failure
}

function tokenRequest(
  { pkce, options: { clientId, clientSecret } }: Provider,
  { code, codeVerifier, redirectURL }: ProviderCode,
  place: SecretPlace,
): RequestInit {
  const body = new URLSearchParams({ grant_type: 'authorization_code', code })
  if (redirectURL !== '') body.set('redirect_uri', redirectURL)
  if (pkce) body.set('code_verifier', codeVerifier)
  const headers: Record<string, string> = {}
  if (place === 'header') {
    const both = [clientId, clientSecret].map((text) => encodeURIComponent(text)).join(':')
    headers['authorization'] = `Basic ${Buffer.from(both).toString('base64')}`
  } else {
    body.set('client_id', clientId)
    body.set('client_secret', clientSecret)
  }
  // No code goes to where a redirect leads.
  return { method: 'POST', body, headers, redirect: 'error' }
}

/** @throws ProviderError */
function tokensIn(answer: JsonObject, nowMs: number): ProviderTokens {
  const text = (name: string): string => (typeof answer[name] === 'string' ? answer[name] : '')
  const accessToken = text('access_token')
  const wrong = text('error_description') || text('error')
  if (accessToken === '' || wrong !== '')
    throw new ProviderError(`The provider gave no access token: ${wrong || 'access_token is missing.'}`)
  const seconds = Number(answer['expires_in'] ?? 0)
  const type = text('token_type')
  return {
    accessToken,
    refreshToken: text('refresh_token'),
    idToken: text('id_token'),
    expiresMs: Number.isSafeInteger(seconds) && seconds > 0 ? nowMs + seconds * 1000 : undefined,
    authorization: `${type === '' || /^bearer$/i.test(type) ? 'Bearer' : type} ${accessToken}`,
    answer,
  }
}

/** The answer of a provider's own URL about the user. @throws ProviderError, and errors of `fetch` */
export async function fetchUser(provider: Provider, tokens: ProviderTokens, signal: AbortSignal): Promise<JsonObject> {
  const { headers: wanted = {}, query } = provider.userRequest ?? {}
  const headers: Record<string, string> = { authorization: tokens.authorization }
  for (const [name, value] of Object.entries(wanted))
    headers[name] = value.replace('{clientId}', provider.options.clientId)
  const request: RequestInit =
    query === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify({ query }) }
  if (query !== undefined) headers['content-type'] = JSON_TYPE
  return ask(provider.userInfoURL, request, signal)
}

/** The address of the user that the provider has verified; empty if it tells none. @throws as `fetchUser` */
export async function fetchEmail(provider: Provider, tokens: ProviderTokens, signal: AbortSignal): Promise<string> {
  const { url, list, where } = provider.emails!
  const absolute = url.startsWith('/') ? provider.userInfoURL + url : url
  const response = await send(absolute, { headers: { authorization: tokens.authorization } }, signal)
  // The user may have kept the addresses back.
  if ([401, 403, 404].includes(response.status)) {
    await response.body?.cancel()
    return ''
  }
  const answer = await answerOf(absolute, response)
  const all = isObject(answer) ? answer[list] : answer
  for (const entry of Array.isArray(all) ? all : []) {
    if (!isObject(entry)) continue
    const isMeant = Object.entries(where).every(([name, value]) => [entry[name]].flat().includes(value))
    if (isMeant && typeof entry['email'] === 'string') return entry['email']
  }
  return ''
}

/** A GET unless `request` says otherwise. @throws ProviderError, and what `fetch` throws */
export async function ask(url: string, request: RequestInit, signal: AbortSignal): Promise<JsonObject> {
  const answer = await answerOf(url, await send(url, request, signal))
  if (!isObject(answer)) throw new ProviderError(`${originOf(url)} answered with something else than an object.`)
  return answer
}

function send(url: string, request: RequestInit, signal: AbortSignal): Promise<Response> {
  if (!/^https?:\/\//i.test(url))
    throw new ProviderError('The provider has no URL for this: the collection must say one.')
  return fetch(url, { ...request, headers: { accept: JSON_TYPE, ...(request.headers as object) }, signal })
}

/** JSON, or a form as some providers of old send it. @throws ProviderError */
async function answerOf(url: string, response: Response): Promise<unknown> {
  const text = await textOf(url, response)
  const answer = parsed(text)
  if (response.ok) return answer
  const said = isObject(answer) ? (answer['error_description'] ?? answer['error']) : undefined
  const reason = typeof said === 'string' ? `: ${said}` : ''
  throw new ProviderError(`${originOf(url)} answered with ${response.status}${reason}.`)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return Object.fromEntries(new URLSearchParams(text))
  }
}

async function textOf(url: string, { body }: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body ?? []) {
    bytes += chunk.length
    if (bytes > ANSWER_BYTES_MAX) throw new ProviderError(`${originOf(url)} answered with more than 1 MiB.`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

/** Paths may have secrets. */
function originOf(url: string): string {
  return new URL(url).origin
}
