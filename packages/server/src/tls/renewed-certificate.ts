/** Keeps a certificate fresh: gets the first one, renews it in time, and keeps the old one while that fails. */
import type { FastifyBaseLogger } from 'fastify'
import type { Environment } from 'pannier/types'
import type { AcmeFolder } from './acme-folder.ts'
import { renewalTime } from './certificate.ts'
import type { Certificate } from './certificate.ts'

interface RenewalHost {
  readonly environment: Environment
  readonly names: readonly string[]
  readonly folder: AcmeFolder
  readonly log: FastifyBaseLogger
  /** Orders a new certificate. */
  readonly order: () => Promise<Certificate>
  /** Is called with each certificate that handshakes shall have from now on. */
  readonly use: (certificate: Certificate) => void
}

/** Let's Encrypt refuses more than five failures of a name an hour. */
const RETRY_MS_MIN = 60_000
const RETRY_MS_MAX: number = 12 * 3_600_000
/** The longest wait of a timer: a machine that sleeps makes timers late. */
const WAIT_MS_MAX = 3_600_000

export class RenewedCertificate {
  readonly #host: RenewalHost
  #cancel: () => void = () => {}
  #dueAt = 0
  /** By the clock that is never set. */
  #retryAt = 0
  #failures = 0
  #isClosed = false
  #storing = Promise.resolve()

  /** Uses the stored certificate if there is one. */
  static async open(host: RenewalHost): Promise<RenewedCertificate> {
    const renewed = new RenewedCertificate(host)
    try {
      const stored = await host.folder.certificate()
      if (stored !== undefined) renewed.#use(stored)
    } catch (error) {
      host.log.warn({ err: error }, 'The stored certificate can not be used. The server gets another one.')
    }
    return renewed
  }

  private constructor(host: RenewalHost) {
    this.#host = host
  }

  /** From here on it is renewed. The first order may be under way when this returns. */
  start(): void {
    if (this.#isClosed) return
    const { environment } = this.#host
    const wait = Math.min(
      Math.max(0, this.#dueAt - environment.wallClock(), this.#retryAt - environment.now()),
      WAIT_MS_MAX,
    )
    this.#cancel = environment.after(wait, () => void this.#renewIfDue().then(() => this.start()))
  }

  /** Waits for a certificate that is being stored: the next start reads it. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#cancel()
    await this.#storing
  }

  async #renewIfDue(): Promise<void> {
    const { environment, order, folder, log, names } = this.#host
    if (environment.wallClock() < this.#dueAt || environment.now() < this.#retryAt) return
    try {
      const certificate = await order()
      if (this.#isClosed) return
      this.#use(certificate)
      // A service that gives what has to be renewed at once is not asked without a pause.
      if (this.#dueAt <= environment.wallClock()) this.#retryAt = environment.now() + RETRY_MS_MIN
      this.#failures = 0
      log.info({ names, renewedAt: new Date(this.#dueAt) }, 'The server has a new certificate.')
      // It counts even if it can't be stored: more orders would only exhaust what the service allows.
      const notStored = (error: unknown): void => log.error({ err: error }, 'The certificate is not stored.')
      this.#storing = folder.keep(certificate).catch(notStored)
      await this.#storing
    } catch (error) {
      if (this.#isClosed) return
      const wait = Math.min(RETRY_MS_MIN * 2 ** this.#failures++, RETRY_MS_MAX)
      this.#retryAt = environment.now() + wait
      log.error(
        { err: error, names, retrySeconds: wait / 1000 },
        'The server has got no new certificate. It tries again.',
      )
    }
  }

  #use(certificate: Certificate): void {
    this.#dueAt = renewalTime(certificate, this.#host.names)
    this.#host.use(certificate)
  }
}
