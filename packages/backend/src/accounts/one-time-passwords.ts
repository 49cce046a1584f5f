/**
 * Logins by passwords that are valid once, for some minutes, and come by mail. An unknown address gets an id too, and nobody can
 * distinguish it from that of an account: it is a decoy.
 */
import type { Collection, Transaction } from 'pannier'
import type { Actor } from '../access/actor.ts'
import { recordsName } from '../definitions/definition.ts'
import type { AuthDefinition } from '../definitions/definition.ts'
import { LOWER, randomText } from '../gateway/chance.ts'
import { toText } from '../fields/cast.ts'
import { dateText, timeOfDateText } from '../fields/date-text.ts'
import type { JsonObject } from '../gateway/documents.ts'
import { errorText, LOG_LEVELS } from '../gateway/log-entry.ts'
import { forbidden, invalid, missing, ServiceError } from '../gateway/service-error.ts'
import type { MailOutcome } from '../mails/mails.ts'
import { Windows } from '../fleet/windows.ts'
import { otpMail } from './account-mails.ts'
import type { AccountsHost } from './accounts-host.ts'
import { DecoyPasswords } from './decoy-passwords.ts'
import { accountAt } from './find-account.ts'
import { checkForm, isRecordId, NAME_BYTES_MAX, readEmail, readTexts, textError } from './forms.ts'
import { unknownPassword } from './proofs.ts'
import type { Holder } from './tokens.ts'
import { ageMs } from '../gateway/seen-clock.ts'

/** A password that was made for somebody who gets no mail. */
export interface NewOneTimePassword {
  /** The id that the login names. */
  readonly otpId: string
  /** The password, in digits. */
  readonly password: string
  /** How long it is valid. */
  readonly seconds: number
}

const ID_CHARS = 15
const PASSWORD_BYTES_MAX = 71
/** With more that are valid, an account gets no other one. */
const OPEN_MAX = 9
/** For one account from one network address. */
const TRIES_MAX = 5
const TRIES_SECONDS = 180
const DIGITS = '0123456789'
/** Tries of one password, from everywhere. Then it is worth nothing. */
const WRONG_MAX = 10

export class OneTimePasswords {
  readonly #host: AccountsHost
  readonly #decoys: DecoyPasswords
  readonly #tries: Windows

  constructor(host: AccountsHost) {
    this.#host = host
    this.#decoys = new DecoyPasswords(OPEN_MAX, () => host.environment.now())
    this.#tries = new Windows(host.environment, 'one-time passwords', host.fleet)
  }

  /** Resolves with the id that the login takes. @throws ServiceError FORBIDDEN, INVALID with data, TOO_MANY_REQUESTS */
  async request(definition: AuthDefinition, input: JsonObject): Promise<string> {
    checkEnabled(definition)
    const account = await accountAt(this.#host, definition, readEmail(input))
    const { isMissing, address } = account
    const open = await this.#openOf(account)
    const ids = isMissing ? this.#decoys.openOf(definition, address) : open.map(({ _id }) => String(_id))
    if (ids.length > OPEN_MAX) return ids.at(-1)!
    const { password, document } = await this.#make(account)
    const id = document['_id'] as string
    const mail = { ...otpMail(this.#host, account, id, password), isDecoy: isMissing }
    await this.#host.mails.queue(mail, async (transaction: Transaction) => {
      if (!isMissing) await transaction.collection<JsonObject>(this.#collection).insert(document)
    })
    if (isMissing) this.#decoys.add(definition, address, id)
    return id
  }

  /** Makes one without a mail, for the operator to hand over. @throws ServiceError FORBIDDEN */
  async make(holder: Holder): Promise<NewOneTimePassword> {
    checkEnabled(holder.definition)
    const { password, document } = await this.#make(holder)
    await this.#otps.insert(document)
    return { otpId: document['_id'] as string, password, seconds: holder.definition.otp.duration }
  }

  /** Finds the account of a password, and uses the password up. @throws ServiceError FORBIDDEN, INVALID with data, TOO_MANY_REQUESTS */
  async verify({ principal }: Actor, definition: AuthDefinition, input: JsonObject): Promise<Holder> {
    checkEnabled(definition)
    const { otpId, password } = readTexts(input, ['otpId', 'password'])
    checkForm({
      otpId: textError(otpId, 1, NAME_BYTES_MAX),
      password: textError(password, 1, PASSWORD_BYTES_MAX),
    })
    const { otp, record } = await this.#find(definition, otpId)
    const account = record === undefined ? this.#decoys.addressOf(definition, otpId) : String(record['_id'])
    const { address = '' } = principal
    if (account !== undefined) this.#countTry(`${definition.id} ${account} ${address}`)
    // An invented one takes a hash, too.
    else this.#host.limiter.attempt(address, `${definition.id}:${otpId}`)
    if (otp === undefined || record === undefined) {
      await this.#host.passwords.waste(password)
      throw wrong()
    }
    if (!(await this.#host.passwords.verify(String(otp['password']), password))) {
      if (!this.#tries.take(otpId, WRONG_MAX, definition.otp.duration)) await this.#otps.delete(otpId)
      throw wrong()
    }
    // One of two logins at the same time gets it.
    if ((await this.#otps.delete(otpId)) === undefined) throw wrong()
    return { definition, record: await this.#verified(definition, record, toText(otp['sentTo'])) }
  }

  /** The account whose login a one-time password is for, while it is valid. */
  async accountOf(definition: AuthDefinition, otpId: string): Promise<JsonObject | undefined> {
    return (await this.#find(definition, otpId)).record
  }

  /** A password that nobody got is worth nothing. One that was sent proves its address. */
  async mailed(otpId: string, outcome: MailOutcome, to: string): Promise<void> {
    if (outcome === 'failed') await this.#otps.delete(otpId)
    if (outcome !== 'sent' || (await this.#otps.get(otpId)) === undefined) return
    await this.#otps
      .update(otpId, (old) => (old['sentTo'] === '' ? { ...old, sentTo: to } : old))
      .catch((error: unknown) => this.#log('The address of a one-time password is not stored.', error))
  }

  /** Deletes those that are no longer valid. */
  async deleteExpired(): Promise<void> {
    for await (const otp of this.#otps.find({})) {
      const definition = this.#host.definitions.find(String(otp['collectionRef']))
      if (definition?.type !== 'auth' || this.#isExpired(definition, otp)) await this.#otps.delete(otp._id)
    }
  }

  async #make({ definition, record }: Holder): Promise<{ readonly password: string; readonly document: JsonObject }> {
    const password = randomText(this.#host.environment, definition.otp.length, DIGITS)
    const created = dateText(this.#host.environment.wallClock())
    const document = {
      _id: randomText(this.#host.environment, ID_CHARS, LOWER),
      collectionRef: definition.id,
      recordRef: String(record['_id']),
      password: await this.#host.passwords.hash(password),
      sentTo: '',
      created,
      updated: created,
    }
    return { password, document }
  }

  async #find(
    definition: AuthDefinition,
    otpId: string,
  ): Promise<{ readonly otp?: JsonObject; readonly record?: JsonObject | undefined }> {
    const otp = isRecordId(otpId) ? await this.#otps.get(otpId) : undefined
    if (otp === undefined || otp['collectionRef'] !== definition.id || this.#isExpired(definition, otp)) return {}
    return { otp, record: await this.#host.definitions.records(definition).get(String(otp['recordRef'])) }
  }

  /** Passwords of an account that are still valid, the newest one last. */
  async #openOf({ definition, record }: Holder): Promise<readonly JsonObject[]> {
    const selector = { collectionRef: definition.id, recordRef: String(record['_id']) }
    const found = await this.#otps.find(selector).sort('$created').toArray()
    return found.filter((otp) => !this.#isExpired(definition, otp))
  }

  #isExpired({ otp }: AuthDefinition, { created }: JsonObject): boolean {
    return !(ageMs(this.#host.environment.wallClock(), timeOfDateText(String(created))) < otp.duration * 1000)
  }

  #countTry(key: string): void {
    if (this.#tries.take(key, TRIES_MAX, TRIES_SECONDS)) return
    throw new ServiceError('TOO_MANY_REQUESTS', 'Too many attempts, please try again later with a new OTP.')
  }

  /** Where this method is enough, nobody else keeps a password from before the address was proven. */
  async #verified(definition: AuthDefinition, record: JsonObject, sentTo: string): Promise<JsonObject> {
    if (record['verified'] === true || sentTo === '' || record['email'] !== sentTo) return record
    const password = definition.mfa.enabled ? {} : unknownPassword(this.#host.environment)
    try {
      return await this.#host.write(definition, record, { verified: true, ...password })
    } catch (error) {
      this.#log('A login by a one-time password has not verified the account.', error)
      const now = await this.#host.definitions.records(definition).get(String(record['_id']))
      if (now === undefined) throw missing('')
      return now
    }
  }

  get #collection(): string {
    return recordsName(this.#host.definitions.get('_otps'))
  }

  get #otps(): Collection<JsonObject> {
    return this.#host.database.collection<JsonObject>(this.#collection)
  }

  #log(message: string, error: unknown): void {
    this.#host.logs.write({ level: LOG_LEVELS.error, message, data: { error: errorText(error) } })
  }
}

function checkEnabled({ otp }: AuthDefinition): void {
  if (!otp.enabled) throw forbidden('The collection is not configured to allow OTP authentication.')
}

function wrong(): ServiceError {
  return invalid('Invalid or expired OTP')
}
