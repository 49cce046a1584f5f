/** The mails that accounts get: which template, which token, and how long they are worth something. */
import type { Environment } from 'pannier/types'
import type { MailTemplate } from '../definitions/definition.ts'
import { mailOf } from '../mails/mail-content.ts'
import type { AccountMail } from '../hooks/hook-events.ts'
import type { QueuedMail } from '../mails/mails.ts'
import type { Settings } from '../settings/settings.ts'
import { newToken, tokenSeconds } from './tokens.ts'
import type { Holder, TokenType } from './tokens.ts'

interface MailHost {
  readonly settings: Settings
  readonly environment: Environment
}

interface MailForm {
  readonly kind: AccountMail
  readonly template: MailTemplate
  readonly to: string
  readonly values: Readonly<Record<string, string>>
  readonly seconds: number
}

const DAY_SECONDS = 86_400
/** The names of values for hooks. */
const META: ReadonlyMap<string, string> = new Map(
  Object.entries({ TOKEN: 'token', OTP: 'password', OTP_ID: 'otpId', ALERT_INFO: 'info' }),
)

export function verificationMail(host: MailHost, holder: Holder): Promise<QueuedMail> {
  const { definition, record } = holder
  const email = String(record['email'])
  return mailWithToken(host, holder, definition.verificationTemplate, ['Verification', 'verification'], email, {
    email,
  })
}

export function passwordResetMail(host: MailHost, holder: Holder): Promise<QueuedMail> {
  const { definition, record } = holder
  const email = String(record['email'])
  return mailWithToken(host, holder, definition.resetPasswordTemplate, ['PasswordReset', 'passwordReset'], email, {
    email,
  })
}

export function emailChangeMail(host: MailHost, holder: Holder, newEmail: string): Promise<QueuedMail> {
  const { definition, record } = holder
  const claims = { email: String(record['email']), newEmail }
  return mailWithToken(
    host,
    holder,
    definition.confirmEmailChangeTemplate,
    ['EmailChange', 'emailChange'],
    newEmail,
    claims,
  )
}

/** `about`: the id of the one-time password. */
export function otpMail(host: MailHost, holder: Holder, id: string, password: string): QueuedMail {
  const { otp } = holder.definition
  const to = String(holder.record['email'])
  const values = { OTP: password, OTP_ID: id }
  return {
    ...made(host, holder, { kind: 'OTP', template: otp.emailTemplate, to, values, seconds: otp.duration }),
    about: id,
  }
}

export function alertMail(host: MailHost, holder: Holder, info: string): QueuedMail {
  const template = holder.definition.authAlert.emailTemplate
  const to = String(holder.record['email'])
  return made(host, holder, { kind: 'AuthAlert', template, to, values: { ALERT_INFO: info }, seconds: DAY_SECONDS })
}

async function mailWithToken(
  host: MailHost,
  holder: Holder,
  template: MailTemplate,
  [kind, type]: readonly [AccountMail, TokenType],
  to: string,
  claims: { readonly email: string; readonly newEmail?: string },
): Promise<QueuedMail> {
  const token = newToken(type, holder, { nowMs: host.environment.wallClock(), ...claims })
  const seconds = tokenSeconds(holder.definition, type)
  return made(host, holder, { kind, template, to, values: { TOKEN: token }, seconds })
}

function made(host: MailHost, { definition, record }: Holder, { kind, seconds, ...form }: MailForm): QueuedMail {
  const { meta } = host.settings.values
  const secrets = Object.entries(form.values).map(([name, value]) => [META.get(name), value])
  const newEmail = kind === 'EmailChange' && { newEmail: form.to }
  const account = {
    kind,
    collection: definition.id,
    id: String(record['_id']),
    meta: { ...Object.fromEntries(secrets), ...newEmail } as Readonly<Record<string, string>>,
  }
  return {
    ...mailOf({ ...form, meta, definition, record }),
    account,
    untilMs: host.environment.wallClock() + seconds * 1000,
  }
}
