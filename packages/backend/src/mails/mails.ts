/**
 * Mails on their way. They are stored before they are sent, so that a restart loses none. A mail is marked before a server gets it,
 * so that no mail is sent twice. The leader of a fleet sends those of all servers. Docs: docs/internals/mails.md.
 */
import type { Collection, Database, Transaction } from 'pannier'
import type { Environment } from 'pannier/types'
import type { Fleet } from '../fleet/fleet.ts'
import { LOWER, randomText } from '../gateway/chance.ts'
import { errorText, LOG_LEVELS, type LogWriter } from '../gateway/log-entry.ts'
import { ServiceError } from '../gateway/service-error.ts'
import type { AccountMail } from '../hooks/hook-events.ts'
import type { Settings } from '../settings/settings.ts'
import type { Mail } from './mail-content.ts'
import { MailError, sendMail } from './send-mail.ts'

export interface MailsHost {
  readonly database: Database
  readonly fleet: Fleet
  readonly settings: Settings
  readonly logs: LogWriter & { flush(): Promise<void> }
  readonly environment: Environment
  /** Runs hooks around a mail. They may change what is sent, or keep it from being sent. */
  readonly around: (mail: Mail & Pick<QueuedMail, 'account'>, send: (mail: Mail) => Promise<void>) => Promise<void>
}

export interface QueuedMail extends Mail {
  /** The account that gets it, for hooks. */
  readonly account?: {
    readonly kind: AccountMail
    readonly collection: string
    readonly id: string
    readonly meta: Readonly<Record<string, string>>
  }
  /** Until when, in milliseconds since 1970. After that the mail is worth nothing: its token has expired. */
  readonly untilMs: number
  /** The subject of the mail for the listener. */
  readonly about?: string
  /** Whether it is a decoy: nobody gets it. It takes the time of a mail to an account that exists. */
  readonly isDecoy?: boolean
}

/** The outcome of a mail: a server has it, nobody has it, or nobody knows. */
export type MailOutcome = 'sent' | 'failed' | 'unknown'

/** Hears what became of mails that have an `about`. */
type MailListener = (about: string, outcome: MailOutcome, to: string) => Promise<void>

interface StoredMail extends QueuedMail {
  readonly _id: string
  /** The number of tries. */
  readonly tries: number
  /** Whether it is marked: a server may have it. */
  readonly isMarked: boolean
}

const COLLECTION = '$mails'
/** The most senders at the same time. */
const SENDERS_MAX = 4
const WAITING_MAX = 20_000
/** The pause in seconds from one try to the next. */
const PAUSE_SECONDS: readonly number[] = [5, 30, 120, 600, 1800, 3600, 7200]
/** How often the queue looks for mails whose pause has ended. */
const LOOK_MS = 1000

export class Mails {
  readonly #host: MailsHost
  readonly #stored: Collection<StoredMail>
  /** Ids of mails that are ready, by address. The first address is next, and goes to the end then: no address delays others. */
  readonly #ready = new Map<string, string[]>()
  /** Mails that are tried again, by id. */
  readonly #paused = new Map<string, { readonly to: string; readonly untilMs: number }>()
  readonly #sending = new Set<Promise<void>>()
  /** Ids of mails that wait, are paused or are being sent. */
  readonly #known = new Set<string>()
  #stopListening: readonly (() => void)[] = []
  readonly #closing = new AbortController()
  /** Undefined: nothing is sent yet. */
  #listener: MailListener | undefined
  #cancelTimer: (() => void) | undefined

  constructor(host: MailsHost) {
    this.#host = host
    this.#stored = host.database.collection<StoredMail>(COLLECTION)
  }

  /** Sends what an earlier run has left. */
  async start(listener: MailListener): Promise<void> {
    this.#listener = listener
    const { database, fleet } = this.#host
    const look = (ids?: readonly string[]): void =>
      void this.#look(ids).catch((error: unknown) => this.#failedWith(error))
    this.#stopListening = [
      fleet.subscribeLeads((leads) => (leads ? look() : this.#forget())),
      database.subscribe(({ collections, local }) => {
        const change = collections.get(COLLECTION)
        if (change !== undefined && !local) look(change.ids)
      }),
    ]
    await this.#look()
  }

  /** Sends what is stored, also by other servers. `ids`: of mails that may be new; undefined: any may. */
  async #look(ids?: readonly string[]): Promise<void> {
    if (!this.#host.fleet.leads) return
    const stored = this.#stored.find(ids === undefined ? {} : { _id: { $in: [...ids] } })
    for (const { _id, to } of await stored.sort('$created').toArray()) this.#add(_id, to)
    this.#sendReady()
  }

  /** Another server leads. */
  #forget(): void {
    for (const ids of this.#ready.values()) for (const id of ids) this.#known.delete(id)
    for (const id of this.#paused.keys()) this.#known.delete(id)
    this.#ready.clear()
    this.#paused.clear()
  }

  /** The length: how many are on their way. */
  get length(): number {
    return this.#known.size
  }

  /**
   * Resolves when the mail is stored, with what `also` writes. It is sent later. The log has a mail for which the queue has no room.
   */
  async queue(mail: QueuedMail, also: (transaction: Transaction) => Promise<unknown> = async () => {}): Promise<void> {
    const stored: StoredMail = {
      ...mail,
      _id: randomText(this.#host.environment, 20, LOWER),
      tries: 0,
      isMarked: false,
    }
    const hasRoom = this.#known.size < WAITING_MAX
    await this.#host.database.transaction(async (transaction: Transaction) => {
      await also(transaction)
      if (hasRoom) await transaction.collection<StoredMail>(COLLECTION).insert(stored)
    })
    if (!hasRoom) return this.#end(stored, 'failed', 'Too many mails wait for the SMTP server.')
    if (this.#host.fleet.leads) this.#add(stored._id, stored.to)
    this.#sendReady()
  }

  /** Sends it at once. Without a server the log has it. @throws MailError */
  async sendNow(mail: Mail): Promise<void> {
    await this.#send(mail, randomText(this.#host.environment, 20, LOWER))
  }

  /** Mails that no server has yet stay stored. */
  async close(): Promise<void> {
    this.#closing.abort()
    for (const stop of this.#stopListening) stop()
    this.#cancelTimer?.()
    await Promise.all(this.#sending)
  }

  #add(id: string, to: string): void {
    if (this.#known.has(id)) return
    this.#known.add(id)
    this.#wait(id, to)
  }

  #wait(id: string, to: string): void {
    const others = this.#ready.get(to)
    if (others === undefined) this.#ready.set(to, [id])
    else others.push(id)
  }

  #pause({ _id: id, to }: StoredMail, seconds: number): void {
    this.#paused.set(id, { to, untilMs: this.#host.environment.now() + seconds * 1000 })
    this.#cancelTimer ??= this.#host.environment.after(LOOK_MS, () => this.#endPauses())
  }

  #endPauses(): void {
    const { environment } = this.#host
    this.#cancelTimer = undefined
    const now = environment.now()
    for (const [id, { to, untilMs }] of this.#paused) {
      if (untilMs > now) continue
      this.#paused.delete(id)
      this.#wait(id, to)
    }
    if (this.#paused.size > 0) this.#cancelTimer = environment.after(LOOK_MS, () => this.#endPauses())
    this.#sendReady()
  }

  #sendReady(): void {
    if (this.#listener === undefined) return
    while (!this.#closing.signal.aborted && this.#sending.size < SENDERS_MAX) {
      const id = this.#next()
      if (id === undefined) return
      const work = this.#process(id)
        .catch((error: unknown) => this.#failedWith(error))
        .finally(() => {
          if (!this.#paused.has(id)) this.#known.delete(id)
          this.#sending.delete(work)
          this.#sendReady()
        })
      this.#sending.add(work)
    }
  }

  #next(): string | undefined {
    const [first] = this.#ready
    if (first === undefined) return undefined
    const [to, ids] = first
    const id = ids.shift()
    this.#ready.delete(to)
    if (ids.length > 0) this.#ready.set(to, ids)
    return id
  }

  async #process(id: string): Promise<void> {
    const mail = await this.#stored.get(id)
    if (mail === undefined) return
    if (mail.isDecoy === true) return void (await this.#stored.delete(id))
    if (mail.isMarked)
      return this.#end(mail, 'unknown', 'A mail may have been sent before the server stopped. It is not sent again.')
    if (this.#host.environment.wallClock() >= mail.untilMs)
      return this.#end(mail, 'failed', 'A mail has expired before the SMTP server took it.')
    let isMine = false
    await this.#stored.update(id, (old) => {
      // Another server may take itself for the one that leads, for a moment.
      isMine = !old.isMarked
      return isMine ? { ...old, isMarked: true } : undefined
    })
    if (!isMine) return
    try {
      await this.#send(mail, id)
    } catch (error) {
      if (error instanceof ServiceError) return this.#end(mail, 'failed', 'A hook has refused a mail.', error.message)
      if (!(error instanceof MailError)) throw error
      return this.#failed(mail, error)
    }
    if (this.#host.settings.values.smtp.enabled) await this.#tell(mail, 'sent')
    else await this.#host.logs.flush()
    await this.#stored.delete(id)
  }

  /** @throws MailError; ServiceError of a hook */
  #send(mail: Mail & Pick<QueuedMail, 'account'>, id: string): Promise<void> {
    return this.#host.around(mail, (changed) => this.#deliver(changed, id))
  }

  /** @throws MailError */
  async #deliver(mail: Mail, id: string): Promise<void> {
    const { smtp, meta } = this.#host.settings.values
    if (!smtp.enabled) {
      const { to, subject, text } = mail
      return this.#log(LOG_LEVELS.warn, 'No SMTP server is set, so a mail is here only.', { to, subject, text })
    }
    const domain = meta.senderAddress.slice(meta.senderAddress.lastIndexOf('@') + 1)
    await sendMail(mail, { smtp, meta, messageId: `<${id}@${domain}>`, signal: this.#closing.signal })
  }

  async #failed(mail: StoredMail, { outcome, message: error }: MailError): Promise<void> {
    const pause = PAUSE_SECONDS[mail.tries]
    if (outcome === 'unknown')
      return this.#end(mail, 'unknown', 'A mail may have been sent. It is not sent again.', error)
    if (outcome === 'refused' || pause === undefined)
      return this.#end(mail, 'failed', 'The SMTP server has not taken a mail.', error)
    const isCut = this.#closing.signal.aborted
    const changed = { tries: isCut ? mail.tries : mail.tries + 1, isMarked: false }
    await this.#stored.update(mail._id, (old) => ({ ...old, ...changed }))
    if (isCut) return
    this.#pause(mail, pause)
    this.#log(LOG_LEVELS.warn, `A mail is sent again in ${pause} seconds.`, { to: mail.to, error })
  }

  /** The log has what nobody got, before the queue forgets it. */
  async #end(mail: StoredMail, outcome: MailOutcome, message: string, error?: string): Promise<void> {
    const { _id: id, to, subject, text, isDecoy = false } = mail
    if (!isDecoy) this.#log(LOG_LEVELS.error, message, { to, subject, text, ...(error !== undefined && { error }) })
    await this.#host.logs.flush()
    await this.#tell(mail, outcome)
    await this.#stored.delete(id)
  }

  async #tell({ about, to }: StoredMail, outcome: MailOutcome): Promise<void> {
    if (about !== undefined) await this.#listener?.(about, outcome, to)
  }

  #failedWith(error: unknown): void {
    this.#log(LOG_LEVELS.error, 'The queue of mails has failed.', { error: errorText(error) })
  }

  #log(level: number, message: string, data: Record<string, string>): void {
    this.#host.logs.write({ level, message, data: { type: 'mail', ...data } })
  }
}
