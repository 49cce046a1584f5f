/** A mail that shows an operator whether the settings of the SMTP server are right. */
import { randomText, type Chance } from '../gateway/chance.ts'
import type { AuthDefinition } from '../definitions/definition.ts'
import { SUPERUSERS } from '../definitions/system-collections.ts'
import { dateText } from '../fields/date-text.ts'
import { BLANK, fieldError, NOT_LISTED, outsideLength } from '../fields/field-errors.ts'
import { castValue } from '../fields/field-types.ts'
import type { JsonObject } from '../gateway/documents.ts'
import type { Principal } from '../gateway/principal.ts'
import { forbidden, ServiceError } from '../gateway/service-error.ts'
import { MailError } from '../mails/send-mail.ts'
import type { QueuedMail } from '../mails/mails.ts'
import { alertMail, emailChangeMail, otpMail, passwordResetMail, verificationMail } from './account-mails.ts'
import type { AccountsHost } from './accounts-host.ts'
import { checkForm, emailError, NAME_BYTES_MAX, readTexts } from './forms.ts'
import type { Holder } from './tokens.ts'

type Make = (host: AccountsHost, holder: Holder) => QueuedMail | Promise<QueuedMail>

const MAILS: ReadonlyMap<string, Make> = new Map<string, Make>([
  ['verification', verificationMail],
  ['password-reset', passwordResetMail],
  ['email-change', (host, holder) => emailChangeMail(host, holder, String(holder.record['email']))],
  ['otp', (host, holder) => otpMail(host, holder, '_PB_TEST_OTP_ID_', '123456')],
  [
    'login-alert',
    (host, holder) => alertMail(host, holder, `${dateText(host.environment.wallClock())} - TEST_IP TEST_USER_AGENT`),
  ],
])

const NO_COLLECTION = fieldError('validation_invalid_auth_collection', 'Must be a valid auth collection id or name.')

/** Resolves when the server has taken the mail. @throws ServiceError FORBIDDEN, INVALID with data */
export async function sendTestMail(host: AccountsHost, principal: Principal, input: JsonObject): Promise<void> {
  if (!principal.isAdmin) throw forbidden('')
  const { email, template, collection } = readTexts(input, ['email', 'template', 'collection'])
  const definition = host.definitions.find(collection === '' ? SUPERUSERS : collection)
  const make = MAILS.get(template)
  const errors = {
    collection:
      outsideLength(collection, 1, NAME_BYTES_MAX) ?? (definition?.type === 'auth' ? undefined : NO_COLLECTION),
    email: emailError(email),
    template: template === '' ? BLANK : make === undefined ? NOT_LISTED : undefined,
  }
  checkForm(errors, 'Failed to send the test email.')
  const mail = await make!(host, testAccount(definition as AuthDefinition, email, host.environment))
  try {
    await host.mails.sendNow(mail)
  } catch (error) {
    if (!(error instanceof MailError)) throw error
    const message = `Failed to send the test email. Raw error: \n${error.message}`
    throw new ServiceError('INVALID', message, { cause: error })
  }
}

/** An account for a test, whose values name their fields. */
function testAccount(definition: AuthDefinition, email: string, chance: Chance): Holder {
  const shown = definition.fields.filter(({ hidden }) => !hidden)
  const values = shown.map((field) => [field.name, castValue(field, `__pb_test_${field.name}__`)] as const)
  return {
    definition,
    record: { ...Object.fromEntries(values), _id: '__pb_test_id__', tokenKey: randomText(chance, 50), email },
  }
}
