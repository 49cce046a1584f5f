/**
 * A fleet in a database of its own, beside the one that is served. It is in no backup, and a restore leaves it as it is.
 *
 * Each server renews a document. The server that is there for longest leads. Two may think so for some seconds, when one was frozen. So what
 * must not be done twice is claimed, by a document that only one can insert.
 */
import { isPannierError, open, type Collection, type Database, type DatabaseChange, type OpenOptions } from 'pannier'
import { endOf, every, exclusively } from 'pannier/internal'
import type { DatabaseStorage } from 'pannier/storage'
import type { Environment } from 'pannier/types'
import { Listeners } from '../gateway/listeners.ts'
import { ID_CHARS, SECRET_BYTES, type Fleet, type Message } from './fleet.ts'

interface ServerDocument {
  readonly _id: string
  readonly startedMs: number
  /** When it gave a sign of life, by its clock. */
  readonly atMs: number
}

interface StoredMessage {
  readonly _id: string
  readonly from: string
  /** The server that gets the message; '' for all. */
  readonly to: string
  /** The question that it answers. */
  readonly re?: string
  /** Whether an answer is waited for. */
  readonly isQuestion: boolean
  readonly atMs: number
  readonly message: unknown
}

interface FleetOptions {
  readonly storage: DatabaseStorage
  /** The name of the database that is served. */
  readonly name: string
  readonly encryption?: OpenOptions['encryption']
  /** The storage was put back to an earlier state, and this server knows a later one. */
  readonly isRestored?: boolean
  /** Wall clocks of servers may differ by some seconds. */
  readonly environment: Environment
}

const SIGN_OF_LIFE_MS = 3000
/** A server that gives no sign of life for so long is taken for gone. */
const SILENCE_MS_MAX = 12_000
const ANSWER_MS_MAX = 5000
const MESSAGE_KEPT_MS = 60_000
const CLAIM_KEPT_MS = 3_600_000
/** How often what is old is deleted. */
const TIDY_MS = 60_000
const MESSAGE_ID_CHARS = 20

/** The name of the database of a fleet. */
function fleetName(name: string): string {
  return `${name} fleet`
}

/** One server among those of a storage. */
export async function openFleet(options: FleetOptions): Promise<Fleet> {
  return SharedFleet.open(options)
}

export class SharedFleet implements Fleet {
  readonly id: string
  joined = false
  readonly #options: FleetOptions
  readonly #database: Database
  readonly #servers: Collection<ServerDocument>
  readonly #messages: Collection<StoredMessage>
  readonly #environment: Environment
  readonly #startedMs: number
  readonly #listeners = new Map<string, (message: Message) => unknown>()
  readonly #leadListeners = new Listeners<[leads: boolean]>()
  /** Ids of servers that give signs of life. */
  #alive: ReadonlySet<string> = new Set()
  /** Messages to all that were heard, with the time: a notice may come again. */
  readonly #heard = new Map<string, number>()
  /** Questions that were asked, and wait for answers. */
  readonly #asked = new Map<string, (answer: unknown) => void>()
  readonly #stopListening: () => void
  readonly #stopBeating: () => void
  #leads = false
  #tidiedMs = 0
  #looking: Promise<void> = Promise.resolve()
  #isClosed = false

  /** The first look is done: `leads` is known. */
  static async open(options: FleetOptions): Promise<SharedFleet> {
    const { storage, name, encryption, environment } = options
    const given = { storage, environment, ...(encryption && { encryption }) }
    // A failover must lose nothing: who claims a job twice runs it twice.
    const database = await open(fleetName(name), { ...given, durability: 'strict' })
    const fleet = new SharedFleet(options, database)
    await fleet.#giveSignOfLife()
    fleet.joined = !fleet.leads && options.isRestored !== true
    return fleet
  }

  private constructor(options: FleetOptions, database: Database) {
    this.#options = options
    this.#environment = options.environment
    this.id = this.#newId().slice(0, ID_CHARS)
    this.#startedMs = this.#now()
    this.#database = database
    // Signs of life would fill the history of a document.
    this.#servers = database.collection<ServerDocument>('servers', { revisionsLimit: 1 })
    this.#messages = database.collection<StoredMessage>('messages', { indexes: ['to'], revisionsLimit: 1 })
    this.#stopListening = database.subscribe((change) => this.#changed(change))
    // Nothing of this keeps the process alive, and a failure shows itself to the next call.
    const beat = (): void => void this.#giveSignOfLife().catch(() => {})
    this.#stopBeating = every(this.#environment, SIGN_OF_LIFE_MS, beat)
  }

  get ended(): AbortSignal {
    return endOf(this.#database)
  }

  get leads(): boolean {
    return this.#leads
  }

  subscribeLeads(listener: (leads: boolean) => void): () => void {
    return this.#leadListeners.add(listener)
  }

  claim(what: string): Promise<boolean> {
    return this.#insertOnce('claims', what, { atMs: this.#now() })
  }

  async secret(name: string): Promise<Buffer> {
    await this.#insertOnce('secrets', name, {
      value: Buffer.from(this.#environment.randomBytes(SECRET_BYTES)).toString('base64'),
    })
    // Another server may have been first.
    await this.#database.refresh()
    const stored = await this.#database.collection<{ _id: string; value: string }>('secrets').get(name)
    return Buffer.from(stored!.value, 'base64')
  }

  exclusively<T>(name: string, work: () => Promise<T>): Promise<T> {
    return exclusively(this.#options.storage, `${fleetName(this.#options.name)} ${name}`, work)
  }

  async ask(server: string, message: Message): Promise<unknown> {
    if (!(await this.#isAlive(server))) return undefined
    const _id = this.#newId()
    const answered = Promise.withResolvers<unknown>()
    this.#asked.set(_id, answered.resolve)
    const cancel = this.#environment.after(ANSWER_MS_MAX, () => answered.resolve(undefined))
    try {
      await this.#send({ _id, to: server, isQuestion: true, message })
      return await answered.promise
    } finally {
      cancel()
      this.#asked.delete(_id)
    }
  }

  tell(message: Message): void {
    const _id = this.#newId()
    this.#send({ _id, to: '', isQuestion: false, message }).catch(() => {})
  }

  listen(topic: string, listener: (message: Message) => unknown): void {
    this.#listeners.set(topic, listener)
  }

  /** The next one leads at once. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#stopBeating()
    this.#stopListening()
    await this.#looking
    await this.#servers.purge(this.id).catch(() => {})
    await this.#database.close()
  }

  /** A new id, of letters and digits. */
  #newId(): string {
    return this.#environment.randomId().slice(0, MESSAGE_ID_CHARS)
  }

  #now(): number {
    return this.#environment.wallClock()
  }

  /** Anybody can name a server that never was: that costs no message. */
  async #isAlive(server: string): Promise<boolean> {
    if (this.#alive.has(server)) return true
    await this.#database.refresh()
    await this.#look()
    return this.#alive.has(server)
  }

  async #insertOnce(collection: string, _id: string, content: object): Promise<boolean> {
    try {
      await this.#database.collection<{ _id: string }>(collection).insert({ ...content, _id })
      return true
    } catch (error) {
      if (isPannierError(error, 'PANNIER_CONFLICT')) return false
      throw error
    }
  }

  async #send(sent: Omit<StoredMessage, 'from' | 'atMs'>): Promise<void> {
    await this.#messages.insert({ ...sent, from: this.id, atMs: this.#now() })
  }

  #changed({ collections }: DatabaseChange): void {
    if (collections.has('servers')) void this.#look()
    const messages = collections.get('messages')
    if (messages !== undefined) void this.#receive(messages.ids).catch(() => {})
  }

  async #giveSignOfLife(): Promise<void> {
    if (this.#isClosed) return
    await this.#servers.upsert({ _id: this.id, startedMs: this.#startedMs, atMs: this.#now() })
    await this.#look()
    for (const [id, atMs] of this.#heard) if (this.#now() - atMs > 2 * MESSAGE_KEPT_MS) this.#heard.delete(id)
    if (this.#leads) await this.#tidy()
  }

  /** Finds out which server leads. */
  #look(): Promise<void> {
    this.#looking = this.#looking
      .then(async () => {
        if (this.#isClosed) return
        const now = this.#now()
        const alive = (await this.#servers.find().toArray()).filter(({ atMs }) => now - atMs < SILENCE_MS_MAX)
        this.#alive = new Set(alive.map(({ _id }) => _id))
        const [first] = alive.sort((a, b) => a.startedMs - b.startedMs || (a._id < b._id ? -1 : 1))
        const leads = first?._id === this.id
        if (leads === this.#leads) return
        this.#leads = leads
        this.#leadListeners.call(leads)
      })
      .catch(() => {})
    return this.#looking
  }

  /** `ids`: of messages that came; undefined: any may have. */
  async #receive(ids: readonly string[] | undefined): Promise<void> {
    const mine = { to: { $in: [this.id, ''] }, from: { $ne: this.id } }
    const found = await this.#messages.find(ids === undefined ? mine : { ...mine, _id: { $in: [...ids] } }).toArray()
    for (const one of found) {
      if (this.#heard.has(one._id)) continue
      this.#heard.set(one._id, this.#now())
      // One that fails takes none of the others with it.
      await this.#hear(one).catch(() => {})
    }
  }

  async #hear({ _id, from, to, re, isQuestion, message }: StoredMessage): Promise<void> {
    if (re === undefined) {
      const asked = message as Message
      const answer: unknown = await this.#listeners.get(asked.topic)?.(asked)
      if (isQuestion)
        await this.#send({ _id: this.#newId(), to: from, re: _id, isQuestion: false, message: answer ?? null })
    } else this.#asked.get(re)?.(message)
    if (to === this.id) await this.#messages.purge(_id)
  }

  /** Deletes documents that nobody needs any more, also of servers that were killed. */
  async #tidy(): Promise<void> {
    const now = this.#now()
    if (now - this.#tidiedMs < TIDY_MS) return
    this.#tidiedMs = now
    const ages = [
      ['messages', MESSAGE_KEPT_MS],
      ['claims', CLAIM_KEPT_MS],
      ['servers', MESSAGE_KEPT_MS],
    ] as const
    for (const [name, keptMs] of ages) {
      const documents = this.#database.collection<{ _id: string; atMs: number }>(name)
      const old = await documents
        .find({ atMs: { $lt: now - keptMs } })
        .fields('_id')
        .toArray()
      for (const { _id } of old) await documents.purge(_id)
    }
  }
}
