/**
 * Credentials in `_users` documents: ours (`password_scheme: 'phc'`) and CouchDB's (`pbkdf2` and, before 1.3,
 * `simple`). The first login replaces CouchDB's. Until then they are as weak as they were there, but verifying them
 * costs what ours cost.
 */
import { createHash, pbkdf2, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import type { JsonObject, Passwords } from '@pannier/backend/internal'

/** Fields that only the server writes. */
export const CREDENTIAL_FIELDS: readonly string[] = [
  'password_scheme',
  'password_hash',
  'password_sha',
  'pbkdf2_prf',
  'iterations',
  'derived_key',
  'salt',
  'session_salt',
]

export const PASSWORD_SCHEME = 'phc'

/**
 * Iterations times blocks of the key. By default CouchDB has 10 (until 3.3) or 600,000, so a larger record is not
 * CouchDB's.
 */
const WORK_MAX = 2_000_000
/** With this much work a record costs about as much as one of ours. */
const WORK_ALIKE = 300_000
const deriveKey = promisify(pbkdf2)

interface Verified {
  readonly ok: boolean
  /** The record is to be replaced by a new one. */
  readonly isOutdated: boolean
}

export async function verifyCredentials(
  document: JsonObject,
  password: string,
  passwords: Passwords,
): Promise<Verified> {
  const { password_scheme: scheme, password_hash: record } = document
  if (scheme === PASSWORD_SCHEME && typeof record === 'string')
    return { ok: await passwords.verify(record, password), isOutdated: passwords.isOutdated(record) }
  const { ok, work } =
    scheme === 'pbkdf2'
      ? await verifyPbkdf2(document, password, passwords)
      : { ok: verifySimple(document, password), work: 0 }
  // Speed must not reveal a weak record. After a right password, making the new record takes the same time.
  if (!ok && work < WORK_ALIKE) await passwords.waste(password)
  return { ok, isOutdated: true }
}

/** The salt of the user's sessions. It changes with the password, which ends them. */
export function sessionSaltOf({ session_salt: own, salt, password_hash: record }: JsonObject): string {
  if (typeof own === 'string') return own
  return typeof salt === 'string' ? salt : String(record)
}

const NOT_VERIFIED = { ok: false, work: 0 }

async function verifyPbkdf2(
  document: JsonObject,
  password: string,
  passwords: Passwords,
): Promise<{ readonly ok: boolean; readonly work: number }> {
  const { derived_key: derived, salt, iterations, pbkdf2_prf: prf = 'sha' } = document
  if (typeof derived !== 'string' || typeof salt !== 'string' || typeof iterations !== 'number') return NOT_VERIFIED
  const digest = DIGESTS.get(prf)
  if (digest === undefined || !Number.isInteger(iterations) || iterations < 1) return NOT_VERIFIED
  const expected = Buffer.from(derived, 'hex')
  if (expected.length < 20 || expected.length > 64 || expected.length * 2 !== derived.length) return NOT_VERIFIED
  const work = iterations * Math.ceil(expected.length / digest.bytes)
  if (work > WORK_MAX) return NOT_VERIFIED
  const key = await passwords.queued(() => deriveKey(password, salt, iterations, expected.length, digest.name))
  return { ok: timingSafeEqual(key, expected), work }
}

const DIGESTS: ReadonlyMap<unknown, { readonly name: string; readonly bytes: number }> = new Map([
  ['sha', { name: 'sha1', bytes: 20 }],
  ['sha224', { name: 'sha224', bytes: 28 }],
  ['sha256', { name: 'sha256', bytes: 32 }],
  ['sha384', { name: 'sha384', bytes: 48 }],
  ['sha512', { name: 'sha512', bytes: 64 }],
])

function verifySimple({ password_sha: expected, salt }: JsonObject, password: string): boolean {
  if (typeof expected !== 'string' || typeof salt !== 'string' || !/^[0-9a-f]{40}$/.test(expected)) return false
  const actual = createHash('sha1')
    .update(password + salt)
    .digest()
  return timingSafeEqual(actual, Buffer.from(expected, 'hex'))
}
