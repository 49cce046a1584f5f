/** E-mail addresses that are proven: a mail with a token, and the token that comes back. */
import type { AuthDefinition } from '../definitions/definition.ts'
import { SUPERUSERS } from '../definitions/system-collections.ts'
import { BLANK, fieldError } from '../fields/field-errors.ts'
import type { JsonObject } from '../gateway/documents.ts'
import { invalid } from '../gateway/service-error.ts'
import type { FieldError } from '../gateway/service-error.ts'
import { verificationMail } from './account-mails.ts'
import type { AccountsHost } from './accounts-host.ts'
import { checkForm, readEmail, readTexts } from './forms.ts'
import { MailRequests } from './mail-requests.ts'
import { tokenError, unknownPassword, whileCurrent, withMessage } from './proofs.ts'
import { claimsIn, holderOf } from './tokens.ts'
import type { Holder } from './tokens.ts'

const NO_ADDRESS = fieldError('validation_invalid_token_claims', 'Missing email token claim.')
const OTHER_ADDRESS = fieldError(
  'validation_token_email_mismatch',
  "The record email doesn't match with the requested token claims.",
)

export class Verification {
  readonly #host: AccountsHost
  readonly #requests: MailRequests

  constructor(host: AccountsHost) {
    this.#host = host
    this.#requests = new MailRequests(host, 'verifications', verificationMail)
  }

  /** @throws ServiceError INVALID with data */
  async request(definition: AuthDefinition, input: JsonObject): Promise<void> {
    checkNoSuperusers(definition)
    await this.#requests.request(definition, readEmail(input), ({ record }) => record['verified'] !== true)
  }

  /** @throws ServiceError INVALID with data */
  async confirm(definition: AuthDefinition, input: JsonObject): Promise<void> {
    checkNoSuperusers(definition)
    const { token } = readTexts(input, ['token'])
    const holder = await whileCurrent(async () => {
      const found = await holderOf(this.#host.definitions, 'verification', token, this.#host.environment.wallClock())
      checkForm({ token: wrongToken(definition, token, found) })
      if (found!.record['verified'] !== true) await this.#verify(found!)
      return found!
    })
    await this.#requests.done(holder)
  }

  /** Somebody else may have set the password, before it was known whose the address is. Where nobody logs in with it, it ends. */
  async #verify({ definition, record }: Holder): Promise<void> {
    const password = definition.passwordAuth.enabled ? {} : unknownPassword(this.#host.environment)
    await this.#host.write(definition, record, { verified: true, ...password }).catch((error: unknown) => {
      throw withMessage(error, 'An error occurred while saving the verified state.')
    })
  }
}

function checkNoSuperusers({ name }: AuthDefinition): void {
  if (name === SUPERUSERS) throw invalid('All superusers are verified by default.')
}

function wrongToken(definition: AuthDefinition, token: string, holder: Holder | undefined): FieldError | undefined {
  if (token === '') return BLANK
  const email = claimsIn(token)?.email ?? ''
  if (email === '') return NO_ADDRESS
  return tokenError(definition, token, holder) ?? (holder!.record['email'] === email ? undefined : OTHER_ADDRESS)
}
