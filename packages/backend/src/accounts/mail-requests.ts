/**
 * Requests of mails for an address. An unknown address gets the same answer in the same time: its mail is a decoy. A second request
 * within two minutes sends nothing.
 */
import type { AuthDefinition } from '../definitions/definition.ts'
import type { QueuedMail } from '../mails/mails.ts'
import { Windows } from '../fleet/windows.ts'
import type { AccountsHost } from './accounts-host.ts'
import { accountAt } from './find-account.ts'
import type { Holder } from './tokens.ts'

const PAUSE_SECONDS = 120

export class MailRequests {
  readonly #host: AccountsHost
  readonly #pauses: Windows
  readonly #make: (host: AccountsHost, holder: Holder) => Promise<QueuedMail>

  /** `name`: of these mails. `make`: the mail for an account. */
  constructor(host: AccountsHost, name: string, make: (host: AccountsHost, holder: Holder) => Promise<QueuedMail>) {
    this.#host = host
    this.#pauses = new Windows(host.environment, name, host.fleet)
    this.#make = make
  }

  /** `isDue`: whether this account gets such a mail. */
  async request(definition: AuthDefinition, email: string, isDue: (holder: Holder) => boolean): Promise<void> {
    const account = await accountAt(this.#host, definition, email)
    const pause = pauseOf(account)
    if (!this.#pauses.take(pause, 1, PAUSE_SECONDS)) return
    try {
      const isDecoy = account.isMissing || !isDue(account)
      await this.#host.mails.queue({ ...(await this.#make(this.#host, account)), isDecoy })
    } catch (error) {
      this.#pauses.delete(pause)
      throw error
    }
  }

  /** The account has done what the mail was for, so it may ask again. */
  async done({ definition, record }: Holder): Promise<void> {
    this.#pauses.delete(pauseOf(await accountAt(this.#host, definition, String(record['email']))))
  }
}

/** The name of a pause: another one while no account has the address. So a stranger keeps back no mail of an account that is made next. */
function pauseOf({ definition, address, isMissing }: Awaited<ReturnType<typeof accountAt>>): string {
  return `${definition.id} ${isMissing ? 'nobody' : 'account'} ${address}`
}
