/** `MailerMessage`, and mails on their way. */

interface Address {
  readonly address: string
  readonly name?: string
}

export class MailerMessage {
  from?: Address
  to: Address[] = []
  subject = ''
  html = ''
  text = ''

  constructor(values: Partial<MailerMessage> = {}) {
    Object.assign(this, values)
  }

  /** As the server takes it: one mail to one address. */
  plain(): { readonly to: readonly string[]; readonly subject: string; readonly html: string; readonly text: string } {
    return { to: this.to.map(({ address }) => address), subject: this.subject, html: this.html, text: this.text }
  }
}
