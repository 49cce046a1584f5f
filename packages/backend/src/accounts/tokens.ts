/**
 * JSON Web Tokens of records, in PocketBase's form. The key has two parts: the record's own, which changes with its password, and
 * the secret of its collection for this type of token.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { decodeJwt, errors } from 'jose'
import type { AuthDefinition, TokenOptions } from '../definitions/definition.ts'
import type { Definitions } from '../definitions/definitions.ts'
import { SUPERUSERS } from '../definitions/system-collections.ts'
import type { JsonObject } from '../gateway/documents.ts'
import type { Principal } from '../gateway/principal.ts'

/** Where a definition says how long tokens of a type are valid. */
const OPTIONS = {
  auth: 'authToken',
  file: 'fileToken',
  verification: 'verificationToken',
  passwordReset: 'passwordResetToken',
  emailChange: 'emailChangeToken',
} as const

export type TokenType = keyof typeof OPTIONS

/** Further claims of some tokens. */
interface MoreClaims {
  /** Whether an `auth` token can be exchanged for one that is valid for longer. */
  readonly refreshable?: boolean
  /** The id of the session, of `auth` and `file` tokens. */
  readonly sid?: string
  /** The e-mail address that a mail was sent to, or the one that is to be replaced. */
  readonly email?: string
  readonly newEmail?: string
}

/** The claims of a token. It has no time of issue: two of one session and one second are equal. */
interface TokenClaims extends MoreClaims {
  readonly type: string
  /** The id of the record. */
  readonly id: string
  /** The id of the definition of its collection. */
  readonly collectionId: string
  /** When the token expires (`exp`), in seconds since 1970. */
  readonly exp: number
}

interface NewToken extends MoreClaims {
  readonly nowMs: number
  /** Seconds; 0: as long as the definition says. */
  readonly duration?: number
}

/** A record, and the auth collection that has it. */
export interface Holder {
  readonly definition: AuthDefinition
  readonly record: JsonObject
}

/** Header of every token. Another one is refused, and with it another algorithm. */
const HEADER = Buffer.from('{"alg":"HS256","typ":"JWT"}').toString('base64url')

export function newToken(
  type: TokenType,
  { definition, record }: Holder,
  { nowMs, duration = 0, ...more }: NewToken,
): string {
  const exp = Math.floor(nowMs / 1000) + (duration || tokenSeconds(definition, type))
  const claims: TokenClaims = { ...more, type, id: String(record['_id']), collectionId: definition.id, exp }
  const sorted = Object.entries(claims).sort(([one], [other]) => (one < other ? -1 : 1))
  const payload = Buffer.from(JSON.stringify(Object.fromEntries(sorted))).toString('base64url')
  const signed = `${HEADER}.${payload}`
  return `${signed}.${signatureOf(signed, keyOf(definition, record, type))}`
}

/** The claims of a token, without proof. Undefined for a text that is no token of a record. */
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

/** The account of a valid token of this type. */
export async function holderOf(
  definitions: Definitions,
  type: TokenType,
  token: string,
  nowMs: number,
): Promise<Holder | undefined> {
  const claims = claimsIn(token)
  if (claims?.type !== type) return undefined
  const definition = definitions.find(claims.collectionId)
  if (definition?.type !== 'auth' || definition.id !== claims.collectionId) return undefined
  const record = await definitions.records(definition).get(claims.id)
  const isGood = record !== undefined && claims.exp > Math.floor(nowMs / 1000)
  if (!isGood || !isGenuine(token, keyOf(definition, record, type))) return undefined
  return { definition, record }
}

/** The principal of a record that has shown its token. */
export function principalOf({ definition, record }: Holder, session?: string): Principal {
  const isAdmin = definition.name === SUPERUSERS
  return {
    name: isAdmin ? String(record['email']) : accountName(definition, String(record['_id'])),
    roles: isAdmin ? ['_admin'] : [],
    isAdmin,
    by: 'token',
    account: { collection: definition.id, record },
    ...(session !== undefined && { session }),
  }
}

/** No user of CouchDB's door can have a name with a colon. */
export function accountName({ name }: AuthDefinition, id: string): string {
  return `${name}:${id}`
}

/** How long tokens of a type are valid. */
export function tokenSeconds(definition: AuthDefinition, type: TokenType): number {
  return optionsOf(definition, type).duration
}

function optionsOf(definition: AuthDefinition, type: TokenType): TokenOptions {
  return definition[OPTIONS[type]]
}

/** The key that signs the tokens of a record. As text: Node takes 1.6 µs for an HMAC then, and 8.9 for a key in bytes. */
function keyOf(definition: AuthDefinition, record: JsonObject, type: TokenType): string {
  return `${String(record['tokenKey'])}${optionsOf(definition, type).secret}`
}

/** HMAC with SHA-256 (RFC 7515, A.1), by Node: jose asks WebCrypto, whose thread and promises cost ten times as much. */
function signatureOf(signed: string, key: string): string {
  return createHmac('sha256', key).update(signed).digest('base64url')
}

/** Whether the token was signed with this key. Texts are compared, so that a signature has one spelling. */
function isGenuine(token: string, key: string): boolean {
  const end = token.lastIndexOf('.')
  const given = Buffer.from(token.slice(end + 1))
  const expected = Buffer.from(signatureOf(token.slice(0, end), key))
  return token.startsWith(`${HEADER}.`) && given.length === expected.length && timingSafeEqual(given, expected)
}
