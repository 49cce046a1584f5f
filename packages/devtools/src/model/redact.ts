/** Secrets that must not be in plain sight: on a screen that is shared, or in a picture of it. */

const SECRET = /^(access_?token|api_?key|assertion|auth|code|key|otp|pass(word)?|secret|sig(nature)?|token)$/i
const HIDDEN = '•••'

/** A URL without its origin, its user and its secrets. Of another origin than `own`: with the origin. */
export function shownUrl(url: string, own: string): string {
  let parsed: URL
  try {
    parsed = new URL(url, own)
  } catch {
    return HIDDEN
  }
  for (const name of parsed.searchParams.keys()) if (SECRET.test(name)) parsed.searchParams.set(name, HIDDEN)
  const origin = URL.canParse(own) && new URL(own).origin === parsed.origin ? '' : parsed.origin
  return `${origin}${parsed.pathname}${decoded(parsed.search)}`
}

function decoded(search: string): string {
  try {
    return decodeURIComponent(search)
  } catch {
    return search
  }
}

/** The facts of a token: never the token. */
export interface TokenFacts {
  readonly collection: string | undefined
  /** Milliseconds since 1970; undefined: the token does not say. */
  readonly expires: number | undefined
  readonly length: number
}

/** The facts of a JSON Web Token. */
export function tokenFacts(token: string): TokenFacts {
  const claims = claimsOf(token)
  const { exp, collectionName, collectionId } = claims
  return {
    collection: textOf(collectionName) ?? textOf(collectionId),
    expires: typeof exp === 'number' ? exp * 1000 : undefined,
    length: token.length,
  }
}

function claimsOf(token: string): Readonly<Record<string, unknown>> {
  try {
    const text = (token.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/')
    return JSON.parse(atob(text)) as Readonly<Record<string, unknown>>
  } catch {
    return {}
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
