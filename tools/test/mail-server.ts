/** A real SMTP server for tests: it keeps what it gets, and can refuse, hang or break off. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import PostalMime from 'postal-mime'
import type { Email } from 'postal-mime'
import { SMTPServer } from 'smtp-server'
import { SMTPConnection } from 'smtp-server/lib/smtp-connection.js'
import type { SMTPServerOptions } from 'smtp-server'

const RECEIVED_MS_MAX = 60_000

/** The library waits 100 ms for clients that talk too soon. Ours do not. */
SMTPConnection.prototype.init = function (this: SMTPConnection): void {
  this._setListeners(() => this.connectionReady())
}

/** A mail that a program got, as it came and as a reader sees it. */
export interface ReceivedMail {
  /** Recipients of the envelope. */
  readonly recipients: readonly string[]
  readonly raw: string
  readonly parsed: Email
}

export class MailServer implements AsyncDisposable {
  readonly mails: ReceivedMail[] = []
  readonly #server: SMTPServer
  /** For pages, which can't speak SMTP: `/?to=ADDRESS` has the texts of the mails to an address. */
  readonly #inbox = createServer((request, response) => {
    const to = new URL(request.url ?? '/', 'http://x').searchParams.get('to') ?? ''
    const texts = this.mails.filter(({ recipients }) => recipients.includes(to)).map(({ parsed }) => parsed.text)
    response.writeHead(200, { 'content-type': 'application/json', 'access-control-allow-origin': '*' })
    response.end(JSON.stringify(texts))
  })
  /** Undefined: takes the mail. Asked for each mail when it has come. */
  refuse: (mail: ReceivedMail) => Error | undefined | Promise<Error | undefined> = () => undefined

  static async start(options: SMTPServerOptions = {}): Promise<MailServer> {
    const made = new MailServer(options)
    made.#server.listen(0, '127.0.0.1')
    await once(made.#server.server, 'listening')
    made.#inbox.listen(0, '127.0.0.1')
    await once(made.#inbox, 'listening')
    return made
  }

  private constructor(options: SMTPServerOptions) {
    this.#server = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS'],
      disableReverseLookup: true,
      logger: false,
      onData: (stream, session, done) => {
        const pieces: Buffer[] = []
        stream.on('data', (piece: Buffer) => pieces.push(piece))
        stream.on('end', () => {
          this.#take(
            Buffer.concat(pieces),
            session.envelope.rcptTo.map(({ address }) => address),
          ).then(
            (error) => done(error),
            (error: unknown) => done(error as Error),
          )
        })
      },
      ...options,
    })
    this.#server.on('error', () => {})
  }

  get port(): number {
    return (this.#server.server.address() as AddressInfo).port
  }

  get inbox(): string {
    return `http://127.0.0.1:${(this.#inbox.address() as AddressInfo).port}/`
  }

  /** The settings of the SMTP server that lead here. */
  get settings(): { readonly smtp: object } {
    return { smtp: { enabled: true, host: '127.0.0.1', port: this.port, tls: false, username: '', password: '' } }
  }

  /** Waits until as many mails have come, and gives the last one. */
  async received(count: number): Promise<ReceivedMail> {
    const end = performance.now() + RECEIVED_MS_MAX
    while (this.mails.length < count) {
      if (performance.now() > end) throw new Error(`${count} mails are expected, got ${this.mails.length}.`)
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    return this.mails.at(-1)!
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#inbox.close()
    this.#inbox.closeAllConnections()
    await new Promise<void>((resolve) => this.#server.close(() => resolve()))
  }

  async #take(content: Buffer, recipients: readonly string[]): Promise<Error | undefined> {
    const mail = { recipients, raw: content.toString('latin1'), parsed: await PostalMime.parse(content) }
    const error = await this.refuse(mail)
    if (error === undefined) this.mails.push(mail)
    return error
  }
}

/** An answer of an SMTP server. */
export function smtpError(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode })
}

/** The token in the link of a mail. */
export function tokenIn({ parsed }: ReceivedMail): string {
  return /eyJ[\w-]+\.[\w-]+\.[\w-]+/.exec(parsed.text ?? '')![0]
}
