/**
 * The connections of one process to one PostgreSQL.
 *
 * Guarantees: statements that are given together run in one transaction, in one round trip. A failure is `Refused` (nothing has
 * happened) or `UnknownOutcome`. A connection that has failed is never used again. Idle connections keep no process alive.
 */
import { Socket } from 'node:net'
import { Client, Query, type QueryArrayResult } from 'pg'
import { pause } from 'pannier/internal'
import type { Environment } from 'pannier/types'
import { outcomeOf, Refused, stateOf, UnknownOutcome } from './errors.ts'
import type { Settings } from './options.ts'

/** `name`: prepared under that name. */
export interface Statement {
  readonly text: string
  readonly values?: readonly unknown[]
  readonly name?: string
}

export interface Result {
  /** Columns of type int8 are numbers, bool are booleans, all others text; null stays null. */
  readonly rows: readonly (readonly unknown[])[]
  /** Rows that were read or written. */
  readonly count: number
}

const CONNECT_MS_MAX = 5000
const KEEP_ALIVE_MS = 5000
/** A call that has no answer for so long is taken for lost. */
const ANSWER_MS_MAX = 20_000
const PAUSE_MS_FIRST = 50
const PAUSE_MS_MAX = 1000

/** A commit whose wait for its standby was ended comes with a warning, and no error. */
const WARNING = '01000'

const INT8 = 20
const BOOL = 16

/** The two types that are not read as text. */
const TYPES = {
  getTypeParser: (type: number) => (text: string) =>
    type === INT8 ? Number(text) : type === BOOL ? text === 't' : text,
}

export class Connections {
  /** Statements and round trips since the start. */
  readonly counts: { statements: number; trips: number } = { statements: 0, trips: 0 }
  readonly #settings: Settings
  readonly #environment: Environment
  readonly #open: (Connection | undefined)[] = []
  readonly #opening: (Promise<Connection> | undefined)[] = []
  #users = 0

  constructor(settings: Settings, environment: Environment) {
    this.#settings = settings
    this.#environment = environment
  }

  /** Adds one user: the connections stay until all users have left. */
  join(): void {
    this.#users++
  }

  leave(): void {
    if (--this.#users === 0) this.#end()
  }

  /** @throws Refused, UnknownOutcome */
  one(statement: Statement): Promise<Result> {
    return this.#use(1, (connection) => connection.run(statement))
  }

  /** Runs all statements or none. @throws Refused, UnknownOutcome */
  transaction(statements: readonly Statement[]): Promise<readonly Result[]> {
    return this.#use(statements.length, (connection) => connection.runTogether(statements))
  }

  /** Runs `work`, which must be safe to repeat, again and again while PostgreSQL can't be reached. */
  async patiently<T>(work: () => Promise<T>, patience: Patience = this.patience()): Promise<T> {
    for (;;) {
      try {
        return await work()
      } catch (error) {
        await patience.pauseAfter(error)
      }
    }
  }

  patience(limits: PatienceLimits = {}): Patience {
    return new Patience(this.#environment, this.#settings.waitMsMax, limits)
  }

  /** A connection that hears what is said on `channel`. `ended` is called once, also when it could not be made. */
  async listen(channel: string, heard: (text: string) => void, ended: () => void): Promise<() => void> {
    const client = await connectToPrimary(this.#settings, this.#settings.listenUrls).catch((error: unknown) => {
      ended()
      throw error
    })
    client.unref()
    client.on('notification', ({ payload }) => heard(payload ?? ''))
    client.once('end', ended)
    client.on('error', () => {})
    await client.query(`listen ${channel}`).catch(async (error: unknown) => {
      await client.end()
      throw error
    })
    return () => {
      client.removeListener('end', ended)
      void client.end()
    }
  }

  async #use<T>(statements: number, work: (connection: Connection) => Promise<T>): Promise<T> {
    const connection = await this.#take()
    this.counts.trips++
    this.counts.statements += statements
    try {
      return await work(connection)
    } finally {
      // The last user has left meanwhile: nobody else would end what was opened after that.
      if (this.#users === 0) this.#end()
    }
  }

  #end(): void {
    for (const connection of this.#open.splice(0)) connection?.end()
  }

  /** The least busy one. */
  async #take(): Promise<Connection> {
    let best: Connection | undefined
    for (let i = 0; i < this.#settings.connectionsMax; i++) {
      const connection = this.#open[i]
      if (connection === undefined || connection.hasFailed) {
        if (best === undefined || best.isBusy) return this.#connect(i)
        break
      }
      if (best === undefined || connection.pending < best.pending) best = connection
      if (!best.isBusy) break
    }
    return best!
  }

  #connect(i: number): Promise<Connection> {
    this.#opening[i] ??= connectToPrimary(this.#settings, this.#settings.urls)
      .then((client) => (this.#open[i] = new Connection(client, this.#settings.prepare)))
      .catch((error: unknown) => {
        throw new Refused(stateOf(error) === undefined || isPassing(error), error)
      })
      .finally(() => (this.#opening[i] = undefined))
    return this.#opening[i]
  }
}

export interface PatienceLimits {
  /** The signal that ends it. */
  readonly signal?: AbortSignal
  /** Whether it is awaited: somebody still waits for the call, so that the process stays alive for it. */
  readonly isAwaited?: () => boolean
}

/** For what is done again, or that nobody waits for. */
export const UNAWAITED: PatienceLimits = { isAwaited: () => false }

/** The waits of one call, in all bounded. */
export class Patience {
  readonly #environment: Environment
  readonly #untilMs: number
  readonly #limits: PatienceLimits
  #pauseMs = PAUSE_MS_FIRST

  constructor(environment: Environment, waitMsMax: number, limits: PatienceLimits) {
    this.#environment = environment
    this.#limits = limits
    this.#untilMs = environment.now() + waitMsMax
  }

  get isOver(): boolean {
    return this.#limits.signal?.aborted === true || this.#environment.now() >= this.#untilMs
  }

  /** Throws the error where another try is of no use, or the time is over. */
  async pauseAfter(error: unknown): Promise<void> {
    const again = error instanceof UnknownOutcome || (error instanceof Refused && error.isPassing)
    if (!again || this.isOver) throw error
    const [byte] = this.#environment.randomBytes(1)
    const { signal, isAwaited } = this.#limits
    await pause(this.#environment, this.#pauseMs * (0.5 + byte! / 512), signal, isAwaited?.())
    this.#pauseMs = Math.min(2 * this.#pauseMs, PAUSE_MS_MAX)
  }
}

/** The types of the driver leave some of its methods out. */
type PgClient = Client & { ref(): void; unref(): void }

interface Protocol {
  readonly stream: { cork(): void; uncork(): void }
  sync(): void
}

type Answer = (error: unknown, result: QueryArrayResult | QueryArrayResult[]) => void

/**
 * The isolation level does not depend on the defaults of role and database: fences need statements that see what was
 * committed before them.
 */
const BEGIN = 'begin isolation level read committed read write'

/**
 * Statements under one Sync: PostgreSQL skips what follows a failure. Each with its own would run alone after a `begin` that has failed,
 * by `statement_timeout` for example.
 */
class Batch extends Query {
  override readonly submit = (connection: unknown): null => {
    const protocol = connection as Protocol
    const unended = Object.create(protocol, { sync: { value: () => {} } }) as Protocol
    protocol.stream.cork()
    for (const part of this.#parts) part.prepare(unended)
    protocol.sync()
    protocol.stream.uncork()
    return null
  }
  readonly #parts: readonly { prepare(protocol: Protocol): void }[]

  constructor(statements: readonly Statement[], answer: Answer) {
    const config = { text: BEGIN, rowMode: 'array', types: TYPES }
    super(config as never, undefined, answer as never)
    this.#parts = [{ text: BEGIN }, ...statements].map(
      ({ text, values = [] }: Statement) => new Query({ text, values: [...values] }) as never,
    )
  }
}

class Connection {
  pending = 0
  hasFailed = false
  /** Warnings of PostgreSQL. */
  #warnings = 0
  readonly #client: PgClient
  readonly #prepare: boolean

  constructor(client: PgClient, prepare: boolean) {
    this.#client = client
    this.#prepare = prepare
    client.on('error', () => (this.hasFailed = true))
    client.once('end', () => (this.hasFailed = true))
    client.on('notice', ({ code }) => (this.#warnings += code === WARNING ? 1 : 0))
    client.unref()
  }

  get isBusy(): boolean {
    return this.pending > 0
  }

  async run(statement: Statement): Promise<Result> {
    const [result] = await this.#answers([() => this.#query(statement)])
    return resultOf(result!)
  }

  /** Runs all statements or none. They are sent together. */
  async runTogether(statements: readonly Statement[]): Promise<Result[]> {
    const together = (): Promise<QueryArrayResult[]> =>
      new Promise((resolve, reject) => {
        const answer: Answer = (error, results) => (error ? reject(error) : resolve(results as QueryArrayResult[]))
        this.#client.query(new Batch(statements, answer))
      })
    // What has failed ends with the `commit`, which then undoes it.
    const [results] = await this.#answers<unknown>([together, () => this.#query({ text: 'commit' })])
    return (results as QueryArrayResult[]).slice(1).map(resultOf)
  }

  async #answers<T>(queries: readonly (() => Promise<T>)[]): Promise<T[]> {
    if (this.pending++ === 0) this.#client.ref()
    const warnings = this.#warnings
    try {
      const answers = await Promise.allSettled(queries.map((query) => query()))
      const failed = answers.filter((answer) => answer.status === 'rejected').map(({ reason }) => reason as unknown)
      if (failed.length > 0) throw this.#failure(failed)
      if (this.#warnings > warnings) throw this.#failure([new Error('a standby may not have the commit')])
      return answers.map((answer) => (answer as PromiseFulfilledResult<T>).value)
    } finally {
      if (--this.pending === 0 && !this.hasFailed) this.#client.unref()
    }
  }

  end(): void {
    this.hasFailed = true
    this.#client.end().catch(() => {})
  }

  #query({ text, values = [], name }: Statement): Promise<QueryArrayResult> {
    const named = name === undefined || !this.#prepare ? {} : { name }
    return this.#client.query({ text, values: [...values], rowMode: 'array', ...named })
  }

  #failure(failed: readonly unknown[]): Refused | UnknownOutcome {
    const [first] = failed
    const outcomes = failed.map(outcomeOf)
    // A connection that ends in the middle of a transaction may have sent its commit.
    const unknown = outcomes.find((outcome) => outcome instanceof UnknownOutcome)
    const outcome = unknown ?? outcomeOf(first)
    // The next connection may find another server: this one is a standby, is stopping, or is gone.
    if (unknown !== undefined || stateOf(first) === '25006') this.end()
    return outcome
  }
}

function resultOf({ rows, rowCount }: QueryArrayResult): Result {
  return { rows: rows as unknown[][], count: rowCount ?? 0 }
}

function isPassing(error: unknown): boolean {
  const outcome = outcomeOf(error)
  return outcome instanceof UnknownOutcome || outcome.isPassing
}

/** Connects to the primary: the first host that takes writes. */
async function connectToPrimary({ ssl, place }: Settings, urls: readonly string[]): Promise<PgClient> {
  let failure: unknown
  for (const connectionString of urls) {
    const client = new Client({
      connectionString,
      ...(ssl === undefined ? {} : { ssl }),
      application_name: 'pannier',
      connectionTimeoutMillis: CONNECT_MS_MAX,
      query_timeout: ANSWER_MS_MAX,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      // The driver listens to its own socket when it has connected. An error before that would end the process.
      stream: () => new Socket().on('error', () => {}),
      types: TYPES,
      pipeline: true,
    } as ConstructorParameters<typeof Client>[0]) as PgClient
    // A connection that fails while nobody asks it anything is found out with the next call.
    client.on('error', () => {})
    try {
      await client.connect()
      const { rows } = await client.query({ text: 'select pg_is_in_recovery()', rowMode: 'array' })
      if (rows[0]?.[0] === false) return client
      failure = readOnly(place)
    } catch (error) {
      failure = error
    }
    client.end().catch(() => {})
  }
  throw failure
}

/** The error of a read-only server, as it would answer a write. */
function readOnly(place: string): Error {
  return Object.assign(new Error(`${place} is a standby`), { code: '25006', severity: 'ERROR' })
}
