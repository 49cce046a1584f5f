/** The user of a provider: its answers, read by the paths of the table of providers. */
import type { EmailPaths } from '../../definitions/oauth2-providers.ts'
import { isEmail } from '../../fields/addresses.ts'
import type { JsonObject } from '../../gateway/documents.ts'
import { idTokenClaims } from './id-token.ts'
import type { Provider } from './provider.ts'
import { fetchEmail, fetchUser, ProviderError } from './provider-requests.ts'
import type { ProviderTokens } from './provider-requests.ts'
import { ownValue } from '../../fields/field-types.ts'

/** A user as a provider names it. Texts are empty where the provider tells nothing. */
export interface ExternalUser {
  readonly id: string
  readonly name: string
  readonly username: string
  readonly avatarURL: string
  /** The e-mail address, if the provider has verified it. */
  readonly email: string
  /** The whole answer of the provider. */
  readonly raw: JsonObject
}

/** @throws ProviderError, and what `fetch` throws */
export async function externalUser(
  provider: Provider,
  tokens: ProviderTokens,
  options: { readonly signal: AbortSignal; readonly nowMs: number },
): Promise<ExternalUser> {
  const told =
    provider.userInfoURL === ''
      ? await idTokenClaims(provider, tokens.idToken, options)
      : await fetchUser(provider, tokens, options.signal)
  const raw = { ...told }
  for (const name of provider.fromToken ?? []) raw[name] = ownValue(raw, name) ?? tokens.answer[name]
  const paths = provider.user
  const [activePath, active] = paths.active ?? []
  if (activePath !== undefined && valueAt(raw, activePath) !== active)
    throw new ProviderError('The account of the user is not active.')
  const id = textAt(raw, paths.id)
  if (id === '') throw new ProviderError('The provider did not say who the user is.')
  const username = textAt(raw, paths.username)
  return {
    id,
    name: textAt(raw, paths.name),
    username: paths.usernameIsAddress === true ? username.split('@', 1)[0]! : username,
    avatarURL: paths.avatarShown === undefined || saysYes(raw, paths.avatarShown) ? textAt(raw, paths.avatarURL) : '',
    email: await emailOf(provider, raw, tokens, options),
    raw,
  }
}

async function emailOf(
  provider: Provider,
  raw: JsonObject,
  tokens: ProviderTokens,
  options: { readonly signal: AbortSignal; readonly nowMs: number },
): Promise<string> {
  const { emails, user, idTokenEmail = {} } = provider
  const choice = textAt(provider.options.extra ?? {}, 'idTokenEmailClaim')
  if (Object.hasOwn(idTokenEmail, choice)) {
    if (tokens.idToken === '') return ''
    const claims = await idTokenClaims(provider, tokens.idToken, options)
    return idTokenEmail[choice]!.map((paths) => verifiedEmail(claims, paths)).find((email) => email !== '') ?? ''
  }
  const email = user.email === undefined ? '' : verifiedEmail(raw, { ...user, email: user.email })
  if (emails === undefined || (emails.isFallback === true && isEmail(email))) return email
  return fetchEmail(provider, tokens, options.signal)
}

function verifiedEmail(answer: JsonObject, { email, verified = [] }: EmailPaths): string {
  return verified.every((path) => saysYes(answer, path)) ? textAt(answer, email) : ''
}

/** Numbers become texts. */
function textAt(answer: JsonObject, text = ''): string {
  for (const one of text.split('|')) {
    const found = one.includes('{') ? filled(answer, one) : plain(valueAt(answer, one))
    if (found !== '') return found
  }
  return ''
}

/** A URL must have all of its parts. */
function filled(answer: JsonObject, template: string): string {
  let isWhole = true
  const text = template.replace(/\{([^}]+)\}/g, (_, path: string) => {
    const part = plain(valueAt(answer, path))
    isWhole &&= part !== ''
    return part
  })
  return isWhole || !template.startsWith('https:') ? text.trim() : ''
}

/** A number beyond the safe ones is that of several users. */
function plain(value: unknown): string {
  return typeof value === 'string' || Number.isSafeInteger(value) ? String(value) : ''
}

/** True, 1, a text that means it, or the time since when. */
function saysYes(answer: JsonObject, path: string): boolean {
  if (path.startsWith('!')) return !saysYes(answer, path.slice(1))
  const value = valueAt(answer, path)
  if (typeof value === 'string') return /^(?:1|t|true)$|^[1-9]\d{3}-\d\d-\d\dT/i.test(value)
  return value === true || value === 1
}

function valueAt(answer: unknown, path: string): unknown {
  let value = answer
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
    value = (value as JsonObject)[name]
  }
  return value
}
