/** The database of one account on this device, and its sync. */
import { destroy, open, type Collection, type Database, type OpenOptions, type Transaction } from 'pannier'
import { awaited, untilCancelled } from 'pannier/internal'
import type { Environment } from 'pannier/types'
import { isToBeRefreshed, refreshed, type AccountRecord, type Session } from './account.ts'
import type { Question } from './can.ts'
import { ClientError, closed } from './client-error.ts'
import { LocalTransaction, type WriteMeans } from './local-transaction.ts'
import type { Declared } from './declaration.ts'
import { inOneTab } from './one-tab.ts'
import type { Server } from './server.ts'
import {
  FILES,
  queueId,
  REJECTED,
  QUEUE,
  STATE,
  Store,
  storedCollections,
  type CollectionState,
  type Device,
  type Refused,
  type Rules,
  type StateId,
} from './store.ts'
import type { NamedRecord } from './writes.ts'
import { SyncLoop, type LoopHost, type SyncState } from './sync-loop.ts'

/** The state of a client: its account, its sync, and what waits. */
export interface ClientState extends SyncState {
  /** The account that is signed in; undefined: a guest. */
  readonly account: AccountRecord | undefined
  /** Every collection was here as a whole once. Until then the app shows what has come. */
  readonly isComplete: boolean
  /** The names of those that never were. */
  readonly incomplete: readonly string[]
  /** Unsent transactions, which the server has not answered. */
  readonly unsent: number
  /** Refused transactions, see `client.rejected`. */
  readonly rejected: number
  /** The data of the last account are closed, as they were not in sync for longer than the lease. It must sign in, online. */
  readonly isLeaseOver: boolean
}

/** The outcome of a write at the server. */
type WriteOutcome = { readonly status: 'ok' } | { readonly status: 'rejected'; readonly refused: Refused }

export interface ReplicaOptions extends Pick<OpenOptions, 'storage' | 'durability' | 'encryption' | 'cacheBytesMax'> {
  /** 'users/ID'; null: guests. */
  readonly account: string | null
  readonly declared: Declared
  /** False: it syncs only when it is asked to. */
  readonly live: boolean
  readonly isLeaseOver: boolean
  /** A sync has come to its end. */
  readonly synced: () => Promise<void>
}

type ReplicaParts = Pick<LoopHost, 'db' | 'server' | 'declared' | 'synced'> & Pick<ReplicaOptions, 'account'>

/** The state before anything is known. */
export const STARTING: ClientState = Object.freeze({
  status: 'starting',
  error: undefined,
  received: 0,
  account: undefined,
  isComplete: false,
  incomplete: Object.freeze([]),
  unsent: 0,
  rejected: 0,
  isLeaseOver: false,
})

const SESSION: StateId = '$session'
/**
 * A device may have lost its last commits with the power, and no number of a transaction that was sent may be used again. So a start skips
 * a number of this many hex digits: far more than a device can lose, and few enough for millions of starts.
 */
const SKIPPED_DIGITS = 5

/** Parts of a replica that may have changed: the state, the refused writes, an answer of `can`, or records. */
export type Changed = 'state' | 'rejected' | 'can' | 'records'

/** The ids of records that have changed, by the names of collections. Undefined: they are too many to list. */
export type ChangedRecords = ReadonlyMap<string, readonly string[] | undefined>

/** `records` comes with them. */
type ReplicaListener = (what: Changed, records?: ChangedRecords) => void

export class Replica {
  readonly db: Database
  readonly account: string | null
  /** The replica's database is gone: another tab has wiped it. */
  isLost = false
  readonly #server: Server
  readonly #loop: SyncLoop
  readonly #ended = new AbortController()
  readonly #onChange: ReplicaListener
  readonly #declared: Declared
  readonly #means: WriteMeans
  readonly #records: ReadonlyMap<string, Collection<Record<string, unknown>>>
  #session: Session | undefined
  #state: ClientState
  #tellTabs: () => void = () => {}
  #reading: Promise<void> | undefined
  /** Something has changed since the count under way began. */
  #isStale = false

  static async open(
    server: Server,
    name: string,
    { account, declared, live, isLeaseOver, synced, ...options }: ReplicaOptions,
    signedIn: Session | undefined,
    onChange: ReplicaListener,
  ): Promise<Replica> {
    const db: Database = await open(name, {
      ...options,
      environment: server.environment,
      collections: storedCollections(declared.options),
    })
    try {
      // What is of no collection comes before: it begins with `$`.
      const undeclared = await db
        .collection(STATE)
        .find({ _id: { $gte: '%', $nin: declared.names } })
        .toArray()
      if (undeclared.length > 0) await (await import('./undeclared.ts')).dropCollections(db, undeclared)
      await dropFiles(db)
      const session = await db.transaction(async (tx) => prepare(tx, signedIn, server.environment))
      const replica = new Replica({ account, db, server, declared, synced }, session, onChange, isLeaseOver)
      await replica.#readState()
      if (live) replica.#goLive()
      return replica
    } catch (error) {
      await db.close()
      throw error
    }
  }

  private constructor(
    { account, db, server, declared, synced }: ReplicaParts,
    session: Session | undefined,
    onChange: ReplicaListener,
    isLeaseOver: boolean,
  ) {
    this.db = db
    this.account = account
    void db.closed.then((reason) => {
      this.isLost = reason !== undefined
      this.#ended.abort()
    })
    this.#records = new Map(declared.names.map((name) => [name, db.collection<Record<string, unknown>>(name)]))
    this.#server = server
    this.#declared = declared
    this.#means = { merges: declared.merges, environment: server.environment }
    this.#session = session
    this.#onChange = onChange
    this.#loop = new SyncLoop({
      db,
      server,
      declared,
      means: this.#means,
      synced: async () => {
        await dropFiles(db)
        await synced()
      },
      token: () => this.#token(),
      onState: () => this.#changed(),
    })
    this.#state = { ...STARTING, account: session?.record, incomplete: declared.names, isLeaseOver }
    const stop = db.subscribe(({ collections }) => {
      if ([QUEUE, REJECTED, STATE].some((own) => collections.has(own))) void this.#readState()
      if (collections.has(REJECTED)) onChange('rejected')
      onChange('can')
      const own = new Map([...collections].flatMap(([name, { ids }]) => (name.startsWith('$') ? [] : [[name, ids]])))
      if (own.size > 0) onChange('records', own)
    })
    this.#ended.signal.addEventListener('abort', stop)
  }

  get state(): ClientState {
    return this.#state
  }

  /** The records, to read. Also after the end: then queries have no rows, and nothing throws. */
  records(name: string): Collection<Record<string, unknown>> {
    return this.#records.get(name)!
  }

  /** With counts of this moment. */
  async countedState(): Promise<ClientState> {
    await this.#readState()
    return this.#state
  }

  get isClosed(): boolean {
    return this.#ended.signal.aborted && !this.isLost
  }

  get session(): Session | undefined {
    return this.#session
  }

  /** The state has what came and what was sent when it resolves. */
  sync(signal?: AbortSignal): Promise<void> {
    const sent = async (): Promise<void> => {
      for (let upload; (upload = (await this.#loop.once()).upload) !== undefined;) await upload
      await this.#readState()
    }
    return untilCancelled(awaited(this.#server.environment, sent()), signal, 'The sync')
  }

  /** Undefined: that can't be known here. */
  async can(question: Question): Promise<boolean | undefined> {
    const { answerOf } = await import('./can.ts')
    return await this.db.transaction(async (tx) =>
      answerOf(tx, this.#declared, await new Store(tx).state<Rules>('$rules'), question),
    )
  }

  /** @throws ClientError PANNIER_NOT_FOUND, PANNIER_PEER_UNREACHABLE */
  async file(record: NamedRecord, name: string, signal: AbortSignal | undefined): Promise<Blob> {
    const { fileOf } = await import('./files.ts')
    const source = { db: this.db, server: this.#server, token: () => this.#token(), signal }
    return await untilCancelled(fileOf(source, record, name), signal, 'The download')
  }

  /** Runs `body`, and stores what it wrote for the server. Returns the number of the transaction too. */
  write<R>(
    body: (tx: LocalTransaction) => Promise<R>,
  ): Promise<{ readonly result: R; readonly n: number | undefined }> {
    return this.db.transaction(async (tx) => {
      const local = await LocalTransaction.begin(tx, this.#means)
      const result = await body(local)
      return { result, n: await local.end() }
    })
  }

  /** Resolves when the server has answered. @throws ClientError PANNIER_CLOSED */
  outcome(n: number): Promise<WriteOutcome> {
    const { signal } = this.#ended
    const found = new Promise<WriteOutcome>((resolve, reject) => {
      const close = (): void => {
        stop()
        reject(closed())
      }
      const look = async (): Promise<void> => {
        const outcome = await this.#outcomeOf(n)
        if (outcome === undefined) return
        stop()
        signal.removeEventListener('abort', close)
        resolve(outcome)
      }
      let stop = (): void => {}
      if (signal.aborted) return close()
      stop = this.db.subscribe(({ collections }) => collections.has(QUEUE) && void look().catch(reject))
      signal.addEventListener('abort', close)
      look().catch(reject)
    })
    return awaited(this.#server.environment, found)
  }

  /** Undefined: it waits. What is nowhere was taken, and is forgotten for its age: refused ones stay until then too. */
  async #outcomeOf(n: number): Promise<WriteOutcome | undefined> {
    const store = new Store(this.db)
    const queued = (await store.queue.get(queueId(n))) ?? (await store.queue.find({ merges: n }).first())
    if (queued !== undefined) return queued.status === 'waiting' ? undefined : { status: 'ok' }
    const refused = await store.rejected.find({ members: n }).first()
    return refused === undefined ? { status: 'ok' } : { status: 'rejected', refused }
  }

  async saveSession(session: Session | undefined): Promise<void> {
    this.#session = session
    await this.db.transaction(async (tx) => {
      const state = tx.collection<Record<string, unknown>>(STATE)
      await (session === undefined ? state.purge(SESSION) : state.upsert({ _id: SESSION, ...session }))
    })
  }

  /** Unless another tab has signed out meanwhile. */
  async #replaceSession(session: Session): Promise<void> {
    await this.db.transaction(async (tx) => {
      const state = tx.collection<Record<string, unknown>>(STATE)
      if ((await state.get(SESSION)) === undefined) throw signedOutElsewhere()
      await state.upsert({ _id: SESSION, ...session })
    })
    this.#session = session
  }

  /** The account has signed in again. */
  async renew(session: Session): Promise<void> {
    await this.saveSession(session)
    this.#loop.wake()
  }

  async close(): Promise<void> {
    this.#ended.abort()
    await this.#loop.end()
    await this.db.close()
  }

  /** Also closes it. */
  async destroy(storage: OpenOptions['storage']): Promise<void> {
    const { name } = this.db
    await this.close()
    await destroy(name, storage === undefined ? {} : { storage })
  }

  #goLive(): void {
    const { environment, url } = this.#server
    this.#tellTabs = inOneTab({
      environment,
      name: `pannier-client:${url}:${this.db.name}`,
      signal: this.#ended.signal,
      work: (signal) => this.#loop.run(signal),
      tell: () => {
        const { status, error, received } = this.#loop.state
        return {
          status,
          received,
          error: error && { code: error.code, message: error.message, details: error.details },
        }
      },
      onTold: (told) => {
        const { status, received, error } = told as SyncState
        this.#loop.state = { status, received, error: error && new ClientError(error.code, error.message, error) }
      },
    })
  }

  /** Another tab may have signed in again, or refreshed it. */
  async #token(): Promise<string | undefined> {
    if (this.#session === undefined) return undefined
    const session = await this.db.collection<Session>(STATE).get(SESSION)
    if (session === undefined) throw signedOutElsewhere()
    this.#session = session
    if (isToBeRefreshed(session, this.#server.environment.wallClock()))
      await this.#replaceSession(await refreshed(this.#server, session))
    return this.#session.token
  }

  #changed(): void {
    this.#show({ ...this.#state, ...this.#loop.state })
    this.#tellTabs()
  }

  #show(state: ClientState): void {
    const names = Object.keys(state) as (keyof ClientState)[]
    if (names.every((name) => state[name] === this.#state[name])) return
    this.#state = state
    this.#onChange('state')
  }

  /** Counts again; one count at a time. */
  #readState(): Promise<void> {
    this.#isStale = true
    return (this.#reading ??= this.#countAll())
  }

  async #countAll(): Promise<void> {
    try {
      do {
        this.#isStale = false
        await this.#count()
      } while (this.#isStale)
    } catch (error) {
      if (!this.#ended.signal.aborted) throw error
    } finally {
      // In the same step as the last look: who asks from now on starts another count.
      this.#reading = undefined
    }
  }

  async #count(): Promise<void> {
    const store = new Store(this.db)
    const states = await Promise.all(this.#declared.names.map((name) => store.state<CollectionState>(name)))
    const unsent = await store.queue.find({ status: 'waiting' }).count()
    const { length: rejected } = await store.undecided()
    const missing = this.#declared.names.filter((_, index) => states[index]?.isShown !== true)
    const before = this.#state.incomplete
    // Equal lists are one object, so that the state stays the same.
    const incomplete = missing.join(' ') === before.join(' ') ? before : missing
    const isComplete = incomplete.length === 0
    this.#show({ ...this.#state, account: this.#session?.record, isComplete, incomplete, unsent, rejected })
  }
}

/** Deletes content that nothing needs any more. */
async function dropFiles(db: Database): Promise<void> {
  if ((await db.collection(FILES).info()).documents > 0) await (await import('./files.ts')).dropFiles(db)
}

function signedOutElsewhere(): ClientError {
  return new ClientError('PANNIER_SIGNED_OUT', 'Another tab has signed out.')
}

/** The session and the device of a database. */
async function prepare(
  tx: Transaction,
  signedIn: Session | undefined,
  environment: Environment,
): Promise<Session | undefined> {
  const store = new Store(tx)
  const device = await store.state<Device>('$device')
  const skipped = parseInt(environment.randomId().slice(0, SKIPPED_DIGITS), 16)
  if (device === undefined)
    await store.setState({ _id: '$device', device: environment.randomId(), next: 1, boot: null })
  else await store.setState({ ...device, next: device.next + skipped })
  const state = tx.collection<Record<string, unknown>>(STATE)
  if (signedIn !== undefined) await state.upsert({ _id: SESSION, ...signedIn })
  const kept = await state.get(SESSION)
  return kept as Session | undefined
}
