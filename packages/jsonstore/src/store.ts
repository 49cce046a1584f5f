/** JSONStore's functions. `WL.JSONStore` of an app that was made for it is one of these. */
import { destroy as destroyDatabase, isPannierError, open } from 'pannier'
import type { Database, ErrorCode, OpenOptions, DatabaseStorage } from 'pannier'
import { systemEnvironment, isObject } from 'pannier/internal'
import type { Environment } from 'pannier/types'
import { call, callbacksOf, report } from './call.ts'
import type { CallbackOptions, CallSite } from './call.ts'
import type { InvokeProcedure } from './adapter.ts'
import { CODES, nameOfCode } from './codes.ts'
import type { CodeName } from './codes.ts'
import { JSONStoreCollection } from './collection.ts'
import type { CollectionHost, OpenCollection } from './collection.ts'
import { failure, toJSONStoreError, USERNAME_DEFAULT } from './errors.ts'
import type { ErrorFacts } from './errors.ts'
import { parseCollection, parseCollections, parsePassword, parseUsername } from './init-options.ts'
import type { CollectionConfig, InitOptions, ParsedCollection } from './init-options.ts'
import type { JSONStorePromise } from './promise.ts'
import { clearCollection, dropCollection, provision } from './provision.ts'
import { QueryPart } from './query-part.ts'
import type { QueryPartConstructor } from './query-part.ts'
import type { SearchFieldType, SearchSchema } from './search-fields.ts'
import { Session } from './session.ts'
import { isId } from './stored-document.ts'
import type { JsonObject, JSONStoreDocument } from './stored-document.ts'
import { SYNC_POLICIES } from './sync-options.ts'
import { forgetUser, rememberUser, users } from './users.ts'
import type { User } from './users.ts'

/** Settings of an instance of JSONStore. */
export interface JSONStoreSettings {
  /** The databases are called `NAME` and `NAME-USERNAME`; in Node these are paths of files. `jsonstore` when left out. */
  readonly name?: string | undefined
  /** The storage where they are kept; as for Pannier's `open`. */
  readonly storage?: DatabaseStorage | undefined
  /** Where the events are sent; the body of the document, if there is one, when left out. */
  readonly events?: EventTarget | undefined
  /** Calls procedures of adapters; `WL.Client.invokeProcedure`, if there is one, when left out. */
  readonly invokeProcedure?: InvokeProcedure | undefined
  /** Asked before a store is made with `localKeyGen: false`; its failure is code 16. Keys are Pannier's own in any case. */
  readonly secureRandom?: (() => unknown) | undefined
  /** The output of `toString`; the console when left out. */
  readonly log?: ((text: string) => void) | undefined
  /** For `sync`; the platform's own when left out. */
  readonly fetch?: typeof fetch | undefined
  /** The environment for tests, with clock, timers and chance; as for Pannier's `open`. */
  readonly environment?: Environment | undefined
}

/** One store on this device. */
export interface FileInfo {
  /** The user name of the store. */
  readonly name: string
  /** The approximate number of bytes. */
  readonly size: number
  /** Whether it is encrypted: it has a password. */
  readonly isEncrypted: boolean
}

/** Options of one collection for `init`. */
export interface InitCollectionOptions extends InitOptions, CollectionConfig {
  /** Fills a collection that is empty from its adapter, as `load` does. */
  readonly load?: boolean | undefined
}

/** An open store and the collections that are open in it, with their search fields. */
interface Opened {
  readonly session: Session
  readonly schemas: Map<string, SearchSchema>
}

const NAME_DEFAULT = 'jsonstore'

/** The whole API, as `WL.JSONStore` has it. */
export class JSONStoreApi {
  /** Makes parts of queries: conditions for `advancedFind`. */
  readonly QueryPart: QueryPartConstructor = QueryPart
  /** The values of `syncPolicy`, by name. */
  readonly syncOptions: typeof SYNC_POLICIES = SYNC_POLICIES
  readonly #settings: JSONStoreSettings
  readonly #collections = new Map<string, JSONStoreCollection>()
  #opened: Opened | undefined
  #password: string | undefined
  readonly #host: CollectionHost
  /** The end of the last open or close: they run one after another. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(settings: JSONStoreSettings = {}) {
    this.#settings = settings
    this.#host = this.#hostOf(settings)
  }

  /**
   * Opens the user's store, making it if need be, and these collections. Resolves with the accessors of all collections that are open, by
   * their names. May be called again for more collections; the password is needed the first time only.
   *
   * @example
   * const { people } = await JSONStore.init({ people: { searchFields: { name: 'string', age: 'integer' } } }, { password })
   */
  init<Names extends string>(
    collections: Readonly<Record<Names, CollectionConfig>>,
    options?: InitOptions | null,
  ): JSONStorePromise<Record<Names, JSONStoreCollection>> {
    return this.#afterLast({ src: 'initCollection', usr: nameOfUser(options) }, options, async () => {
      await this.#init(collections, options ?? {})
      return Object.fromEntries(this.#collections) as Record<Names, JSONStoreCollection>
    })
  }

  /** The accessor of a collection that was opened. */
  get<T extends object = JsonObject>(name: string): JSONStoreCollection<T> | undefined {
    return this.#collections.get(name) as JSONStoreCollection<T> | undefined
  }

  /** Closes the store: the user is logged out. */
  closeAll(options?: CallbackOptions | null): JSONStorePromise<number> {
    return this.#afterLast({ src: 'closeAll' }, options, async () => {
      this.#forbidTransaction('TRANSACTION_FAILURE_DURING_CLOSE_ALL')
      await wrapped('ERROR_CLOSING_ALL', () => this.#close())
      return CODES.SUCCESS
    })
  }

  /** Closes the store that is open, and deletes the stores of all users, or that of one, without their passwords. */
  destroy(username?: string | CallbackOptions | null, options?: CallbackOptions | null): JSONStorePromise<number> {
    const given = isObject(username) ? undefined : (username ?? undefined)
    return this.#afterLast({ src: 'destroy' }, options ?? username, async () => {
      this.#forbidTransaction('TRANSACTION_FAILURE_DURING_DESTROY')
      const doomed = given === USERNAME_DEFAULT || given === undefined ? given : parseUsername(given)
      await wrapped('DESTROY_REMOVE_PERSISTENT_STORE_FAILED', () => this.#close())
      await this.#destroy(doomed)
      return CODES.SUCCESS
    })
  }

  /**
   * For the user whose store is open; `jsonstore` by default. Nothing is encrypted again: the key of the data is
   * wrapped in another key.
   */
  changePassword(
    oldPassword: string,
    newPassword: string,
    username?: string | CallbackOptions | null,
    options?: CallbackOptions | null,
  ): JSONStorePromise<number> {
    const usr = typeof username === 'string' ? username : USERNAME_DEFAULT
    return this.#afterLast({ src: 'changePassword', usr }, options ?? username, async () => {
      const user = usr === USERNAME_DEFAULT ? usr : parseUsername(usr)
      const [before, after] = [parsePassword(oldPassword), parsePassword(newPassword)]
      const { session } = this.#open()
      if (user !== session.username) throw failure('ERROR_CHANGING_PASSWORD')
      // It would wait for the transaction to end.
      this.#forbidTransaction('TRANSACTION_IN_PROGRESS')
      if (!session.isEncrypted) throw failure('ERROR_CHANGING_PASSWORD')
      await wrapped('ERROR_CHANGING_PASSWORD', () => session.database.changePassword(before, after))
      return CODES.SUCCESS
    })
  }

  /** From now on everything is one transaction, until it is committed or rolled back. One at a time; other tabs wait. */
  startTransaction(options?: CallbackOptions | null): JSONStorePromise<number> {
    return this.#transact('startTransaction', options, 'TRANSACTION_FAILURE', (session) => session.start())
  }

  /** Commits the transaction that was started. */
  commitTransaction(options?: CallbackOptions | null): JSONStorePromise<number> {
    return this.#transact('commitTransaction', options, 'TRANSACTION_FAILURE', (session) => session.end(false))
  }

  /** Takes back what the transaction has written. */
  rollbackTransaction(options?: CallbackOptions | null): JSONStorePromise<number> {
    return this.#transact('rollbackTransaction', options, 'TRANSACTION_FAILURE_DURING_ROLLBACK', (session) =>
      session.end(true),
    )
  }

  /** The facts of the stores of all users, in the order of their names; empty if no store is open. */
  fileInfo(options?: CallbackOptions | null): JSONStorePromise<FileInfo[]> {
    return this.#afterLast({ src: 'fileInfo' }, options, async () => {
      if (this.#opened === undefined) return []
      const { session } = this.#opened
      return wrapped('JSON_STORE_FILE_INFO_ERROR', async () => {
        const { database, username, isEncrypted, inTransaction } = session
        const infos: FileInfo[] = [{ name: username, size: await storedBytes(database, inTransaction), isEncrypted }]
        for (const user of await this.#users()) if (user._id !== username) infos.push(await this.#closedFile(user))
        return infos.sort((left, right) => (left.name < right.name ? -1 : 1))
      })
    })
  }

  /** The name of a code, else 'Not found'. */
  getErrorMessage(code: number): string {
    return nameOfCode(code)
  }

  /** @deprecated Documents are `{ _id, json }`. */
  documentify<T extends object>(id: number, data: T): JSONStoreDocument<T> {
    const number = Number(id)
    if (!isId(number)) throw failure('BAD_PARAMETER_EXPECTED_INT', { src: 'documentify', given: id })
    if (!isObject(data)) throw failure('BAD_PARAMETER_EXPECTED_OBJECT', { src: 'documentify', given: data })
    return { _id: number, json: data }
  }

  /**
   * Returns the accessor at once. Use it when its `promise` has resolved: with 0 if the collection was created, with 1
   * if it existed. `onSuccess` gets the same.
   *
   * @deprecated Use `init`.
   * @returns The accessor; for wrong arguments a code, as JSONStore does. `onFailure` has it before that.
   * @example
   * JSONStore.initCollection('users', { id: 'integer' }, { onSuccess: () => show('users are there') })
   */
  initCollection<T extends object = JsonObject>(
    name: string,
    searchFields?: Readonly<Record<string, SearchFieldType>> | null,
    options?: InitCollectionOptions | null,
  ): JSONStoreCollection<T> | number {
    const given: InitCollectionOptions = {
      ...options,
      ...(typeof options?.password !== 'string' && { password: this.#password }),
    }
    const site = { src: 'initCollection', col: String(name), usr: nameOfUser(options) }
    let parsed: ParsedCollection
    try {
      parsed = parseCollection(name, { ...given, searchFields: searchFields ?? {} }, given)
      parseUsername(given.username)
    } catch (error) {
      const refused = toJSONStoreError(error, site, 'UNKNOWN_FAILURE')
      void this.#afterLast(site, undefined, () => Promise.reject(refused)).fail(() => {})
      const { onFailure } = callbacksOf(options)
      if (onFailure !== undefined) report(onFailure, refused)
      return refused.err
    }
    const promise = this.#afterLast(site, options, async () => {
      const isNew = await this.#openFor([parsed], given)
      this.#collections.set(parsed.name, collection)
      if (options?.load === true && (await collection.count()) === 0) await collection.load()
      return isNew.has(parsed.name) ? CODES.SUCCESS : 1
    })
    const collection =
      this.#collections.get(parsed.name) ?? new JSONStoreCollection(parsed, site.usr, this.#host, promise)
    collection.redeclare(parsed, promise)
    return collection as unknown as JSONStoreCollection<T>
  }

  /** @deprecated Use the `password` of `init`. For the calls of `initCollection` that follow. False for what is no password. */
  usePassword(password: string): boolean {
    if (typeof password !== 'string' || password === '') return false
    this.#password = password
    return true
  }

  /** @deprecated Forgets what `usePassword` was given. False if there was nothing. */
  clearPassword(): boolean {
    const had = this.#password !== undefined
    this.#password = undefined
    return had
  }

  /** @internal For the import: the open store. */
  get session(): Session {
    return this.#open().session
  }

  async #init(collections: unknown, options: InitOptions): Promise<void> {
    if (!isObject(options)) throw failure('BAD_PARAMETER_EXPECTED_OBJECT')
    const last = isObject(collections) ? Object.keys(collections).at(-1) : undefined
    this.#forbidTransaction('TRANSACTION_FAILURE_DURING_INIT', { ...(last !== undefined && { col: last }) })
    if (options.clear === true) this.#collections.clear()
    const parsed = parseCollections(collections, options)
    const isNew = await this.#openFor(parsed, options)
    const username = this.#opened?.session.username ?? USERNAME_DEFAULT
    for (const one of parsed) {
      const made = call({ src: 'initCollection', events: undefined }, undefined, () => (isNew.has(one.name) ? 0 : 1))
      const accessor = this.#collections.get(one.name)
      if (accessor === undefined)
        this.#collections.set(one.name, new JSONStoreCollection(one, username, this.#host, made))
      else accessor.redeclare(one, made)
    }
  }

  /** Opens the user's store, if it is not open, and these collections in it. Gives the names of those that were made. */
  async #openFor(parsed: readonly ParsedCollection[], options: InitOptions): Promise<ReadonlySet<string>> {
    this.#forbidTransaction('TRANSACTION_FAILURE_DURING_INIT')
    const username = parseUsername(options.username)
    const password = (options.password ?? undefined) === undefined ? undefined : parsePassword(options.password)
    if (this.#opened !== undefined && this.#opened.session.username !== username)
      throw failure('USERNAME_MISMATCH_DETECTED', { usr: username })
    const isNew = new Set<string>()
    if (parsed.length === 0) return isNew
    const wasOpen = this.#opened !== undefined
    if (wasOpen) await this.#checkPassword(this.#opened!.session, password)
    else this.#opened = await this.#openStore(username, password, options.localKeyGen === false)
    try {
      for (const one of parsed) if (await this.#provision(this.#opened!, one)) isNew.add(one.name)
      return isNew
    } catch (error) {
      if (!wasOpen) await this.#close()
      throw error
    }
  }

  /** Gives whether the collection was made. */
  async #provision({ session, schemas }: Opened, { name, schema, config, drop }: ParsedCollection): Promise<boolean> {
    try {
      if (drop) {
        await dropCollection(session, name)
        schemas.delete(name)
      }
      const isNew = await provision(session, name, schema, config.sync !== undefined)
      schemas.set(name, schema)
      return isNew
    } catch (error) {
      throw toJSONStoreError(error, { col: name }, 'PERSISTENT_STORE_FAILURE')
    }
  }

  async #openStore(username: string, password: string | undefined, askRandom: boolean): Promise<Opened> {
    const name = this.#databaseName(username)
    const { environment = systemEnvironment() } = this.#settings
    const database = await open(name, { ...this.#openOptions(password), environment }).catch((error: unknown) => {
      throw failure(openingFailure(error, password !== undefined), { usr: username, cause: error })
    })
    try {
      if ((await database.collections()).length === 0) {
        if (askRandom && password !== undefined) await this.#askRandom()
        await rememberUser(this.#databaseName(undefined), this.#openOptions(undefined), { _id: username })
      }
    } catch (error) {
      await database.destroy()
      throw error
    }
    const session = new Session({ username, database, environment, isEncrypted: password !== undefined })
    return { session, schemas: new Map() }
  }

  /** The store is open with one already: it is not asked for again, but a wrong one is refused. */
  async #checkPassword(session: Session, password: string | undefined): Promise<void> {
    if (password === undefined) return
    if (!session.isEncrypted) throw failure('INVALID_KEY_ON_PROVISION')
    const other = await open(session.database.name, this.#openOptions(password)).catch((error: unknown) => {
      throw failure(openingFailure(error, true), { usr: session.username, cause: error })
    })
    await other.close()
  }

  async #askRandom(): Promise<void> {
    try {
      await this.#settings.secureRandom?.()
    } catch (cause) {
      throw failure('COULD_NOT_GET_SECURE_KEY', { cause })
    }
  }

  async #close(): Promise<void> {
    const opened = this.#opened
    this.#opened = undefined
    this.#collections.clear()
    if (opened === undefined) return
    const { database, username, isEncrypted } = opened.session
    // Nobody can measure it later without the password.
    if (isEncrypted) await this.#rememberSize(username, database).catch(() => {})
    await database.close()
  }

  async #rememberSize(username: string, database: Database): Promise<void> {
    const user = { _id: username, size: await storedBytes(database) }
    await rememberUser(this.#databaseName(undefined), this.#openOptions(undefined), user)
  }

  #users(): Promise<User[]> {
    return users(this.#databaseName(undefined), this.#openOptions(undefined))
  }

  /** For a store that is not open: if it is encrypted, the facts as of its last close. */
  async #closedFile({ _id: name, size = 0 }: User): Promise<FileInfo> {
    try {
      const database = await open(this.#databaseName(name), this.#openOptions(undefined))
      try {
        return { name, size: await storedBytes(database), isEncrypted: false }
      } finally {
        await database.close()
      }
    } catch (error) {
      if (!isPannierError(error, 'PANNIER_ENCRYPTED')) throw error
      return { name, size, isEncrypted: true }
    }
  }

  /** All users if it is undefined. */
  async #destroy(username: string | undefined): Promise<void> {
    const registry = this.#databaseName(undefined)
    const options = this.#openOptions(undefined)
    const { storage } = options
    const place = storage === undefined ? {} : { storage }
    const known = await wrapped('ERROR_DURING_DESTROY', () => users(registry, options))
    const doomed = username === undefined ? known.map(({ _id }) => _id) : [username]
    for (const one of doomed)
      await wrapped('DESTROY_FAILED_FILE_ERROR', () => destroyDatabase(this.#databaseName(one), place))
    await wrapped('DESTROY_FAILED_METADATA_REMOVAL_FAILURE', () =>
      username === undefined ? destroyDatabase(registry, place) : forgetUser(registry, options, username),
    )
  }

  #open(): Opened {
    if (this.#opened === undefined) throw failure('PERSISTENT_STORE_NOT_OPEN')
    return this.#opened
  }

  #forbidTransaction(name: CodeName, facts?: ErrorFacts): void {
    if (this.#opened?.session.inTransaction === true) throw failure(name, facts)
  }

  #databaseName(username: string | undefined): string {
    const { name = NAME_DEFAULT } = this.#settings
    return username === undefined ? name : `${name}-${username}`
  }

  #openOptions(password: string | undefined): OpenOptions {
    const { storage, environment } = this.#settings
    return {
      ...(storage !== undefined && { storage }),
      ...(environment !== undefined && { environment }),
      ...(password !== undefined && { encryption: { password } }),
    }
  }

  get #events(): EventTarget | undefined {
    return this.#settings.events ?? (globalThis as { readonly document?: Document }).document?.body
  }

  /** Accessors go by the names of their collections, in the store that is open. */
  #hostOf({ invokeProcedure, log, fetch }: JSONStoreSettings): CollectionHost {
    const opened = (name: string): OpenCollection => {
      const { session, schemas } = this.#open()
      const schema = schemas.get(name)
      if (schema === undefined) throw failure('PERSISTENT_STORE_NOT_OPEN')
      return { session, schema }
    }
    const events = (): EventTarget | undefined => this.#events
    return {
      get events() {
        return events()
      },
      invokeProcedure,
      log: log ?? logToConsole,
      fetch,
      open: opened,
      clear: (name) => clearCollection(opened(name).session, name),
      remove: async (name) => {
        const { session } = opened(name)
        this.#forbidTransaction('TRANSACTION_FAILURE_DURING_REMOVE_COLLECTION')
        this.#opened!.schemas.delete(name)
        this.#collections.delete(name)
        await dropCollection(session, name)
      },
    }
  }

  #transact(
    src: string,
    options: unknown,
    name: CodeName,
    work: (session: Session) => Promise<void>,
  ): JSONStorePromise<number> {
    return call({ src, events: this.#events }, options, async () => {
      const { session } = this.#open()
      await wrapped(name, () => work(session))
      return CODES.SUCCESS
    })
  }

  #afterLast<R>(site: Omit<CallSite, 'events'>, options: unknown, work: () => Promise<R>): JSONStorePromise<R> {
    const done = this.#last.then(work)
    this.#last = done.catch(() => {})
    return call({ ...site, events: this.#events }, options, () => done)
  }
}

const ENCRYPTION_CODES: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'PANNIER_KEY_WRONG',
  'PANNIER_ENCRYPTED',
  'PANNIER_NOT_ENCRYPTED',
])
const WRITING_CODES: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'PANNIER_IO_FAILED',
  'PANNIER_OUTCOME_UNKNOWN',
  'PANNIER_QUOTA_EXCEEDED',
])

function openingFailure(error: unknown, hasPassword: boolean): CodeName {
  if (!isPannierError(error)) return 'UNKNOWN_FAILURE'
  if (ENCRYPTION_CODES.has(error.code)) return 'INVALID_KEY_ON_PROVISION'
  if (hasPassword && error.code === 'PANNIER_UNAVAILABLE') return 'OS_SECURITY_FAILURE'
  if (hasPassword && WRITING_CODES.has(error.code)) return 'JSON_STORE_STORE_DATA_PROTECTION_KEY_FAILURE'
  return 'PERSISTENT_STORE_FAILURE'
}

/** A failure that has no code of its own gets this one. */
async function wrapped<R>(name: CodeName, work: () => Promise<R>): Promise<R> {
  try {
    return await work()
  } catch (error) {
    if (isPannierError(error)) throw failure(name, { cause: error })
    throw error
  }
}

/** The bytes of all documents. The log is not counted, so it is written to pages first, except inside a transaction. */
async function storedBytes(database: Database, inTransaction: boolean = false): Promise<number> {
  if (!inTransaction) await database.flush()
  let bytes = 0
  for (const name of await database.collections())
    bytes += (await database.collection<JsonObject>(name).info()).storedBytes ?? 0
  return bytes
}

/** For errors: whoever is meant to open the store. */
function nameOfUser(options: unknown): string {
  const username = isObject(options) ? options['username'] : undefined
  return typeof username === 'string' && username !== '' ? username : USERNAME_DEFAULT
}

function logToConsole(text: string): void {
  globalThis.console.info(text)
}
