/// <reference lib="esnext.disposable" preserve="true" />
/** The client of an app: who is signed in, the records that the account may see, and the writes that wait. */
import { open, type Database, type OpenOptions } from 'pannier'
import { badArgument, checkListener, checkOptions, every, systemEnvironment, tellListener } from 'pannier/internal'
import type { OptionNames } from 'pannier/internal'
import { accountKey, endSession, sessionOf, type AccountRecord, type Session, type SignedIn } from './account.ts'
import type { Question } from './can.ts'
import { ClientError, closed } from './client-error.ts'
import {
  clientCollection,
  questionOf,
  transactionCollection,
  type ClientCollection,
  type CollectionTypes,
  type TransactionWriting,
} from './collection.ts'
import { readDeclarations, type CollectionDeclaration, type Declared } from './declaration.ts'
import type { Leases } from './lease.ts'
import { Replica, STARTING } from './replica.ts'
import type { Changed, ChangedRecords, ClientState, ReplicaOptions } from './replica.ts'
import { Server, WAITING, type Waiting } from './server.ts'
import { SignIn } from './sign-in.ts'
import { ACCOUNTS } from './store.ts'
import { rejectedOf, startWrite, unsentOf, type RejectedWrite, type UnsentWrite, type Write } from './write.ts'
import type { NamedRecord, Values } from './writes.ts'

/** Collections by name, as `pannier types --client` writes them. */
export type AppTypes<Types> = { readonly [Name in keyof Types]: CollectionTypes }

/** The options of `connect`. */
export interface ConnectOptions<Names extends string = string> extends Pick<
  OpenOptions,
  'storage' | 'durability' | 'cacheBytesMax' | 'environment'
> {
  /** The collections that the app reads and writes: their names, or by name their indexes as `open` of the library takes them. */
  readonly collections: readonly Names[] | { readonly [Name in Names]?: CollectionDeclaration }
  /** The beginning of the names of databases on this device. By default it is derived from the URL. In Node it is the beginning of a path. */
  readonly name?: string
  /** Encrypts what is on the device: a password or key, or what gives one for each account. */
  readonly encryption?:
    | OpenOptions['encryption']
    | ((account: string) => Promise<NonNullable<OpenOptions['encryption']>>)
  /**
   * How long a device opens the data of an account without sync: `'30d'`, `'12h'`, or milliseconds. Then the account must sign in, online.
   * It needs `encryption`, and is chosen before the first data are there.
   */
  readonly lease?: string | number
  /** Milliseconds until a request has failed; 60,000 by default. */
  readonly requestMsMax?: number
  /** False: it syncs when `client.sync()` is called. True by default: it sends at once, and hears of what is new. */
  readonly live?: boolean
}

/** Collections without types. */
export type UntypedCollections = Record<string, Record<keyof CollectionTypes, Record<string, unknown>>>

/** The question of `client.can`. A record has the name of its collection. */
export type CanQuestion =
  | readonly [action: 'create', collection: string, values: Values]
  | readonly [action: 'update', record: NamedRecord, values?: Values]
  | readonly [action: 'delete', record: NamedRecord]

/** The record beside the databases of accounts: who was signed in last. */
interface Current {
  readonly _id: 'current'
  readonly account: string | null
}

const CONNECT_OPTIONS: OptionNames<ConnectOptions> = {
  collections: true,
  name: true,
  encryption: true,
  lease: true,
  requestMsMax: true,
  live: true,
  storage: true,
  durability: true,
  cacheBytesMax: true,
  environment: true,
}
const GUEST = 'guest'
const COLLECTIONS_MAX = 50
const REQUEST_MS_MAX = 60_000
/** How often a lease is looked at while a client is open. */
const LEASE_CHECK_MS = 60_000

/**
 * Connects an app with its server. It needs no network: what the device has is there at once.
 *
 * @example
 * const client = await connect('https://example.com', { collections: { tasks: { indexes: ['project'] } } })
 * await client.signIn.password('users', 'ann@example.com', password)
 * show(await client.collection('tasks').find({ done: false }).toArray())
 */
export async function connect<Types extends AppTypes<Types> = UntypedCollections>(
  url: string | URL,
  options: ConnectOptions<NoInfer<keyof Types & string>>,
): Promise<Client<Types>> {
  checkOptions('connect()', options, CONNECT_OPTIONS)
  const declared = readDeclarations(options.collections)
  const { length } = declared.names
  if (length === 0 || length > COLLECTIONS_MAX)
    throw badArgument('connect()', `collections must be 1 to ${COLLECTIONS_MAX}`, length)
  const { requestMsMax = REQUEST_MS_MAX, environment = systemEnvironment(), lease, encryption } = options
  if (lease !== undefined && encryption === undefined)
    throw badArgument('connect()', 'encryption must be given with a lease', encryption)
  const leasing = lease === undefined ? undefined : await import('./lease.ts')
  const leasedMs = leasing?.leaseMs(lease!)
  const server = new Server(url, requestMsMax, environment)
  const { host, pathname } = new URL(server.url)
  const name = options.name ?? `pannier-${host}${pathname.replace(/\/$/, '').replaceAll('/', '-')}`
  const accounts = await open(`${name}-${ACCOUNTS}`, defined({ storage: options.storage, environment }))
  const leases = leasing && new leasing.Leases(accounts, server, leasedMs!)
  const client = new Client<Types>({ server, name, options, declared, accounts, leases })
  try {
    await client.start()
  } catch (error) {
    await client.close()
    throw error
  }
  return client
}

interface ClientParts {
  readonly server: Server
  readonly name: string
  readonly options: ConnectOptions
  readonly declared: Declared
  readonly accounts: Database
  readonly leases: Leases | undefined
}

interface Switch {
  readonly session?: Session
  /** The server's half of the key, of an account with a lease. */
  readonly share?: string | undefined
  /** The fate of the data of the account that was signed in before. */
  readonly data?: 'keep' | 'wipe'
  /** Another tab has changed the account, and has said so. */
  readonly isFollowing?: boolean
  /** The account of before is to sign in again. */
  readonly isLeaseOver?: boolean
}

/** An app's end of a server. `connect` makes it. */
export class Client<Types extends AppTypes<Types>> {
  /** Ways to sign in. */
  readonly signIn: SignIn
  /** @internal */
  readonly environment: NonNullable<ConnectOptions['environment']>
  readonly #parts: ClientParts
  readonly #listeners = new Set<readonly [what: Changed, listener: (records: ChangedRecords) => void]>()
  /** There is one from the start to the end, also while the account changes: what a page renders meanwhile reads it. */
  #replica: Replica | undefined
  /** Undefined: its writes would be lost, as it is about to go. */
  #writable: Replica | undefined
  #stopLooking: () => void = () => {}
  #stopFollowing: () => void = () => {}
  /** The last change of the account. */
  #last: Promise<unknown> = Promise.resolve()
  #isClosed = false

  /** @internal */
  constructor(parts: ClientParts) {
    this.#parts = parts
    this.environment = parts.server.environment
    this.signIn = new SignIn(
      parts.server,
      (signedIn) => this.#afterLast(() => this.#enter(signedIn)),
      () => this.#replica?.session,
    )
  }

  /** The account that is signed in; undefined: nobody is. */
  get account(): AccountRecord | undefined {
    return this.state.account
  }

  /** The account, its sync, and how much waits. Another object when something has changed. While the account changes: of the one before. */
  get state(): ClientState {
    return this.#replica?.state ?? STARTING
  }

  /** @internal The database of the account, for devtools. */
  get db(): Database | undefined {
    return this.#replica?.db
  }

  /** The token of the session, for requests of the app's own. Undefined: nobody is signed in, or the client is closed. */
  get token(): string | undefined {
    return this.#isClosed ? undefined : this.#replica?.session?.token
  }

  /**
   * Calls back with the ids of records that have changed on this device, by collection, also by another tab. Undefined: too many to list.
   * The function returned ends it. A live query is better where it is enough.
   *
   * @example
   * const stop = client.subscribe((changed) => show([...changed.keys()]))
   */
  subscribe(listener: (changed: ChangedRecords) => void): () => void {
    return this.#listen('records', listener)
  }

  /**
   * Calls back with `state`, soon, and when it is another one. The function returned ends it.
   *
   * @example
   * const stop = client.subscribeState(({ unsent }) => show(unsent))
   */
  subscribeState(listener: (state: ClientState) => void): () => void {
    return this.#watch('state', async ({ state }) => state, STARTING, listener)
  }

  /**
   * A collection of the account that is signed in when it is used.
   *
   * @example
   * const live = client.collection('tasks').find({ done: false }).live()
   */
  collection<Name extends keyof Types & string>(name: Name): ClientCollection<Types[Name]> {
    this.#check('collection', name)
    return clientCollection(
      { open: () => this.#open(), read: () => this.#openToRead(), write: () => this.#openToWrite() },
      name,
    )
  }

  /**
   * Several writes, all or nothing, here and at the server. Read and write through `tx` only.
   *
   * @example
   * await client.transaction(async (tx) => {
   *   const { id } = await tx.collection('projects').create({ name: 'House' })
   *   await tx.collection('tasks').create({ title: 'Roof', project: id })
   * })
   */
  transaction<R>(
    body: (tx: {
      collection<Name extends keyof Types & string>(name: Name): TransactionWriting<Types[Name]>
    }) => Promise<R>,
  ): Write<R> {
    return startWrite(this.#openToWrite(), (local) =>
      body({
        collection: (name) => {
          this.#check('collection', name)
          return transactionCollection(local, name)
        },
      }),
    )
  }

  /**
   * Transactions that the server has not answered, in the order in which they are sent. `state.unsent` counts them.
   *
   * @example
   * for (const { writes } of await client.unsent()) console.log(writes.map(({ action, id }) => `${action} ${id}`))
   */
  unsent(): Promise<UnsentWrite[]> {
    return unsentOf(this.#open())
  }

  /**
   * Writes that the server refused, the oldest first. `state.rejected` counts them.
   *
   * @example
   * for (const rejected of await client.rejected()) console.log(rejected.message, rejected.writes, rejected.theirs)
   */
  rejected(): Promise<RejectedWrite[]> {
    return rejectedOf(this.#open())
  }

  /**
   * Calls back with what `rejected()` gives, soon, and when it is something else. The function returned ends it.
   *
   * @example
   * const stop = client.subscribeRejected((all) => show(all.map(({ message }) => message)))
   */
  subscribeRejected(listener: (rejected: readonly RejectedWrite[]) => void): () => void {
    return this.#watch('rejected', rejectedOf, [], listener)
  }

  /**
   * Whether the rules admit a write, by what is on this device. Undefined: that can't be known here.
   *
   * @example
   * button.disabled = (await client.can('update', task)) === false
   */
  can(...question: CanQuestion): Promise<boolean | undefined> {
    return this.#open().can(this.#questionOf(question))
  }

  /**
   * Calls back with what `can` answers, soon, and when it is something else. The function returned ends it.
   *
   * @example
   * const stop = client.subscribeCan(['delete', task], (answer) => (button.hidden = answer === false))
   */
  subscribeCan(question: CanQuestion, listener: (answer: boolean | undefined) => void): () => void {
    const asked = this.#questionOf(question)
    return this.#watch('can', (replica) => replica.can(asked), undefined, listener)
  }

  /**
   * The content of a file of a record. One that waits on this device, or was read before, needs no network.
   *
   * @throws ClientError PANNIER_NOT_FOUND, PANNIER_PEER_UNREACHABLE; PannierError PANNIER_ABORTED
   * @example
   * const content = await client.file(task, 'sea_a1b2c3d4e5.jpg')
   */
  file(record: NamedRecord, name: string, options: Waiting = {}): Promise<Blob> {
    checkOptions('file()', options, WAITING)
    return this.#open().file(record, name, options.signal)
  }

  /**
   * Sends what waits and pulls what is new, now. A signal ends the wait; what is under way continues.
   *
   * @throws ClientError PANNIER_PEER_UNREACHABLE, PANNIER_SIGNED_OUT, PANNIER_PEER_REFUSED; PannierError PANNIER_ABORTED
   * @example
   * await client.sync({ signal: AbortSignal.timeout(10_000) })
   */
  sync(options: Waiting = {}): Promise<void> {
    checkOptions('sync()', options, WAITING)
    return this.#open().sync(options.signal)
  }

  /**
   * Ends the session. `keep` (default): the data stay for the next time, and so does what waits. `wipe`: they are deleted.
   *
   * @throws ClientError PANNIER_WRITES_UNSENT: `wipe` would lose writes that the server does not have; `discard: true` says that it may.
   * @example
   * await client.signOut({ data: 'wipe' })
   */
  async signOut(options: { readonly data?: 'keep' | 'wipe'; readonly discard?: boolean } = {}): Promise<void> {
    checkOptions('signOut()', options, { data: true, discard: true })
    const { data = 'keep', discard = false } = options
    if (data !== 'keep' && data !== 'wipe') throw badArgument('signOut()', "data must be 'keep' or 'wipe'", data)
    const { server, leases } = this.#parts
    const session = await this.#afterLast(async () => {
      const replica = this.#open()
      const { session } = replica
      // No write comes from here on: it would be wiped. Those that have begun are counted.
      this.#writable = undefined
      try {
        await replica.write(async () => {})
        const { unsent, rejected } = await replica.countedState()
        if (data === 'wipe' && !discard && unsent + rejected > 0)
          throw new ClientError(
            'PANNIER_WRITES_UNSENT',
            `signOut(): ${unsent} unsent and ${rejected} rejected writes would be lost. Sync first, or pass discard: true.`,
          )
      } catch (error) {
        this.#writable = replica
        throw error
      }
      if (session !== undefined) {
        await replica.saveSession(undefined)
        await leases?.end(accountKey(session.record))
      }
      await this.#switch(null, { data })
      return session
    })
    if (session !== undefined && session.isTakenUp !== true) await endSession(server, session)
  }

  /** Closes it. What waits is sent the next time. */
  close(): Promise<void> {
    return this.#afterLast(async () => {
      this.#isClosed = true
      this.#stopLooking()
      this.#stopFollowing()
      await this.#replica?.close()
      await this.#parts.accounts.close()
    })
  }

  /** Closes it, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  /** @internal */
  async start(): Promise<void> {
    const { accounts } = this.#parts
    await this.#enterLast({})
    // Another tab signs in or out: what it has left is not shown here any more.
    this.#stopFollowing = accounts.subscribe(({ local }) => local || this.#follow())
  }

  /** Opens the account that was signed in last, on this device. */
  async #enterLast(how: Switch): Promise<void> {
    const { accounts, leases } = this.#parts
    const { account = null } = (await accounts.collection<Current>(ACCOUNTS).get('current')) ?? {}
    if (this.#replica !== undefined && account === this.#replica.account && !this.#replica.isLost) return
    const share = account === null ? undefined : await leases?.shareOf(account)
    if (account !== null && leases !== undefined && share === undefined) {
      await this.#switch(null, { ...how, isLeaseOver: true })
      return
    }
    await this.#switch(account, { ...how, share })
    // A session that ended on the way: what is of the account is not shown without it.
    if (account !== null && this.#open().session === undefined) await this.#switch(null, how)
  }

  /** Takes over the account that another tab has. Where that can't be opened, nobody is signed in here. */
  #follow(): void {
    const how: Switch = { isFollowing: true }
    const follow = async (): Promise<void> => this.#enterLast(how).catch(() => this.#switch(null, how))
    this.#afterLast(async () => this.#isClosed || follow()).catch(() => {})
  }

  /** @internal Closes the data of the account if its lease is over. */
  async checkLease(): Promise<void> {
    const { leases } = this.#parts
    const replica = this.#replica
    if (leases === undefined || replica?.session === undefined) return
    const account = accountKey(replica.session.record)
    // The clock may have been set, or the device was asleep: the server may still know the session.
    if (await leases.isOver(account)) await replica.sync().catch(() => {})
    await this.#afterLast(async () => {
      if (replica !== this.#replica || (await leases.shareOf(account)) !== undefined) return
      await this.#switch(null, { isLeaseOver: true })
    })
  }

  /** Changes the account, one change after another. */
  #afterLast<T>(change: () => Promise<T>): Promise<T> {
    const done = this.#last.then(change)
    this.#last = done.catch(() => {})
    return done
  }

  async #enter(signedIn: SignedIn): Promise<AccountRecord> {
    const { server, leases } = this.#parts
    if (this.#isClosed) throw closed()
    const session = sessionOf(server, signedIn)
    const account = accountKey(session.record)
    // None, if that of another account could not be opened: another password may open this one.
    const replica = this.#replica
    const share = await leases?.begin(session)
    if (replica?.session !== undefined && accountKey(replica.session.record) === account) await replica.renew(session)
    else await this.#switch(account, { session, share })
    return session.record
  }

  /**
   * Opens the database of an account, and closes that of the one before; null: of guests. In this order a page always has something to show.
   * One that is wiped goes first if it comes again.
   */
  async #switch(
    account: string | null,
    { session, share, data = 'keep', isFollowing = false, isLeaseOver = false }: Switch = {},
  ): Promise<void> {
    const { accounts, leases } = this.#parts
    const { storage } = this.#parts.options
    if (this.#isClosed) throw closed()
    const before = this.#replica
    const leave = async (): Promise<void> => (data === 'wipe' ? before?.destroy(storage) : before?.close())
    this.#writable = undefined
    this.#stopLooking()
    const isSame = before?.account === account
    if (isSame) await leave()
    try {
      this.#replica = this.#writable = await this.#replicaOf(account, session, share, isLeaseOver)
    } catch (error) {
      this.#replica = undefined
      if (!isSame) await leave()
      throw error
    }
    // The account whose lease is over stays the last one: a start says that it must sign in.
    if (!isFollowing && !isLeaseOver && (session !== undefined || before !== undefined))
      await accounts.collection<Current>(ACCOUNTS).upsert({ _id: 'current', account })
    if (leases !== undefined && account !== null)
      this.#stopLooking = every(this.environment, LEASE_CHECK_MS, () => void this.checkLease().catch(() => {}))
    for (const what of ['state', 'rejected', 'can'] as const) this.#tell(what)
    if (!isSame) await leave()
  }

  async #replicaOf(account: string | null, session?: Session, share?: string, isLeaseOver = false): Promise<Replica> {
    const { server, name, leases, declared, options: given } = this.#parts
    const { storage, encryption, durability, cacheBytesMax, live = true } = given
    const own = typeof encryption === 'function' ? await encryption(account ?? GUEST) : encryption
    const key = own !== undefined && share !== undefined ? await leases!.keyOf(own, share) : own
    const options: ReplicaOptions = {
      ...defined({ storage, durability, cacheBytesMax, encryption: key }),
      account,
      declared,
      live,
      isLeaseOver,
      synced: async () => (account === null ? undefined : leases?.renew(account)),
    }
    // The server names the account, and may not choose the path of a file.
    const database = [name, ...(account ?? GUEST).split('/').map(encodeURIComponent)].join('-')
    const opened: { replica?: Replica } = {}
    const replica = await Replica.open(server, database, options, session, (what, records) => {
      if (opened.replica === undefined || opened.replica !== this.#replica) return
      this.#tell(what, records)
    })
    opened.replica = replica
    // Another tab has wiped the data of the account.
    void replica.db.closed.then((reason) => reason && replica === this.#replica && this.#follow())
    return replica
  }

  #listen(what: Changed, listener: (records: ChangedRecords) => void): () => void {
    checkListener(listener)
    const own = [what, listener] as const
    this.#listeners.add(own)
    return () => this.#listeners.delete(own)
  }

  /** `records` comes with records that have changed. */
  #tell(changed: Changed, records?: ChangedRecords): void {
    for (const [what, listener] of this.#listeners) if (what === changed) tellListener(() => listener(records!))
  }

  /** Reads something now, and again when it may be something else. `none`: while no account is open. */
  #watch<T>(what: Changed, read: (replica: Replica) => Promise<T>, none: T, listener: (found: T) => void): () => void {
    checkListener(listener)
    let reading = 0
    let last: T | null = null
    const changed = (): void => {
      const number = ++reading
      // No account is open while it changes. It is read again then.
      const found = this.#replica === undefined ? Promise.resolve(none) : read(this.#replica)
      found.then(
        (now) => number === reading && now !== last && listener((last = now)),
        () => {},
      )
    }
    const stop = this.#listen(what, changed)
    changed()
    return () => {
      reading = -1
      stop()
    }
  }

  #questionOf([action, subject, values]: CanQuestion): Question {
    const name = typeof subject === 'string' ? subject : subject.collectionName
    this.#check('can', name)
    return action === 'create' ? questionOf(action, name, values) : questionOf(action, name, subject, values)
  }

  #open(): Replica {
    if (this.#isClosed) throw closed()
    return this.#openToRead()
  }

  /** Also after the end: a page that is shown still renders once more. */
  #openToRead(): Replica {
    if (this.#replica === undefined) throw closed()
    return this.#replica
  }

  #openToWrite(): Replica {
    if (this.#writable === undefined || this.#isClosed) throw closed()
    return this.#writable
  }

  #check(method: string, name: string): void {
    if (!this.#parts.declared.names.includes(name))
      throw badArgument(`${method}()`, 'the name must be one of "collections" of connect()', name)
  }
}

type Defined<T> = { [Name in keyof T]?: Exclude<T[Name], undefined> }

/** Without what is undefined, which options may not be. */
function defined<T extends object>(options: T): Defined<T> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Defined<T>
}
