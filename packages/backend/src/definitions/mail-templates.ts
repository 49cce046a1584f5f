/** The mails that an auth collection sends, until somebody writes others. In PocketBase's words, as its users know them. */
import type { AuthDefinition, MailTemplate } from './definition.ts'

type MailOption = 'verificationTemplate' | 'resetPasswordTemplate' | 'confirmEmailChangeTemplate'

const THANKS = '<p>\n  Thanks,<br/>\n  {APP_NAME} team\n</p>'

function button(path: string, label: string): string {
  return `<p>\n  <a class="btn" href="{APP_URL}/_/#/auth/${path}/{TOKEN}" target="_blank" rel="noopener">${label}</a>\n</p>`
}

function template(subject: string, ...lines: readonly string[]): MailTemplate {
  return { subject, body: ['<p>Hello,</p>', ...lines, THANKS].join('\n') }
}

export const ALERT_MAIL: MailTemplate = template(
  'Login from a new location',
  '<p>We noticed a login to your {APP_NAME} account from a new location:</p>',
  '<p><em>{ALERT_INFO}</em></p>',
  "<p><strong>If this wasn't you, you should immediately change your {APP_NAME} account password to revoke access from all other locations.</strong></p>",
  '<p>If this was you, you may disregard this email.</p>',
)

export const OTP_MAIL: MailTemplate = template(
  'OTP for {APP_NAME}',
  '<p>Your one-time password is: <strong>{OTP}</strong></p>',
  "<p><i>If you didn't ask for the one-time password, you can ignore this email.</i></p>",
)

export const MAILS: Pick<AuthDefinition, MailOption> = {
  verificationTemplate: template(
    'Verify your {APP_NAME} email',
    '<p>Thank you for joining us at {APP_NAME}.</p>',
    '<p>Click on the button below to verify your email address.</p>',
    button('confirm-verification', 'Verify'),
    "<p><i>If you didn't recently register, please ignore this email.</i></p>",
  ),
  resetPasswordTemplate: template(
    'Reset your {APP_NAME} password',
    '<p>Click on the button below to reset your password.</p>',
    button('confirm-password-reset', 'Reset password'),
    "<p><i>If you didn't ask to reset your password, please ignore this email.</i></p>",
  ),
  confirmEmailChangeTemplate: template(
    'Confirm your {APP_NAME} new email address',
    '<p>Click on the button below to confirm your new email address.</p>',
    button('confirm-email-change', 'Confirm new email'),
    "<p><i>If you didn't ask to change your email address, please ignore this email.</i></p>",
  ),
}
