/** Another e-mail address of an account: a mail to the new one with a token, and the token that comes back with the password. */
import type { Actor } from '../access/actor.ts'
import type { AuthDefinition } from '../definitions/definition.ts'
import { SUPERUSERS } from '../definitions/system-collections.ts'
import { toText } from '../fields/cast.ts'
import { fieldError, LISTED } from '../fields/field-errors.ts'
import type { JsonObject } from '../gateway/documents.ts'
import { invalid } from '../gateway/service-error.ts'
import type { FieldError } from '../gateway/service-error.ts'
import { Windows } from '../fleet/windows.ts'
import { emailChangeMail } from './account-mails.ts'
import type { AccountsHost } from './accounts-host.ts'
import { findAccount } from './find-account.ts'
import { checkForm, emailError, readTexts, textError } from './forms.ts'
import { tokenError, whileCurrent, withMessage } from './proofs.ts'
import { claimsIn, holderOf } from './tokens.ts'
import type { Holder } from './tokens.ts'

const TAKEN = fieldError('validation_invalid_new_email', 'Invalid new email address.')
const NO_NEW_EMAIL = fieldError('validation_invalid_token_payload', 'Invalid token payload - newEmail must be set.')
const TAKEN_SINCE = fieldError('validation_invalid_token_email', 'The new email address is invalid.')
const WRONG_PASSWORD = fieldError('validation_invalid_password', 'Missing or invalid auth record password.')

/** An account may write to that many addresses in this time. */
const MAILS_MAX = 5
const WINDOW_SECONDS = 120
const PASSWORD_BYTES_MAX = 100

export class EmailChange {
  readonly #host: AccountsHost
  readonly #windows: Windows

  constructor(host: AccountsHost) {
    this.#host = host
    this.#windows = new Windows(host.environment, 'changes of e-mail addresses', host.fleet)
  }

  /** `holder`: the account that asks. @throws ServiceError INVALID with data */
  async request(holder: Holder, input: JsonObject): Promise<void> {
    const { definition, record } = holder
    checkNoSuperusers(definition)
    const { newEmail } = readTexts(input, ['newEmail'])
    checkForm({
      newEmail: emailError(newEmail) ?? (newEmail === record['email'] ? LISTED : await this.#takenBy(holder, newEmail)),
    })
    const id = `${definition.id} ${String(record['_id'])}`
    // The same mail is not sent twice, and nobody sends many to strangers.
    if (!this.#windows.take(`${id} ${newEmail}`, 1, WINDOW_SECONDS)) return
    if (!this.#windows.take(id, MAILS_MAX, WINDOW_SECONDS)) return
    await this.#host.mails.queue(await emailChangeMail(this.#host, holder, newEmail))
  }

  /** @throws ServiceError INVALID with data, TOO_MANY_REQUESTS */
  async confirm(actor: Actor, definition: AuthDefinition, input: JsonObject): Promise<void> {
    checkNoSuperusers(definition)
    const { token, password } = readTexts(input, ['token', 'password'])
    await whileCurrent(async () => {
      const { holder, newEmail, error } = await this.#read(definition, token)
      checkForm({ token: error, password: await this.#passwordError(actor, holder, password) })
      await this.#host
        .write(definition, holder!.record, { email: newEmail, verified: true })
        .catch((wrong: unknown) => {
          throw withMessage(wrong, 'Failed to confirm email change.')
        })
    })
  }

  async #takenBy({ definition, record }: Holder, newEmail: string): Promise<FieldError | undefined> {
    const found = await findAccount(this.#host.definitions, definition, 'email', newEmail)
    return found === undefined || found['_id'] === record['_id'] ? undefined : TAKEN
  }

  async #read(
    definition: AuthDefinition,
    token: string,
  ): Promise<{
    readonly holder?: Holder | undefined
    readonly newEmail: string
    readonly error: FieldError | undefined
  }> {
    const newEmail = claimsIn(token)?.newEmail ?? ''
    if (token !== '' && newEmail === '') return { newEmail, error: NO_NEW_EMAIL }
    const { definitions, environment } = this.#host
    const holder = await holderOf(definitions, 'emailChange', token, environment.wallClock())
    const error = tokenError(definition, token, holder)
    if (error !== undefined) return { newEmail, error }
    const isTaken = (await findAccount(definitions, definition, 'email', newEmail)) !== undefined
    return isTaken ? { newEmail, error: TAKEN_SINCE } : { holder, newEmail, error }
  }

  /** Somebody who has got hold of a token for a moment does not know the password: guesses are counted, as at a login. */
  async #passwordError(actor: Actor, holder: Holder | undefined, password: string): Promise<FieldError | undefined> {
    const wrong = textError(password, 1, PASSWORD_BYTES_MAX)
    if (wrong !== undefined) return wrong
    if (holder === undefined) return WRONG_PASSWORD
    const { definition, record } = holder
    const { limiter, passwords } = this.#host
    const [address, name] = [actor.principal.address ?? '', `${definition.id}:${String(record['email'])}`]
    const hash = toText(record['password'])
    return (await limiter.compare(address, name, () => passwords.verify(hash, password))) ? undefined : WRONG_PASSWORD
  }
}

function checkNoSuperusers({ name }: AuthDefinition): void {
  if (name === SUPERUSERS) throw invalid('All superusers can change their emails directly.')
}
