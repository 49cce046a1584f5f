/** Sends one mail by SMTP, and knows whether a mail that failed may have arrived all the same. */
import { Readable } from 'node:stream'
import MailComposer from 'nodemailer/lib/mail-composer'
import SMTPConnection from 'nodemailer/lib/smtp-connection'
import type { SettingsValues } from '../settings/settings-values.ts'
import { oneLine, type Mail } from './mail-content.ts'

/** A mail has not been sent. */
export class MailError extends Error {
  /**
   * `retry`: the server does not have the mail, and may take it later. `refused`: it takes no such mail. `unknown`: it may have the
   * mail.
   */
  readonly outcome: 'retry' | 'refused' | 'unknown'

  constructor(outcome: MailError['outcome'], cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
    this.outcome = outcome
  }
}

interface SendOptions {
  readonly smtp: SettingsValues['smtp']
  readonly meta: SettingsValues['meta']
  /** The id of the message, which stays when the mail is sent again. */
  readonly messageId: string
  /** Ends the work, unless the server has the mail already. */
  readonly signal: AbortSignal
}

/** The longest wait for the server. */
const WAIT_MS = 20_000
const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|::1)$/i

/** @throws MailError */
export async function sendMail(mail: Mail, { smtp, meta, messageId, signal }: SendOptions): Promise<void> {
  const from = { name: oneLine(meta.senderName), address: meta.senderAddress }
  const { to, subject, html, text } = mail
  const message = await new MailComposer({
    from,
    to: { name: '', address: to },
    subject,
    html,
    text,
    messageId,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
    .compile()
    .build()
  const connection = new SMTPConnection({
    host: smtp.host,
    port: smtp.port,
    secure: smtp.tls,
    // Nobody on the way reads the password.
    requireTLS: smtp.username !== '' && !LOOPBACK.test(smtp.host),
    ...(smtp.localName !== '' && { name: smtp.localName }),
    connectionTimeout: WAIT_MS,
    greetingTimeout: WAIT_MS,
    dnsTimeout: WAIT_MS,
    socketTimeout: WAIT_MS,
  })
  // The server asks for the content when it has taken the addresses.
  let isHandedOver = false
  const content = new Readable({
    highWaterMark: 0,
    read() {
      isHandedOver = true
      this.push(message)
      this.push(null)
    },
  })
  const stop = (): void => {
    if (!isHandedOver) connection.close()
  }
  signal.addEventListener('abort', stop)
  try {
    await new Promise<void>((resolve, reject) => {
      const done = (error?: Error | null): void => (error ? reject(error) : resolve())
      connection.once('error', reject)
      connection.once('end', () => reject(new Error('The connection has ended.')))
      connection.connect((error) => {
        if (error) return reject(error)
        const send = (): void => connection.send({ from: from.address, to: [to] }, content, done)
        if (smtp.username === '') return send()
        const { username: user, password: pass, authMethod } = smtp
        const login = { user, pass, credentials: { user, pass }, ...(authMethod !== '' && { method: authMethod }) }
        connection.login(login, (wrong) => (wrong ? reject(wrong) : send()))
      })
      if (signal.aborted) stop()
    })
  } catch (error) {
    throw new MailError(outcomeOf(error, isHandedOver), error)
  } finally {
    signal.removeEventListener('abort', stop)
    connection.on('error', () => {})
    connection.quit()
  }
}

/** Commands that are about this mail. Others, such as a wrong password, are about the settings. */
const OF_THE_MAIL: ReadonlySet<string> = new Set(['MAIL FROM', 'RCPT TO', 'DATA'])

function outcomeOf(error: unknown, isHandedOver: boolean): MailError['outcome'] {
  const {
    code,
    command = '',
    responseCode = 0,
  } = error as {
    readonly code?: string
    readonly command?: string
    readonly responseCode?: number
  }
  if (responseCode >= 400 && responseCode < 500) return 'retry'
  if (responseCode >= 500) return isHandedOver || OF_THE_MAIL.has(command) ? 'refused' : 'retry'
  if (isHandedOver) return 'unknown'
  // No server was asked: the address is not valid.
  return code === 'EENVELOPE' ? 'refused' : 'retry'
}
