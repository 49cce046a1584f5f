/**
 * CouchDB databases as collections of one Pannier database. A database that is being dropped accepts no writes: a write
 * would create the collection again.
 */
import type { Collection, Database } from 'pannier'
import type { JsonObject } from './documents.ts'
import type { Principal } from './principal.ts'
import { Quota } from './quota.ts'
import type { Room } from './quota.ts'
import { ServiceError, missing } from './service-error.ts'
import { STATE_COLLECTION } from './state.ts'
import type { ServerState } from './state.ts'

/** Names of collections have at most 200 characters. */
const NAME = /^(?:_users|_replicator|_global_changes|[a-z][a-z0-9_$()+/-]{0,198})$/
/** A database of this name could not be reached by its URL. */
const REST = 'api'
/** The limit of revisions, as CouchDB's. */
const REVISIONS_LIMIT_DEFAULT = 1000

/** Collections of the application. Each is a database too, for admins and for those who see all of it. */
export interface AppCollections {
  /** The library's name of a collection. */
  find(name: string): string | undefined
  /** The name of a collection of the library; undefined: it is not of the application. */
  nameOf(collection: string): string | undefined
  /** Whether no database can have the name, as a collection has it, in any case of its letters. */
  isTaken(name: string): boolean
  names(): readonly string[]
  /** Whether the principal sees every record whole. It is so for superusers alone of what has no such name. */
  isOpenTo(principal: Principal, name: string): boolean
  /** Tells when that may have changed for anybody. The result ends it. */
  subscribeRules(listener: () => void): () => void
}

interface DatabasesOptions {
  /** Limit of each database. None when left out. */
  readonly quota?: Quota
  /** Databases that are made keep the content of replaced revisions. */
  readonly history?: boolean | undefined
  readonly app?: AppCollections
}

/** The CouchDB databases of one Pannier database, by name. */
export class Databases {
  readonly #database: Database
  readonly #state: ServerState
  readonly #quota: Quota
  readonly #keepsHistory: boolean
  readonly #app: AppCollections | undefined
  /** Collections that are known to exist, by name. */
  readonly #known = new Map<string, Collection<JsonObject>>()
  /** Writes that run, by name; and what waits for the last one. */
  readonly #writing = new Map<string, { count: number; idle: (() => void) | undefined }>()
  readonly #dropping = new Set<string>()
  /** `_security` as it was put, by name of the database; every request asks. */
  readonly #security = new Map<string, Promise<JsonObject | undefined>>()
  readonly #stopListening: () => void

  constructor(
    database: Database,
    state: ServerState,
    { quota = new Quota(), history = false, app }: DatabasesOptions = {},
  ) {
    this.#database = database
    this.#state = state
    this.#quota = quota
    this.#keepsHistory = history
    this.#app = app
    // The database may have other users than the server.
    this.#stopListening = database.subscribe(({ collections }) => {
      for (const [name, { dropped }] of collections) if (dropped) this.#forget(databaseName(name) ?? '')
      const state = collections.get(STATE_COLLECTION)
      if (state !== undefined && (state.ids === undefined || state.ids.some((id) => id.startsWith(SECURITY))))
        this.#security.clear()
    })
  }

  /** Sorted. */
  async names(): Promise<string[]> {
    const names = (await this.#database.collections()).map(databaseName)
    return [...names.filter((name) => name !== undefined), ...(this.#app?.names() ?? [])].sort()
  }

  /** Whether there is a database of this name. */
  async has(name: string): Promise<boolean> {
    return (await this.names()).includes(name)
  }

  /** @throws ServiceError NOT_FOUND */
  async get(name: string): Promise<Collection<JsonObject>> {
    const ofApp = this.#app?.find(name)
    if (ofApp !== undefined) return this.#database.collection<JsonObject>(ofApp)
    const known = this.#known.get(name)
    if (known !== undefined && !this.#dropping.has(name)) return known
    const collections = NAME.test(name) && !this.#dropping.has(name) ? await this.#database.collections() : []
    if (!collections.includes(collectionName(name))) throw missing('Database does not exist.')
    const collection = this.#database.collection<JsonObject>(collectionName(name))
    this.#known.set(name, collection)
    return collection
  }

  /**
   * Runs `run`, which writes to the database; the database is not dropped meanwhile. Documents need `room`.
   *
   * @throws ServiceError NOT_FOUND
   */
  async write<T>(name: string, run: (collection: Collection<JsonObject>, room: Room) => Promise<T>): Promise<T> {
    const collection = await this.get(name)
    if (this.#dropping.has(name)) throw missing('Database does not exist.')
    const writing = this.#writing.get(name) ?? { count: 0, idle: undefined }
    this.#writing.set(name, writing)
    writing.count++
    const room = this.#quota.enter(name, collection)
    try {
      return await run(collection, room)
    } finally {
      room.leave()
      if (--writing.count === 0) {
        this.#writing.delete(name)
        writing.idle?.()
      }
    }
  }

  /** @throws ServiceError NAME_INVALID, EXISTS */
  async create(name: string): Promise<void> {
    if (!NAME.test(name)) {
      throw new ServiceError(
        'NAME_INVALID',
        `Name: '${name.slice(0, 80)}'. Only lowercase characters (a-z), digits (0-9), and any of the characters _, $, (, ), +, -, and / are allowed. Must begin with a letter.`,
      )
    }
    if (name === REST)
      throw new ServiceError('NAME_INVALID', `'${REST}' is where PocketBase's API is, so no database has this name.`)
    const exists = new ServiceError('EXISTS', 'The database could not be created, the file already exists.')
    if (this.#dropping.has(name) || this.#app?.isTaken(name) === true) throw exists
    if (!(await this.#make(name))) throw exists
  }

  /** Makes it unless it is there. */
  async ensure(name: string): Promise<void> {
    await this.#make(name)
  }

  /** @throws ServiceError NOT_FOUND */
  async drop(name: string): Promise<void> {
    this.#refuseApp(name)
    const collection = await this.get(name)
    this.#dropping.add(name)
    try {
      const writing = this.#writing.get(name)
      if (writing !== undefined) await new Promise<void>((resolve) => (writing.idle = resolve))
      const { epoch } = await collection.info()
      // Replaces what was declared for the collection; otherwise it would apply to the next one of its name.
      this.#database.collection(collection.name, this.#settingsOf(name))
      await collection.ready()
      await this.#database.dropCollection(collection.name)
      if (epoch !== undefined) await this.#state.delete(securityId(epoch))
      this.#forget(name)
    } finally {
      this.#dropping.delete(name)
    }
  }

  /** The `_security` object as it was put; undefined if it never was. */
  async security(name: string): Promise<JsonObject | undefined> {
    if (this.isOfApp(name)) return undefined
    const collection = await this.get(name)
    const known = this.#security.get(name)
    if (known !== undefined) return known
    const read = this.#readSecurity(collection)
    this.#security.set(name, read)
    read.catch(() => this.#security.delete(name))
    return read
  }

  /** Replaces the `_security` object. @throws ServiceError NOT_FOUND, FORBIDDEN for a collection of the application */
  async setSecurity(name: string, security: JsonObject): Promise<void> {
    this.#refuseApp(name)
    const { epoch = '' } = await (await this.get(name)).info()
    await this.#state.set(securityId(epoch), { database: name, security })
    this.#security.delete(name)
  }

  /** Sets how many revisions a document remembers. @throws ServiceError as `setSecurity` */
  async setRevisionsLimit(name: string, revisionsLimit: number): Promise<void> {
    this.#refuseApp(name)
    const { name: own } = await this.get(name)
    await this.#database.collection(own, { revisionsLimit }).ready()
  }

  /** @throws ServiceError FORBIDDEN for a database of the server's own: what was replaced there has hashes of old passwords */
  async setHistory(name: string, history: boolean): Promise<void> {
    this.#refuseApp(name)
    const { name: own } = await this.get(name)
    if (history && isOwn(name)) throw new ServiceError('FORBIDDEN', `${name} never keeps what was replaced.`)
    await this.#database.collection(own, { history }).ready()
  }

  /** Whether it is a collection of the application: what is set for it stands in its definition. */
  isOfApp(name: string): boolean {
    return this.#app?.find(name) !== undefined
  }

  /** The name by which users know a collection of the library. */
  nameOf(collection: string): string | undefined {
    return this.#app?.nameOf(collection) ?? databaseName(collection)
  }

  /** Stops listening to the database, which stays open. */
  close(): void {
    this.#stopListening()
  }

  /** @throws ServiceError FORBIDDEN */
  #refuseApp(name: string): void {
    if (this.isOfApp(name))
      throw new ServiceError('FORBIDDEN', `${name} is a collection of the application: change its definition.`)
  }

  /** Makes the database of a name. False if it is there. */
  #make(name: string): Promise<boolean> {
    return this.#database.createCollection(collectionName(name), this.#settingsOf(name))
  }

  /** The settings of a new database. */
  #settingsOf(name: string): { readonly revisionsLimit: number; readonly history: boolean } {
    return { revisionsLimit: REVISIONS_LIMIT_DEFAULT, history: this.#keepsHistory && !isOwn(name) }
  }

  async #readSecurity(collection: Collection<JsonObject>): Promise<JsonObject | undefined> {
    const { epoch = '' } = await collection.info()
    const stored = await this.#state.get(securityId(epoch))
    return stored?.['security'] as JsonObject | undefined
  }

  #forget(name: string): void {
    this.#known.delete(name)
    this.#security.delete(name)
  }
}

/** Names of Pannier's own start with '_' like CouchDB's; those with '$' are of no CouchDB database. */
export function collectionName(name: string): string {
  return isOwn(name) ? `$${name}` : name
}

/** Whether a name is the server's own: `_users` and the like. */
function isOwn(name: string): boolean {
  return name.startsWith('_')
}

/** Undefined for a collection that is no CouchDB database. */
export function databaseName(collection: string): string | undefined {
  const name = collection.startsWith('$_') ? collection.slice(1) : collection
  return NAME.test(name) ? name : undefined
}

const SECURITY = 'security/'

function securityId(epoch: string): string {
  return SECURITY + epoch
}
