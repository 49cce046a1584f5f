/** The definitions of all collections: kept in `$definitions`, and in memory for those who ask. */
import { createSchema, type Schema } from '@pannier/rules'
import type { Collection, Database, Transaction } from 'pannier'
import type { GuardReader } from 'pannier/internal'
import type { JsonObject } from '../gateway/documents.ts'
import type { Principal } from '../gateway/principal.ts'
import { forbidden, missing, ServiceError } from '../gateway/service-error.ts'
import { completeDefinition, mergeDefinition, newDefinition } from './complete-definition.ts'
import { recordsName, type Definition } from './definition.ts'
import { idOf } from './scaffolds.ts'
import { SYSTEM_COLLECTIONS } from './system-collections.ts'

/** No CouchDB database can have this name. */
const COLLECTION = '$definitions'
/** The document that every change of a definition writes. */
const VERSION = 'version'

/** Ids of definitions may begin with `_`, those of documents may not. */
function documentId({ id }: Definition): string {
  return `definition/${id}`
}

/** All definitions at one moment. */
interface State {
  readonly version: number
  readonly all: readonly Definition[]
  readonly found: ReadonlyMap<string, Definition>
  readonly schema: Schema
}

/**
 * What the collections of the application are. Only admins change it.
 *
 * @example
 * const definitions = await Definitions.open(database)
 * await definitions.create(SYSTEM, { name: 'posts', fields: [{ name: 'title', type: 'text' }] })
 * definitions.find('Posts')?.fields
 */
export class Definitions {
  readonly #database: Database
  #state: State = stateOf(0, [])
  /** Changes come one after another. */
  #turn: Promise<unknown> = Promise.resolve()

  /** Makes the system collections of a new database. */
  static async open(database: Database): Promise<Definitions> {
    const definitions = new Definitions(database)
    await definitions.#load()
    if (definitions.#state.version === 0) await definitions.#addSystemCollections()
    return definitions
  }

  private constructor(database: Database) {
    this.#database = database
  }

  /** By name in any case, or by id. */
  find(nameOrId: string): Definition | undefined {
    return this.#state.found.get(nameOrId.toLowerCase())
  }

  /** @throws ServiceError NOT_FOUND */
  get(nameOrId: string): Definition {
    const definition = this.find(nameOrId)
    if (definition === undefined) throw missing('')
    return definition
  }

  /** In the order in which they were made. */
  all(): readonly Definition[] {
    return this.#state.all
  }

  /** What rules may name: made of all definitions. Another one after every change. */
  get schema(): Schema {
    return this.#state.schema
  }

  /** The library's collection that has the records. */
  records(definition: Definition): Collection<JsonObject> {
    return this.#database.collection<JsonObject>(recordsName(definition))
  }

  /**
   * Whether `definition` is what is stored, for a guard: a write that was prepared with an older one is prepared again.
   */
  isCurrent(definition: Definition, reader: GuardReader): boolean {
    return (
      this.find(definition.id) === definition && reader.get(COLLECTION, VERSION)?.['version'] === this.#state.version
    )
  }

  /** @throws ServiceError FORBIDDEN, INVALID with data */
  async create(principal: Principal, input: unknown): Promise<Definition> {
    checkAdmin(principal)
    return this.#inTurn(async () => {
      const definition = this.#newDefinition(input)
      await this.#write([definition])
      return definition
    })
  }

  /** What is left out stays. Fields are known by their ids. @throws ServiceError FORBIDDEN, NOT_FOUND, INVALID with data */
  async update(principal: Principal, nameOrId: string, input: unknown): Promise<Definition> {
    checkAdmin(principal)
    return this.#inTurn(async () => {
      const old = this.get(nameOrId)
      const merged = completeDefinition(mergeDefinition(old, input))
      const definition: Definition = { ...merged, updated: now() }
      await this.#write([definition])
      return definition
    })
  }

  /** With its records. @throws ServiceError FORBIDDEN, NOT_FOUND, INVALID */
  async delete(principal: Principal, nameOrId: string): Promise<void> {
    checkAdmin(principal)
    await this.#inTurn(async () => {
      const definition = this.get(nameOrId)
      await this.#write([], [definition])
      await this.#database.dropCollection(recordsName(definition))
    })
  }

  /** Ends what runs. */
  async close(): Promise<void> {
    await this.#turn
  }

  #newDefinition(input: unknown): Definition {
    const given = newDefinition(input)
    const id = given.id === '' ? this.#freeId(given) : given.id
    const created = now()
    return completeDefinition({ ...given, id, created, updated: created })
  }

  #freeId({ type, name }: Definition): string {
    const base = idOf(type, name)
    let id = base
    for (let next = 2; this.find(id) !== undefined; next++) id = base + String(next)
    return id
  }

  async #addSystemCollections(): Promise<void> {
    const definitions = SYSTEM_COLLECTIONS.map((input) => this.#newDefinition(input))
    await this.#write(definitions)
  }

  async #write(changed: readonly Definition[], removed: readonly Definition[] = []): Promise<void> {
    const { version } = this.#state
    await this.#database.transaction(async (transaction: Transaction) => {
      const documents = transaction.collection<JsonObject>(COLLECTION)
      const stored = await documents.get(VERSION)
      if ((stored?.['version'] ?? 0) !== version) throw new ServiceError('CONFLICT', '')
      await documents.upsert([
        { _id: VERSION, version: version + 1 },
        ...changed.map((definition) => ({ ...definition, _id: documentId(definition) })),
      ])
      await documents.delete(removed.map(documentId))
    })
    await this.#load()
  }

  async #load(): Promise<void> {
    const documents = this.#database.collection<JsonObject>(COLLECTION)
    const rows = await documents.find({}).sort('$created').toArray()
    const version = (rows.find(({ _id }) => _id === VERSION)?.['version'] ?? 0) as number
    this.#state = stateOf(
      version,
      rows.flatMap(({ _id, _rev, ...definition }) => (_id === VERSION ? [] : [definition as unknown as Definition])),
    )
  }

  #inTurn<T>(run: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(run)
    this.#turn = done.catch(() => undefined)
    return done
  }
}

function stateOf(version: number, all: readonly Definition[]): State {
  const found = new Map<string, Definition>()
  for (const definition of all) found.set(definition.id.toLowerCase(), definition)
  for (const definition of all) found.set(definition.name.toLowerCase(), definition)
  return { version, all, found, schema: createSchema(all) }
}

function checkAdmin({ isAdmin, name }: Principal): void {
  if (isAdmin) return
  if (name === null) throw new ServiceError('UNAUTHENTICATED', '')
  throw forbidden('')
}

/** `2026-11-22 15:04:49.813Z` */
function now(): string {
  return new Date().toISOString().replace('T', ' ')
}
