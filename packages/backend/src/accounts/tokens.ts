/**
 * JSON Web Tokens of records, in PocketBase's form. The key has two parts: the record's own, which changes with its password, and
 * the secret of its collection for this type of token.
 */
import { decodeJwt, errors, jwtVerify, SignJWT } from 'jose'

/** What a token says. A token has no time of issue: two of one second are equal. */
interface TokenClaims {
  /** What it is for: `auth`. */
  readonly type: string
  /** The id of the record. */
  readonly id: string
  /** The id of the definition of its collection. */
  readonly collectionId: string
  /** Seconds since 1970. */
  readonly exp: number
  /** Whether an `auth` token can be exchanged for one that is valid for longer. */
  readonly refreshable?: boolean
}

const ALGORITHM = 'HS256'

export function signToken(claims: TokenClaims, key: string): Promise<string> {
  const sorted = Object.entries(claims).sort(([one], [other]) => (one < other ? -1 : 1))
  return new SignJWT(Object.fromEntries(sorted))
    .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT' })
    .sign(Buffer.from(key))
}

/** What a token claims, without proof. Undefined for a text that is no token of a record. */
export function claimsIn(token: string): TokenClaims | undefined {
  try {
    const claims: Partial<TokenClaims> = decodeJwt(token)
    const { type, id, collectionId, exp } = claims
    const isWhole = [type, id, collectionId].every((one) => typeof one === 'string') && typeof exp === 'number'
    return isWhole ? (claims as TokenClaims) : undefined
  } catch (error) {
    if (error instanceof errors.JOSEError) return undefined
    throw error
  }
}

/** Whether the token was signed with this key, and has not expired. */
export async function isGenuine(token: string, key: string, nowMs: number): Promise<boolean> {
  try {
    await jwtVerify(token, Buffer.from(key), { algorithms: [ALGORITHM], currentDate: new Date(nowMs) })
    return true
  } catch (error) {
    if (error instanceof errors.JOSEError) return false
    throw error
  }
}
