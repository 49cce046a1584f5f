/**
 * The only way to documents for code that acts for a principal: HTTP routes and replications. It knows neither HTTP nor
 * a protocol's words. `AccessRules` and guards decide what the principal may do.
 */
import type { Database, WriteOutcome } from 'pannier'
import { environmentOf } from 'pannier/internal'
import type { CollectionSide } from 'pannier/types'
import type { ChangeFilter } from './change-filter.ts'
import { CollectionAdministration } from './collection-administration.ts'
import type { Databases } from './databases.ts'
import type { JsonObject } from './documents.ts'
import { GuardedCollection } from './guarded-collection.ts'
import type { ReadScope } from './guarded-collection.ts'
import { GuardedWriter, type GuardedWriterParts } from './guarded-writer.ts'
import type { GuardedOutcome } from './guarded-writer.ts'
import type { Principal } from './principal.ts'
import { forbidden } from './service-error.ts'

/** The rights of principals, as authentication knows them. */
export interface AccessRules {
  /** The scope that a principal may read. @throws ServiceError if it may not open the collection at all */
  scopeOf(principal: Principal, database: string): Promise<ReadScope>
  /** @throws ServiceError unless the principal may change what is set for a collection */
  checkAdmin(principal: Principal, database: string): Promise<void>
}

interface ReplicationEnd {
  /** As of now: rights may change while it runs. */
  readonly principal: () => Principal
  readonly database: string
  /** Filter of the documents that are read from here. */
  readonly filter: ChangeFilter | undefined
  /** Why a document is not written, as the other side is to see it. */
  readonly asOutcome: (outcome: GuardedOutcome) => WriteOutcome
  /** The error that says why nothing is written. */
  readonly asError: (error: unknown) => unknown
}

/** Collections and what is set for them, for a principal. Get it from a server: `server.gateway`. */
export class Gateway {
  readonly #database: Database
  readonly #databases: Databases
  readonly #rules: AccessRules
  readonly #writer: GuardedWriter

  /** @internal */
  constructor(database: Database, databases: Databases, rules: AccessRules, parts: GuardedWriterParts) {
    this.#database = database
    this.#databases = databases
    this.#rules = rules
    this.#writer = new GuardedWriter(environmentOf(database), databases, parts)
  }

  /**
   * A collection as the principal may use it.
   *
   * @throws ServiceError NOT_FOUND, UNAUTHENTICATED, FORBIDDEN
   * @example
   * const people = await server.gateway.collection(SYSTEM, 'people')
   * const [outcome] = await people.put([{ _id: 'ann', age: 31 }])
   */
  async collection(principal: Principal, database: string): Promise<GuardedCollection> {
    const scope = await this.#rules.scopeOf(principal, database)
    const collection = await this.#databases.get(database)
    return new GuardedCollection(principal, database, collection, scope, this.#writer)
  }

  /** The settings of a collection. @throws ServiceError NOT_FOUND, UNAUTHENTICATED, FORBIDDEN */
  async administration(principal: Principal, database: string): Promise<CollectionAdministration> {
    await this.#rules.checkAdmin(principal, database)
    const collection = await this.#databases.get(database)
    return new CollectionAdministration(this.#database, this.#databases, database, collection)
  }

  /** @internal For the server itself: what acts for somebody asks for `collection`. */
  exists(database: string): Promise<boolean> {
    return this.#databases.has(database)
  }

  /** The names of all served collections, sorted. @throws ServiceError FORBIDDEN */
  async names(principal: Principal): Promise<string[]> {
    checkServerAdmin(principal)
    return this.#databases.names()
  }

  /** Makes a collection. @throws ServiceError FORBIDDEN, NAME_INVALID, EXISTS */
  async create(principal: Principal, database: string): Promise<void> {
    checkServerAdmin(principal)
    await this.#databases.create(database)
  }

  /** Drops a collection, with all that is set for it. @throws ServiceError FORBIDDEN, NOT_FOUND */
  async drop(principal: Principal, database: string): Promise<void> {
    checkServerAdmin(principal)
    await this.#databases.drop(database)
  }

  /** @internal A collection as one end of a replication that the library runs. @throws as `collection`; FORBIDDEN unless all of it may be read */
  async replicationEnd({ principal, database, filter, asOutcome, asError }: ReplicationEnd): Promise<CollectionSide> {
    const scope = await this.#rules.scopeOf(principal(), database)
    if (scope !== 'all') throw forbidden(`Not all of ${database} is yours to replicate.`)
    const collection = await this.#databases.get(database)
    const translated = async <T>(work: () => Promise<T>): Promise<T> => {
      try {
        return await work()
      } catch (error) {
        throw asError(error)
      }
    }
    return {
      collection,
      around: (write) => translated(() => this.#databases.write(database, () => write())),
      store: (documents) =>
        translated(async () => {
          const writer = { principal: principal(), database }
          const outcomes = await this.#writer.put(writer, collection, documents as readonly JsonObject[], {
            newEdits: false,
          })
          return outcomes.map(asOutcome)
        }),
      accept: filter === undefined ? undefined : (documents) => filter.accepts(documents),
    }
  }
}

function checkServerAdmin({ isAdmin }: Principal): void {
  if (!isAdmin) throw forbidden('You are not a server admin.')
}
