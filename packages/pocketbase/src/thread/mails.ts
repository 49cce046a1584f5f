/** `MailerMessage`, and mails on their way. */
import { refused } from '../protocol/refusals.ts'

interface Address {
  readonly address: string
  readonly name?: string
}

/** Parts of a mail that the server does not send. */
const REFUSED: ReadonlySet<string> = new Set(['headers', 'attachments', 'inlineAttachments'])

interface PlainMail {
  readonly to: readonly string[]
  /** The address of the sender; empty: that of the settings. */
  readonly from: string
  readonly subject: string
  readonly html: string
  readonly text: string
}

export class MailerMessage {
  /** The address of the sender. The server has one sender, that of its settings. */
  from?: Address
  to: Address[] = []
  bcc: Address[] = []
  cc: Address[] = []
  subject = ''
  html = ''
  text = ''

  constructor(values: Partial<MailerMessage> = {}) {
    Object.assign(this, values)
  }

  /** The plain values of the mail, as the server takes them: one mail to one address. @throws Error for a part that it does not send */
  plain(): PlainMail {
    for (const [name, value] of Object.entries(this))
      if (REFUSED.has(name) && Object.keys(value as object).length > 0)
        throw new Error(refused(`message.${name}`, 'Send such a mail by $http.send() to a mail service.'))
    const { from, subject, html, text } = this
    const to = [...this.to, ...this.cc, ...this.bcc].map(({ address }) => address)
    return { to, from: from?.address ?? '', subject, html, text }
  }
}
