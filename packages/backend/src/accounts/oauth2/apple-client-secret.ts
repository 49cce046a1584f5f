/** The secret that Apple wants of a client: a token that the client signs with a key that it has from Apple. */
import { importPKCS8, SignJWT } from 'jose'
import { BLANK, fieldError, INTEGER_MAX, NO_MATCH, outside } from '../../fields/field-errors.ts'
import type { JsonObject } from '../../gateway/documents.ts'
import type { Principal } from '../../gateway/principal.ts'
import { forbidden, ServiceError } from '../../gateway/service-error.ts'
import type { FieldError } from '../../gateway/service-error.ts'

const APPLE = 'https://appleid.apple.com'
const ALGORITHM = 'ES256'
/** Some six months. */
const SECONDS_MAX = 15_777_000
const ID_CHARS = 10
const PRIVATE_KEY = /-----BEGIN PRIVATE KEY----[\s\S]+-----END PRIVATE KEY-----/
const WRONG_LENGTH = fieldError('validation_length_invalid', 'The length must be exactly {max}.', {
  max: ID_CHARS,
  min: ID_CHARS,
})

/** `input`: `clientId`, `teamId`, `keyId`, `privateKey` (PEM), and `duration` in seconds. @throws ServiceError FORBIDDEN, INVALID with data */
export async function appleClientSecret({ isAdmin }: Principal, input: JsonObject, nowMs: number): Promise<string> {
  if (!isAdmin) throw forbidden('')
  const { duration = 0, ...others } = input
  const [clientId, teamId, keyId, privateKey] = ['clientId', 'teamId', 'keyId', 'privateKey'].map((name) => {
    const value = others[name] ?? ''
    if (typeof value !== 'string') throw unreadable()
    return value
  }) as [string, string, string, string]
  const seconds = duration ?? 0
  if (typeof seconds !== 'number' || !Number.isInteger(seconds) || Math.abs(seconds) > INTEGER_MAX) throw unreadable()
  checkForm({
    clientId: clientId === '' ? BLANK : undefined,
    teamId: idError(teamId),
    keyId: idError(keyId),
    privateKey: privateKey === '' ? BLANK : PRIVATE_KEY.test(privateKey) ? undefined : NO_MATCH,
    duration: seconds === 0 ? BLANK : outside(seconds, 1, SECONDS_MAX),
  })
  const issued = Math.floor(nowMs / 1000)
  const token = new SignJWT({ iss: teamId, sub: clientId, aud: [APPLE], exp: issued + seconds, iat: issued })
  try {
    const key = await importPKCS8(privateKey.trim(), ALGORITHM)
    return await token.setProtectedHeader({ alg: ALGORITHM, kid: keyId, typ: 'JWT' }).sign(key)
  } catch (error) {
    throw new ServiceError('INVALID', 'Failed to generate client secret.', { cause: error })
  }
}

function idError(id: string): FieldError | undefined {
  if (id === '') return BLANK
  return Buffer.byteLength(id) === ID_CHARS ? undefined : WRONG_LENGTH
}

function checkForm(found: Readonly<Record<string, FieldError | undefined>>): void {
  const wrong = Object.entries(found).filter((entry): entry is [string, FieldError] => entry[1] !== undefined)
  if (wrong.length === 0) return
  throw new ServiceError('INVALID', 'Invalid client secret data.', { data: Object.fromEntries(wrong) })
}

function unreadable(): ServiceError {
  return new ServiceError('INVALID', 'An error occurred while loading the submitted data.')
}
