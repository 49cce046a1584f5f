/**
 * The `AuthSession` cookie: name, id of the session, time of issue, and their HMAC-SHA-256. The key combines the
 * server's signing key and the user's salt. The salt changes with the password, which makes older cookies invalid.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Environment } from 'pannier/types'

const COOKIE_NAME = 'AuthSession'
const COOKIE_CHARS_MAX = 2048

interface SessionToken {
  readonly name: string
  /** The id of 128 random bits; a renewed cookie keeps it. */
  readonly id: string
  readonly issuedMs: number
}

/** A token with a claimed name. Use nothing of it before `isGenuine`. */
interface ClaimedToken extends SessionToken {
  readonly payload: string
  readonly signature: Buffer
}

interface CookieOptions {
  readonly maxAgeSeconds: number
  readonly isSecure: boolean
  readonly sameSite: 'Strict' | 'Lax' | 'None'
}

export function newSessionId(environment: Environment): string {
  return Buffer.from(environment.randomBytes(16)).toString('base64url')
}

export function encodeToken({ name, id, issuedMs }: SessionToken, signingKey: Buffer, salt: string): string {
  const payload = Buffer.from(JSON.stringify([name, id, issuedMs])).toString('base64url')
  return `${payload}.${sign(payload, signingKey, salt).toString('base64url')}`
}

/** Undefined for what is no cookie of ours. */
export function decodeToken(cookie: string): ClaimedToken | undefined {
  const match = cookie.length > COOKIE_CHARS_MAX ? null : /^([\w-]+)\.([\w-]{42}[AEIMQUYcgkosw048])$/.exec(cookie)
  if (match === null) return undefined
  const [, payload, signature] = match
  try {
    const parts: unknown = JSON.parse(Buffer.from(payload!, 'base64url').toString())
    if (!Array.isArray(parts) || parts.length !== 3) return undefined
    const [name, id, issuedMs] = parts as unknown[]
    if (typeof name !== 'string' || typeof id !== 'string' || typeof issuedMs !== 'number') return undefined
    return { name, id, issuedMs, payload: payload!, signature: Buffer.from(signature!, 'base64url') }
  } catch {
    return undefined
  }
}

export function isGenuine({ payload, signature }: ClaimedToken, signingKey: Buffer, salt: string): boolean {
  return timingSafeEqual(signature, sign(payload, signingKey, salt))
}

/** The value of the cookie in a `Cookie` header; undefined for no cookie, or for more than one (whose would it be?). */
export function readCookie(header: string | undefined): string | undefined {
  if (header === undefined) return undefined
  const found = header.split(';').flatMap((part) => {
    const at = part.indexOf('=')
    return part.slice(0, at).trim() === COOKIE_NAME ? [part.slice(at + 1).trim()] : []
  })
  return found.length === 1 && found[0] !== '' ? found[0] : undefined
}

export function setCookieHeader(value: string, { maxAgeSeconds, isSecure, sameSite }: CookieOptions): string {
  const expiry = value === '' ? '; Expires=Thu, 01 Jan 1970 00:00:00 GMT' : ''
  return `${COOKIE_NAME}=${value}; Path=/; HttpOnly; SameSite=${sameSite}; Max-Age=${maxAgeSeconds}${expiry}${isSecure ? '; Secure' : ''}`
}

function sign(payload: string, signingKey: Buffer, salt: string): Buffer {
  const key = createHmac('sha256', signingKey).update(salt).digest()
  return createHmac('sha256', key).update(payload).digest()
}
