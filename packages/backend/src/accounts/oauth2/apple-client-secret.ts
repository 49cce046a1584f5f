/** The secret that Apple wants of a client: a token that the client signs with a key that it has from Apple. */
import { importPKCS8, SignJWT } from 'jose'
import { BLANK, fieldError, NO_MATCH, outside } from '../../fields/field-errors.ts'
import type { JsonObject } from '../../gateway/documents.ts'
import type { Principal } from '../../gateway/principal.ts'
import { forbidden, invalid, ServiceError } from '../../gateway/service-error.ts'
import type { FieldError } from '../../gateway/service-error.ts'
import { checkForm, readTexts } from '../forms.ts'

const APPLE = 'https://appleid.apple.com'
const ALGORITHM = 'ES256'
/** The longest time of a secret, in seconds: some six months. */
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
  const { clientId, teamId, keyId, privateKey } = readTexts(input, ['clientId', 'teamId', 'keyId', 'privateKey'])
  const seconds = input['duration'] ?? 0
  if (typeof seconds !== 'number' || !Number.isSafeInteger(seconds))
    throw invalid('An error occurred while loading the submitted data.')
  checkForm(
    {
      clientId: clientId === '' ? BLANK : undefined,
      teamId: idError(teamId),
      keyId: idError(keyId),
      privateKey: privateKey === '' ? BLANK : PRIVATE_KEY.test(privateKey) ? undefined : NO_MATCH,
      duration: seconds === 0 ? BLANK : outside(seconds, 1, SECONDS_MAX),
    },
    'Invalid client secret data.',
  )
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
