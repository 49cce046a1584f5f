/**
 * The knowledge about other processes that the handles of one process share. One connection hears their messages. A
 * poll makes up for what it has missed. A heartbeat keeps the pins of this process.
 *
 * Messages only make things quicker. Whatever is lost, the next poll finds. A process that gives no sign of life for
 * `SERVER_SILENCE_MS_MAX` has no pins any more.
 */
import { createHash } from 'node:crypto'
import { every } from 'pannier/internal'
import type { CommitSequence, Generation, Hint } from 'pannier/storage'
import type { Environment } from 'pannier/types'
import { UNAWAITED, type Connections, type PatienceLimits, type Result, type Statement } from './connections.ts'
import type { Settings } from './options.ts'
import type { Schema } from './schema.ts'

/** Somebody wants the lease; somebody has it now; its holder has let go; a commit. */
export type Message = 'want' | 'held' | Freed | Hint

/** The request that has the lease now, or '' for none, and whether others wait. */
export interface Freed {
  readonly holder: string
  readonly isWanted: boolean
}

export interface Member {
  readonly name: string
  /** Names the handle among those of all processes. */
  readonly self: string
  heard(message: Message): void
  /** There may be something to look for. */
  look(): void
  /** The request that it has the lease by. */
  readonly held: string | undefined
  /** Reports a poll that began while this handle had the lease by the request `held`: who has the lease now. */
  turn(held: string, holder: string | null, isWanted: boolean): void
}

const SERVER_SILENCE_MS_MAX = 30_000
const HEARTBEAT_MS = 10_000
/** Rows of servers that are gone, and their pins, stay so long. */
const FORGOTTEN = `interval '1 day'`
const LISTEN_AGAIN_MS = 500
const NAME_LENGTH_MAX = 63
/** The length of a name of a process, or of a handle. */
export const ID_LENGTH = 16

/** The table of turns in a schema, and the like. */
type Tables = (name: 'turn' | 'pin' | 'server' | 'fence' | 'database') => string

interface HubParts {
  readonly connections: Connections
  readonly schema: Schema
  readonly settings: Settings
  readonly environment: Environment
}

export class Hub {
  readonly server: string
  readonly tables: Tables
  readonly #connections: Connections
  readonly #schema: Schema
  readonly #settings: Settings
  readonly #environment: Environment
  readonly #members = new Map<string, Set<Member>>()
  /** The newest state of each database that a poll has found. */
  readonly #states = new Map<string, string | null>()
  /** The queue of messages that wait for one statement. */
  readonly #queue = new Map<string, string>()
  #sending = false
  #beating: Promise<void> | undefined
  #timers: (() => void)[] = []
  #stopListening: (() => void) | undefined
  #polling = false

  constructor({ connections, schema, settings, environment }: HubParts) {
    this.server = environment.randomId().slice(0, ID_LENGTH)
    this.#environment = environment
    this.#connections = connections
    this.#schema = schema
    this.#settings = settings
    this.tables = (name) => `${settings.schema}.${name}`
  }

  async query(statement: Statement, limits?: PatienceLimits): Promise<Result> {
    await this.#schema.ready()
    return this.#connections.patiently(() => this.#connections.one(statement), this.#connections.patience(limits))
  }

  join(member: Member): void {
    if (this.#members.size === 0) this.#start()
    const key = keyOf(member.name)
    let members = this.#members.get(key)
    if (members === undefined) this.#members.set(key, (members = new Set()))
    members.add(member)
  }

  leave(member: Member): void {
    const key = keyOf(member.name)
    const members = this.#members.get(key)
    members?.delete(member)
    if (members?.size === 0) {
      this.#members.delete(key)
      this.#states.delete(member.name)
    }
    if (this.#members.size === 0) this.#stop()
  }

  /** To all other handles of that database, in this process and in others. */
  send(member: Member, message: 'held' | Hint): void {
    this.sendHere(member, message)
    if (!this.#settings.notify) return
    const isHint = typeof message === 'object'
    const text = isHint ? `hint:${message.sequence}:${message.generation}` : message
    const key = keyOf(member.name)
    // A newer hint takes the place of one that waits.
    this.#queue.set(`${key}:${member.self}:${isHint ? 'hint' : message}`, `${key}:${this.server}:${text}`)
    if (!this.#sending) void this.#send()
  }

  /** To the other handles of that database in this process. */
  sendHere(member: Member, message: Message): void {
    for (const other of this.#members.get(keyOf(member.name)) ?? [])
      if (other !== member) void this.#environment.yield().then(() => other.heard(message))
  }

  /**
   * SQL that tells the other processes, as a part of the statement that makes it true: nobody waits for a second one. `message` is SQL:
   * `'want'`, or `'free:'` with the holder and whether others wait.
   */
  telling(member: Member, message: string): string {
    if (!this.#settings.notify) return 'null'
    return `pg_notify('${this.#channel}', '${keyOf(member.name)}:${this.server}:' || ${message})`
  }

  /** All handles of that database look again, in this process and in others. */
  async announce(name: string): Promise<void> {
    const key = keyOf(name)
    for (const member of this.#members.get(key) ?? []) member.look()
    if (!this.#settings.notify) return
    this.#queue.set(key, `${key}:${this.server}:hint:0:0`)
    if (!this.#sending) await this.#send()
  }

  /** Resolves when this process is known to be alive: its pins count from then on. */
  alive(): Promise<void> {
    this.#beating ??= this.#beat().catch((error: unknown) => {
      this.#beating = undefined
      throw error
    })
    return this.#beating
  }

  async #beat(limits?: PatienceLimits): Promise<void> {
    const server = this.tables('server')
    const text = `insert into ${server} (server, until) values ($1, clock_timestamp() + interval '${SERVER_SILENCE_MS_MAX} ms')
      on conflict (server) do update set until = excluded.until`
    await this.query({ text, values: [this.server] }, limits)
  }

  async #forget(): Promise<void> {
    const [server, pin] = [this.tables('server'), this.tables('pin')]
    const text = `with gone as (delete from ${server} where until < clock_timestamp() - ${FORGOTTEN} returning server)
      delete from ${pin} where server in (select server from gone)`
    await this.query({ text }, UNAWAITED)
  }

  #start(): void {
    this.#connections.join()
    const { pollMs, notify } = this.#settings
    const repeat = (ms: number, work: () => Promise<void>): void => {
      // A failure shows itself to the next call.
      this.#timers.push(every(this.#environment, ms, () => void work().catch(() => {})))
    }
    repeat(pollMs, () => this.#poll())
    repeat(HEARTBEAT_MS, async () => {
      if (this.#beating !== undefined) await this.#beat(UNAWAITED)
    })
    repeat(SERVER_SILENCE_MS_MAX * 10, () => this.#forget())
    if (notify) void this.#listen()
  }

  #stop(): void {
    for (const stop of this.#timers.splice(0)) stop()
    this.#stopListening?.()
    this.#stopListening = undefined
    const text = `delete from ${this.tables('server')} where server = $1`
    const gone = this.#beating && this.#connections.one({ text, values: [this.server] }).catch(() => {})
    this.#beating = undefined
    void Promise.resolve(gone).then(() => this.#connections.leave())
  }

  async #listen(): Promise<void> {
    const again = (): void => {
      this.#stopListening = undefined
      this.#environment.after(LISTEN_AGAIN_MS, () => {
        if (this.#members.size > 0 && this.#stopListening === undefined) void this.#listen()
      })
    }
    try {
      const stop = await this.#connections.listen(this.#channel, (text) => this.#heard(text), again)
      if (this.#members.size === 0 || this.#stopListening !== undefined) return stop()
      this.#stopListening = stop
      // What was said before is lost.
      for (const members of this.#members.values()) for (const member of members) member.look()
    } catch {
      // `again` was called.
    }
  }

  get #channel(): string {
    // No longer than PostgreSQL takes. Hints of another schema only make a handle look.
    return `pannier_${this.#settings.schema}`.slice(0, NAME_LENGTH_MAX)
  }

  async #send(): Promise<void> {
    this.#sending = true
    while (this.#queue.size > 0) {
      const messages = [...this.#queue.values()]
      this.#queue.clear()
      const text = `select pg_notify('${this.#channel}', message) from unnest(string_to_array($1, ' ')) message`
      await this.#connections.one({ text, values: [messages.join(' ')] }).catch(() => {})
    }
    this.#sending = false
  }

  #heard(text: string): void {
    const [key = '', from, kind, first = '', second = ''] = text.split(':')
    if (from === this.server) return
    let message: Message = kind === 'want' ? 'want' : 'held'
    if (kind === 'hint')
      message = { sequence: Number(first) as CommitSequence, generation: Number(second) as Generation }
    if (kind === 'free') message = { holder: first, isWanted: second === 'true' }
    for (const member of this.#members.get(key) ?? []) member.heard(message)
  }

  /** One statement for all databases of this process. */
  async #poll(): Promise<void> {
    if (this.#polling) return
    this.#polling = true
    try {
      const names = [...this.#members.values()].map((members) => members.values().next().value!.name)
      // The answer says nothing of a lease that came after the question.
      const held = new Map<Member, string>()
      for (const members of this.#members.values())
        for (const member of members) if (member.held !== undefined) held.set(member, member.held)
      const [fence, database, turn] = [this.tables('fence'), this.tables('database'), this.tables('turn')]
      const poll: Statement = {
        name: 'pannier_poll',
        text: `select n.name, case when f.away is null then f.place || ' ' || (f.sequence + f.generation) end, t.holder, t.wanted is not null from unnest($1::text[]) n (name)
          left join ${database} d on d.name = n.name left join ${fence} f on f.database = d.id
          left join ${turn} t on t.name = n.name`,
        values: [names],
      }
      const { rows } = await this.query(poll, UNAWAITED)
      for (const [name, state, holder, isWanted] of rows as [string, string | null, string | null, boolean][])
        this.#found(name, state, (member) => {
          const request = held.get(member)
          if (request !== undefined) member.turn(request, holder, isWanted)
        })
    } finally {
      this.#polling = false
    }
  }

  #found(name: string, state: string | null, turn: (member: Member) => void): void {
    // Null: it is elsewhere, on its way, or was never here.
    const isNews = state !== (this.#states.get(name) ?? null)
    this.#states.set(name, state)
    for (const member of this.#members.get(keyOf(name)) ?? []) {
      turn(member)
      if (isNews) member.look()
    }
  }
}

/** A name may be longer than what a message may have. */
function keyOf(name: string): string {
  return createHash('sha256').update(name).digest('base64url').slice(0, 16)
}
