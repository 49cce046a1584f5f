/** Passwords that were forgotten: a mail with a token, and the token that comes back with a new password. */
import type { AuthDefinition } from '../definitions/definition.ts'
import { DIFFERENT } from '../fields/field-errors.ts'
import type { JsonObject } from '../gateway/documents.ts'
import { invalid } from '../gateway/service-error.ts'
import { passwordResetMail } from './account-mails.ts'
import type { AccountsHost } from './accounts-host.ts'
import { checkForm, NAME_BYTES_MAX, readEmail, readTexts, textError } from './forms.ts'
import { MailRequests } from './mail-requests.ts'
import { tokenError, whileCurrent, withMessage } from './proofs.ts'
import { claimsIn, holderOf } from './tokens.ts'

export class PasswordReset {
  readonly #host: AccountsHost
  readonly #requests: MailRequests

  constructor(host: AccountsHost) {
    this.#host = host
    this.#requests = new MailRequests(host, 'password resets', passwordResetMail)
  }

  /** @throws ServiceError INVALID with data */
  async request(definition: AuthDefinition, input: JsonObject): Promise<void> {
    if (!definition.passwordAuth.enabled)
      throw invalid('The collection is not configured to allow password authentication.')
    await this.#requests.request(definition, readEmail(input), () => true)
  }

  /** Confirms the reset, and so verifies the address that the mail went to. @throws ServiceError INVALID with data */
  async confirm(definition: AuthDefinition, input: JsonObject): Promise<void> {
    const { token, password, passwordConfirm } = readTexts(input, ['token', 'password', 'passwordConfirm'])
    const holder = await whileCurrent(async () => {
      const found = await holderOf(this.#host.definitions, 'passwordReset', token, this.#host.environment.wallClock())
      checkForm({
        token: tokenError(definition, token, found),
        password: textError(password, charsMin(definition), NAME_BYTES_MAX),
        passwordConfirm:
          textError(passwordConfirm, 1, Infinity) ?? (passwordConfirm === password ? undefined : DIFFERENT),
      })
      const { record } = found!
      const isItsAddress = record['email'] === claimsIn(token)?.email
      const changed = { password, passwordConfirm, ...(isItsAddress && { verified: true }) }
      await this.#host.write(definition, record, changed).catch((error: unknown) => {
        throw withMessage(error, 'Failed to set new password.')
      })
      return found!
    })
    await this.#requests.done(holder)
  }
}

function charsMin({ fields }: AuthDefinition): number {
  const field = fields.find(({ name }) => name === 'password')
  return field !== undefined && 'cost' in field && field.min > 0 ? field.min : 1
}
