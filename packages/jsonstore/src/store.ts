/** JSONStore's functions. `WL.JSONStore` of an app that was made for it is one of these. */
import { destroy as destroyDatabase, isPannierError, open } from 'pannier'
import type { Database, ErrorCode, OpenOptions, Storage } from 'pannier'
import { call } from './call.ts'
import type { CallbackOptions } from './call.ts'
import type { InvokeProcedure } from './adapter.ts'
import { CODES, nameOfCode } from './codes.ts'
import type { CodeName } from './codes.ts'
import { JSONStoreCollection } from './collection.ts'
import type { CollectionHost } from './collection.ts'
import { failure } from './errors.ts'
import { parseCollections, parsePassword, parseUsername } from './init-options.ts'
import type { CollectionConfig, InitOptions, ParsedCollection } from './init-options.ts'
import type { JSONStorePromise } from './promise.ts'
import { clearCollection, dropCollection, provision } from './provision.ts'
import { QueryPart } from './query-part.ts'
import type { QueryPartConstructor } from './query-part.ts'
import type { SearchFieldType } from './search-fields.ts'
import { Session } from './session.ts'
import { isId } from './stored-document.ts'
import type { JsonObject, JSONStoreDocument } from './stored-document.ts'
import { SYNC_POLICIES } from './sync-options.ts'
import { forgetUser, rememberUser, users } from './users.ts'
import { isObject } from './values.ts'

export interface JSONStoreSettings {
  /** The databases are called `NAME` and `NAME-USERNAME`; in Node these are paths of files. `jsonstore` when left out. */
  readonly name?: string | undefined
  /** Where they are kept; as for Pannier's `open`. */
  readonly storage?: Storage | undefined
  /** Where the events are sent; the body of the document, if there is one, when left out. */
  readonly events?: EventTarget | undefined
  /** Calls procedures of adapters; `WL.Client.invokeProcedure`, if there is one, when left out. */
  readonly invokeProcedure?: InvokeProcedure | undefined
  /** Asked before a store is made with `localKeyGen: false`; its failure is code 16. Keys are Pannier's own in any case. */
  readonly secureRandom?: (() => unknown) | undefined
  /** What `toString` writes to; the console when left out. */
  readonly log?: ((text: string) => void) | undefined
  /** For `sync`; the platform's own when left out. */
  readonly fetch?: typeof fetch | undefined
}

export interface FileInfo {
  readonly name: string
  /** About so many bytes. */
  readonly size: number
  readonly isEncrypted: boolean
}

export interface InitCollectionOptions extends InitOptions, CollectionConfig {}

/** An open store and what is known of its collections. */
interface Opened {
  readonly session: Session
  readonly host: CollectionHost
  /** Those whose search fields are known to be right. */
  readonly provisioned: Set<string>
}

const NAME_DEFAULT = 'jsonstore'

export class JSONStoreApi {
  readonly QueryPart: QueryPartConstructor = QueryPart
  readonly syncOptions: typeof SYNC_POLICIES = SYNC_POLICIES
  readonly #settings: JSONStoreSettings
  readonly #collections = new Map<string, JSONStoreCollection>()
  #opened: Opened | undefined
  #password: string | undefined
  /** What opens and closes takes turns. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(settings: JSONStoreSettings = {}) {
    this.#settings = settings
  }

  /**
   * Opens the user's store, making it if need be, and these collections. Resolves with accessors by the collections' names. May be
   * called again for more collections.
   *
   * @example
   * const { people } = await JSONStore.init({ people: { searchFields: { name: 'string', age: 'integer' } } }, { password })
   */
  init<Names extends string>(
    collections: Readonly<Record<Names, CollectionConfig>>,
    options: InitOptions = {},
  ): JSONStorePromise<Record<Names, JSONStoreCollection>> {
    return this.#inTurn('init', options, async () => {
      const accessors = await this.#init(collections, options)
      return Object.fromEntries(accessors.map((one) => [one.name, one])) as Record<Names, JSONStoreCollection>
    })
  }

  /** The accessor of a collection that was opened. */
  get<T extends object = JsonObject>(name: string): JSONStoreCollection<T> | undefined {
    return this.#collections.get(name) as JSONStoreCollection<T> | undefined
  }

  /** Closes the store: the user is logged out. */
  closeAll(options: CallbackOptions = {}): JSONStorePromise<number> {
    return this.#inTurn('closeAll', options, async () => {
      this.#forbidTransaction('TRANSACTION_FAILURE_DURING_CLOSE_ALL')
      await wrapped('ERROR_CLOSING_ALL', () => this.#close())
      return CODES.SUCCESS
    })
  }

  /** Deletes the stores of all users, or that of one, without their passwords. */
  destroy(username?: string | CallbackOptions, options?: CallbackOptions): JSONStorePromise<number> {
    const given = isObject(username) ? undefined : username
    return this.#inTurn('destroy', options ?? username, async () => {
      this.#forbidTransaction('TRANSACTION_FAILURE_DURING_DESTROY')
      const doomed = given === undefined ? undefined : parseUsername(given)
      if (doomed === undefined || doomed === this.#opened?.session.username)
        await wrapped('DESTROY_REMOVE_PERSISTENT_STORE_FAILED', () => this.#close())
      await this.#destroy(doomed)
      return CODES.SUCCESS
    })
  }

  /** The store has to be open. Nothing is encrypted anew: the key of the data is wrapped again. */
  changePassword(
    oldPassword: string,
    newPassword: string,
    username?: string | CallbackOptions,
    options?: CallbackOptions,
  ): JSONStorePromise<number> {
    return this.#inTurn('changePassword', options ?? username, async () => {
      const [before, after] = [parsePassword(oldPassword), parsePassword(newPassword)]
      const { session } = this.#open()
      if (typeof username === 'string' && parseUsername(username) !== session.username)
        throw failure('USERNAME_MISMATCH_DETECTED')
      // It would wait for the transaction to end.
      this.#forbidTransaction('TRANSACTION_IN_PROGRESS')
      if (!session.isEncrypted) throw failure('ERROR_CHANGING_PASSWORD')
      await wrapped('ERROR_CHANGING_PASSWORD', () => session.database.changePassword(before, after))
      return CODES.SUCCESS
    })
  }

  /** From now on everything is one transaction, until it is committed or rolled back. One at a time; other tabs wait. */
  startTransaction(options: CallbackOptions = {}): JSONStorePromise<number> {
    return this.#transact('startTransaction', options, 'TRANSACTION_FAILURE', (session) => session.start())
  }

  commitTransaction(options: CallbackOptions = {}): JSONStorePromise<number> {
    return this.#transact('commitTransaction', options, 'TRANSACTION_FAILURE', (session) => session.end(false))
  }

  rollbackTransaction(options: CallbackOptions = {}): JSONStorePromise<number> {
    return this.#transact('rollbackTransaction', options, 'TRANSACTION_FAILURE_DURING_ROLLBACK', (session) =>
      session.end(true),
    )
  }

  /** Of the store that is open; empty if none is. */
  fileInfo(options: CallbackOptions = {}): JSONStorePromise<FileInfo[]> {
    return this.#inTurn('fileInfo', options, async () => {
      if (this.#opened === undefined) return []
      const { database, username, isEncrypted } = this.#opened.session
      const size = await wrapped('JSON_STORE_FILE_INFO_ERROR', () => storedBytes(database))
      return [{ name: username, size, isEncrypted }]
    })
  }

  /** The name of a code; 'Not found' if it is none. */
  getErrorMessage(code: number): string {
    return nameOfCode(code)
  }

  /** @deprecated Documents are `{ _id, json }`. */
  documentify<T extends object>(id: number, data: T): JSONStoreDocument<T> {
    if (!isId(id)) throw failure('BAD_PARAMETER_EXPECTED_INT', { src: 'documentify', doc: id })
    if (!isObject(data)) throw failure('BAD_PARAMETER_EXPECTED_DOCUMENT', { src: 'documentify', doc: data })
    return { _id: id, json: data }
  }

  /** @deprecated Use `init`. Resolves with 0 if the collection was made, with 1 if it was there. */
  initCollection(
    name: string,
    searchFields: Readonly<Record<string, SearchFieldType>> = {},
    options: InitCollectionOptions = {},
  ): JSONStorePromise<number> {
    const password = options.password ?? this.#password
    return this.#inTurn('initCollection', options, async () => {
      const config: CollectionConfig = { ...options, searchFields }
      const settings: InitOptions = password === undefined ? options : { ...options, password }
      const isNew = new Set<string>()
      await this.#init({ [name]: config }, settings, isNew)
      return isNew.has(name) ? 0 : 1
    })
  }

  /** @deprecated Use the `password` of `init`. For the calls of `initCollection` that follow. Returns 0, or 11. */
  usePassword(password: string): number {
    if (typeof password !== 'string' || password === '')
      return CODES.INVALID_PASSWORD_EXPECTED_ALPHANUMERIC_STRING_WITH_LENGTH_GREATER_THAN_ZERO
    this.#password = password
    return CODES.SUCCESS
  }

  /** @deprecated */
  clearPassword(): number {
    this.#password = undefined
    return CODES.SUCCESS
  }

  /** @internal For the import: the open store. */
  get session(): Session {
    return this.#open().session
  }

  async #init(
    collections: unknown,
    options: InitOptions,
    isNew: Set<string> = new Set(),
  ): Promise<readonly JSONStoreCollection[]> {
    if (!isObject(options)) throw failure('BAD_PARAMETER_EXPECTED_OBJECT')
    this.#forbidTransaction('TRANSACTION_FAILURE_DURING_INIT')
    const parsed = parseCollections(collections, options)
    const username = parseUsername(options.username)
    const password = options.password === undefined ? undefined : parsePassword(options.password)
    if (this.#opened !== undefined && this.#opened.session.username !== username)
      throw failure('USERNAME_MISMATCH_DETECTED', { usr: username })
    if (parsed.length === 0) return []
    const wasOpen = this.#opened !== undefined
    if (wasOpen) await this.#checkPassword(this.#opened!.session, password)
    else this.#opened = await this.#openStore(username, password, options.localKeyGen === false)
    try {
      if (options.clear === true) this.#collections.clear()
      const accessors: JSONStoreCollection[] = []
      for (const one of parsed) accessors.push(await this.#provision(this.#opened!, one, isNew))
      return accessors
    } catch (error) {
      if (!wasOpen) await this.#close()
      throw error
    }
  }

  async #provision(opened: Opened, parsed: ParsedCollection, isNew: Set<string>): Promise<JSONStoreCollection> {
    const { session, host, provisioned } = opened
    const { name, schema, config, drop } = parsed
    if (drop) {
      await dropCollection(session, name)
      this.#collections.delete(name)
    }
    if (await provision(session, name, schema, config.sync !== undefined)) isNew.add(name)
    provisioned.add(name)
    let collection = this.#collections.get(name)
    if (collection === undefined) {
      collection = new JSONStoreCollection(name, schema, config, host)
      this.#collections.set(name, collection)
    }
    return collection
  }

  async #openStore(username: string, password: string | undefined, askRandom: boolean): Promise<Opened> {
    const name = this.#databaseName(username)
    const database = await open(name, this.#openOptions(password)).catch((error: unknown) => {
      throw failure(openingFailure(error, password !== undefined), { usr: username, cause: error })
    })
    try {
      if ((await database.collections()).length === 0) {
        if (askRandom && password !== undefined) await this.#askRandom()
        await rememberUser(this.#databaseName(undefined), this.#openOptions(undefined), username)
      }
    } catch (error) {
      await database.destroy()
      throw error
    }
    const session = new Session(username, database, password !== undefined)
    return { session, host: this.#host(username), provisioned: new Set() }
  }

  /** The store is open with one already. */
  async #checkPassword(session: Session, password: string | undefined): Promise<void> {
    if (session.isEncrypted !== (password !== undefined)) throw failure('INVALID_KEY_ON_PROVISION')
    if (password === undefined) return
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
    await opened?.session.database.close()
  }

  /** All users if it is undefined. */
  async #destroy(username: string | undefined): Promise<void> {
    const registry = this.#databaseName(undefined)
    const options = this.#openOptions(undefined)
    const known = await wrapped('ERROR_DURING_DESTROY', () => users(registry, options))
    const doomed = username === undefined ? known : [username]
    for (const one of doomed)
      await wrapped('DESTROY_FAILED_FILE_ERROR', () => destroyDatabase(this.#databaseName(one), options))
    await wrapped('DESTROY_FAILED_METADATA_REMOVAL_FAILURE', () =>
      username === undefined ? destroyDatabase(registry, options) : forgetUser(registry, options, username),
    )
  }

  #open(): Opened {
    if (this.#opened === undefined) throw failure('PERSISTENT_STORE_NOT_OPEN')
    return this.#opened
  }

  #forbidTransaction(name: CodeName): void {
    if (this.#opened?.session.inTransaction === true) throw failure(name)
  }

  #databaseName(username: string | undefined): string {
    const { name = NAME_DEFAULT } = this.#settings
    return username === undefined ? name : `${name}-${username}`
  }

  #openOptions(password: string | undefined): OpenOptions {
    const { storage } = this.#settings
    return { ...(storage !== undefined && { storage }), ...(password !== undefined && { encryption: { password } }) }
  }

  get #events(): EventTarget | undefined {
    return this.#settings.events ?? (globalThis as { readonly document?: Document }).document?.body
  }

  #host(username: string): CollectionHost {
    const { invokeProcedure, log, fetch } = this.#settings
    const openedOf = (collection: JSONStoreCollection): Opened => {
      const opened = this.#open()
      if (opened.session.username !== username || !opened.provisioned.has(collection.name))
        throw failure('PERSISTENT_STORE_NOT_OPEN')
      return opened
    }
    return {
      username,
      events: this.#events,
      invokeProcedure,
      log: log ?? logToConsole,
      fetch,
      session: (collection) => openedOf(collection).session,
      clear: (collection) => clearCollection(openedOf(collection).session, collection.name),
      remove: async (collection) => {
        const { session, provisioned } = openedOf(collection)
        this.#forbidTransaction('TRANSACTION_FAILURE_DURING_REMOVE_COLLECTION')
        provisioned.delete(collection.name)
        this.#collections.delete(collection.name)
        await dropCollection(session, collection.name)
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

  #inTurn<R>(src: string, options: unknown, work: () => Promise<R>): JSONStorePromise<R> {
    const turn = this.#last.then(work)
    this.#last = turn.catch(() => {})
    return call({ src, events: this.#events }, options, () => turn)
  }
}

const ENCRYPTION_CODES: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'PANNIER_WRONG_KEY',
  'PANNIER_ENCRYPTED',
  'PANNIER_NOT_ENCRYPTED',
])
const WRITING_CODES: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['PANNIER_IO', 'PANNIER_QUOTA_EXCEEDED'])

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

async function storedBytes(database: Database): Promise<number> {
  let bytes = 0
  for (const name of await database.collections())
    bytes += (await database.collection<JsonObject>(name).info()).storedBytes ?? 0
  return bytes
}

function logToConsole(text: string): void {
  globalThis.console.info(text)
}
