/**
 * Passkeys: keys of WebAuthn on devices of accounts, which log in without a password. docs/internals/passkeys.md is the contract.
 */
import { isObject } from 'pannier/internal'
import { createHash } from 'node:crypto'
import { isPannierError } from 'pannier'
import type { Collection } from 'pannier'
import type * as WebAuthn from '@simplewebauthn/server'
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server'
import type { AuthDefinition } from '../definitions/definition.ts'
import { PASSKEYS_COLLECTION } from '../definitions/system-collections.ts'
import { toText } from '../fields/cast.ts'
import { dateText } from '../fields/date-text.ts'
import type { JsonObject } from '../gateway/documents.ts'
import type { Account } from '../gateway/principal.ts'
import { forbidden, invalid, missing, ServiceError } from '../gateway/service-error.ts'
import type { AccountsHost } from './accounts-host.ts'
import { Challenges } from './challenges.ts'
import { findAccount } from './find-account.ts'
import { checkForm, isRecordId, readTexts, textError } from './forms.ts'
import type { Holder } from './tokens.ts'

/** A passkey, as its account sees it. */
export interface PasskeyInfo {
  readonly id: string
  readonly name: string
  /** Whether other devices of the person may have it. */
  readonly synced: boolean
  /** Dates as records have them; empty: never. */
  readonly created: string
  readonly used: string
}

interface StoredPasskey {
  readonly _id: string
  readonly name: string
  /** The definition and the record of the account. */
  readonly collectionRef: string
  readonly recordRef: string
  readonly credential: string
  readonly publicKey: string
  /** How often it was used, if its device counts. */
  readonly counter: number
  readonly transports: readonly string[]
  readonly isSynced: boolean
  /** When it was created, in milliseconds since 1970; 0: never. */
  readonly createdMs: number
  readonly usedMs: number
}

/** The site that browsers bind keys to. */
interface Site {
  readonly rpID: string
  readonly origin: string
}

const PASSKEYS_MAX = 20
const NAME_BYTES_MAX = 100
/** Somebody who has got hold of a token for a moment gets no way in that lasts. */
const LOGIN_AGE_MS_MAX: number = 10 * 60 * 1000
const ID_CHARS = 30
/** The algorithms EdDSA, ES256 and RS256, in COSE's numbers. */
const ALGORITHMS: readonly number[] = [-8, -7, -257]

export class Passkeys {
  readonly #host: AccountsHost
  readonly #challenges: Challenges
  readonly #stored: Collection<StoredPasskey>

  constructor(host: AccountsHost) {
    this.#host = host
    this.#challenges = new Challenges(host.environment, host.fleet)
    this.#stored = host.database.collection<StoredPasskey>(PASSKEYS_COLLECTION)
  }

  /**
   * The options with which a browser makes a passkey. `loginAgeMs`: how long ago the account has logged in. @throws ServiceError
   * FORBIDDEN
   */
  async registrationOptions(
    { definition, record }: Holder,
    loginAgeMs: number,
  ): Promise<PublicKeyCredentialCreationOptionsJSON> {
    checkRegistration(definition, loginAgeMs)
    const { generateRegistrationOptions } = await webAuthn()
    const known = await this.#of({ collection: definition.id, record })
    const email = toText(record['email'])
    return generateRegistrationOptions({
      rpName: this.#host.settings.values.meta.appName,
      rpID: this.#place().rpID,
      userName: email === '' ? String(record['_id']) : email,
      userID: userIdOf(definition, record),
      challenge: await this.#challenges.make(registrationOf(definition, record)),
      timeout: this.#challenges.validMs,
      attestationType: 'none',
      excludeCredentials: known.map(({ credential, transports }) => ({ id: credential, transports: [...transports] })),
      supportedAlgorithmIDs: [...ALGORITHMS],
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    })
  }

  /** `loginAgeMs`: how long ago the account has logged in. @throws ServiceError FORBIDDEN, INVALID with data */
  async register({ definition, record }: Holder, input: JsonObject, loginAgeMs: number): Promise<PasskeyInfo> {
    checkRegistration(definition, loginAgeMs)
    const { name } = readTexts(input, ['name'])
    checkForm({ name: textError(name, 1, NAME_BYTES_MAX) })
    const { verifyRegistrationResponse } = await webAuthn()
    const about = registrationOf(definition, record)
    const { origin: expectedOrigin, rpID: expectedRPID } = this.#place()
    const expected = { expectedOrigin, expectedRPID, supportedAlgorithmIDs: [...ALGORITHMS] }
    const response = responseIn(input) as unknown as RegistrationResponseJSON
    const [challenge, verified] = await this.#verifying(
      about,
      'The passkey can not be registered.',
      (expectedChallenge) => verifyRegistrationResponse({ response, expectedChallenge, ...expected }),
    )
    if (!verified.verified || !(await this.#challenges.use(challenge)))
      throw invalid('The passkey can not be registered.')
    const account = { collection: definition.id, record }
    if ((await this.#of(account)).length >= PASSKEYS_MAX)
      throw invalid(`An account has at most ${PASSKEYS_MAX} passkeys.`)
    const { credential, credentialBackedUp: isSynced } = verified.registrationInfo
    const stored: StoredPasskey = {
      _id: idOf(definition, credential.id),
      name,
      collectionRef: definition.id,
      recordRef: String(record['_id']),
      credential: credential.id,
      publicKey: Buffer.from(credential.publicKey).toString('base64url'),
      counter: credential.counter,
      transports: credential.transports ?? [],
      isSynced,
      createdMs: this.#host.environment.wallClock(),
      usedMs: 0,
    }
    await this.#stored.insert(stored).catch((error: unknown) => {
      throw isPannierError(error, 'PANNIER_CONFLICT') ? invalid('The passkey is registered already.') : error
    })
    return present(stored)
  }

  /** Passkeys of an account, the newest one first. */
  async list(account: Account): Promise<readonly PasskeyInfo[]> {
    const stored = await this.#of(account)
    return [...stored].sort((one, other) => other.createdMs - one.createdMs).map(present)
  }

  /** @throws ServiceError INVALID with data, NOT_FOUND */
  async rename(account: Account, id: string, input: JsonObject): Promise<PasskeyInfo> {
    const { name } = readTexts(input, ['name'])
    checkForm({ name: textError(name, 1, NAME_BYTES_MAX) })
    await this.#get(account, id)
    const renamed = await this.#update(id, (old) => ({ ...old, name }))
    if (renamed === undefined) throw missing('')
    return present(renamed)
  }

  /** @throws ServiceError NOT_FOUND */
  async delete(account: Account, id: string): Promise<void> {
    await this.#get(account, id)
    await this.#stored.delete(id)
  }

  /** The options with which a browser asks for a passkey: the same for all accounts, as they name none. @throws ServiceError FORBIDDEN */
  async loginOptions(definition: AuthDefinition): Promise<PublicKeyCredentialRequestOptionsJSON> {
    checkEnabled(definition)
    const { generateAuthenticationOptions } = await webAuthn()
    return generateAuthenticationOptions({
      rpID: this.#place().rpID,
      challenge: await this.#challenges.make(loginOf(definition)),
      timeout: this.#challenges.validMs,
      userVerification: 'required',
    })
  }

  /** The account of a passkey. `identity` of the input: it must be this account. @throws ServiceError FORBIDDEN, INVALID */
  async verify(definition: AuthDefinition, input: JsonObject): Promise<Holder> {
    checkEnabled(definition)
    const { identity } = readTexts(input, ['identity'])
    const response = responseIn(input) as unknown as AuthenticationResponseJSON
    const stored = await this.#stored.get(idOf(definition, String(response.id)))
    const records = this.#host.definitions.records(definition)
    const record = stored?.collectionRef === definition.id ? await records.get(stored.recordRef) : undefined
    if (stored === undefined || record === undefined) throw failed()
    const { verifyAuthenticationResponse } = await webAuthn()
    const { origin, rpID } = this.#place()
    const credential = {
      id: stored.credential,
      publicKey: new Uint8Array(Buffer.from(stored.publicKey, 'base64url')),
      counter: stored.counter,
    }
    const expected = { expectedOrigin: origin, expectedRPID: rpID, credential }
    const [challenge, { verified, authenticationInfo }] = await this.#verifying(
      loginOf(definition),
      'Failed to authenticate.',
      (expectedChallenge) => verifyAuthenticationResponse({ response, expectedChallenge, ...expected }),
    )
    const userId = Buffer.from(userIdOf(definition, record)).toString('base64url')
    if (!verified || response.response.userHandle !== userId) throw failed()
    if (identity !== '' && !(await this.#isNamed(definition, record, identity))) throw failed()
    if (!(await this.#challenges.use(challenge))) throw failed()
    await this.#noteUse(stored._id, authenticationInfo.newCounter, authenticationInfo.credentialBackedUp)
    return { definition, record }
  }

  /** Also the challenge that was answered. @throws ServiceError INVALID for all that the library refuses */
  async #verifying<T>(
    about: string,
    message: string,
    verify: (isExpected: (challenge: string) => Promise<boolean>) => Promise<T>,
  ): Promise<readonly [challenge: string, verified: T]> {
    let answered = ''
    try {
      const verified = await verify((challenge) => {
        answered = challenge
        return this.#challenges.isOpen(challenge, about)
      })
      return [answered, verified]
    } catch (error) {
      throw new ServiceError('INVALID', message, { cause: error })
    }
  }

  /** Two logins with one count were made by a key and a copy of it. */
  async #noteUse(id: string, counter: number, isSynced: boolean): Promise<void> {
    let isCopy = false
    const changed = await this.#update(id, (old) => {
      isCopy = (counter > 0 || old.counter > 0) && counter <= old.counter
      return isCopy ? old : { ...old, counter, isSynced, usedMs: this.#host.environment.wallClock() }
    })
    if (isCopy || changed === undefined) throw failed()
  }

  async #isNamed(definition: AuthDefinition, record: JsonObject, identity: string): Promise<boolean> {
    for (const field of definition.passwordAuth.identityFields) {
      const found = await findAccount(this.#host.definitions, definition, field, identity)
      if (found !== undefined) return found['_id'] === record['_id']
    }
    return false
  }

  /** @throws ServiceError NOT_FOUND */
  async #get({ collection, record }: Account, id: string): Promise<StoredPasskey> {
    const stored = isRecordId(id) ? await this.#stored.get(id) : undefined
    if (stored?.collectionRef !== collection || stored.recordRef !== record['_id']) throw missing('')
    return stored
  }

  #of({ collection, record }: Account): Promise<readonly StoredPasskey[]> {
    return this.#stored.find({ collectionRef: collection, recordRef: String(record['_id']) }).toArray()
  }

  /** Undefined: it was deleted meanwhile. */
  async #update(id: string, change: (old: StoredPasskey) => StoredPasskey): Promise<StoredPasskey | undefined> {
    let changed: StoredPasskey | undefined
    try {
      await this.#stored.update(id, (old) => (changed = change(old)))
      return changed
    } catch (error) {
      if (isPannierError(error, 'PANNIER_NOT_FOUND')) return undefined
      throw error
    }
  }

  /** Where the pages of the application are. @throws ServiceError UNSUPPORTED */
  #place(): Site {
    const { appURL } = this.#host.settings.values.meta
    const url = URL.parse(appURL)
    if (url === null || url.hostname === '')
      throw new ServiceError(
        'UNSUPPORTED',
        `Passkeys take a URL of the application: set meta.appURL, which is '${appURL}'.`,
      )
    return { rpID: url.hostname, origin: url.origin }
  }
}

/** The package of web authentication: most servers never need it. */
function webAuthn(): Promise<typeof WebAuthn> {
  return import('@simplewebauthn/server')
}

/** @throws ServiceError FORBIDDEN */
function checkRegistration(definition: AuthDefinition, loginAgeMs: number): void {
  checkEnabled(definition)
  if (!(loginAgeMs <= LOGIN_AGE_MS_MAX))
    throw forbidden('Log in again: a passkey takes a login of the last ten minutes.')
}

function checkEnabled({ passkey }: AuthDefinition): void {
  if (passkey?.enabled !== true) throw forbidden('The collection is not configured to allow passkey authentication.')
}

/** The browser's answer. @throws ServiceError INVALID */
function responseIn({ response }: JsonObject): JsonObject {
  if (!isObject(response) || typeof response['id'] !== 'string' || !isObject(response['response']))
    throw invalid('An error occurred while loading the submitted data.')
  return response
}

function registrationOf({ id }: AuthDefinition, record: JsonObject): string {
  return `register ${id} ${String(record['_id'])}`
}

function loginOf({ id }: AuthDefinition): string {
  return `login ${id}`
}

/** A device shows it to nobody, and it says nothing about the account. */
function userIdOf({ id }: AuthDefinition, record: JsonObject): Uint8Array<ArrayBuffer> {
  return new Uint8Array(
    createHash('sha256')
      .update(`${id}/${String(record['_id'])}`)
      .digest(),
  )
}

function idOf({ id }: AuthDefinition, credential: string): string {
  return createHash('sha256').update(`${id} ${credential}`).digest('hex').slice(0, ID_CHARS)
}

function present({ _id, name, isSynced, createdMs, usedMs }: StoredPasskey): PasskeyInfo {
  const used = usedMs === 0 ? '' : dateText(usedMs)
  return { id: _id, name, synced: isSynced, created: dateText(createdMs), used }
}

function failed(): ServiceError {
  return invalid('Failed to authenticate.')
}
