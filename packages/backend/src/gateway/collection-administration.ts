/** Actions of an admin of a collection, besides reading and writing documents. */
import type { Collection, Database } from 'pannier'
import type { Databases } from './databases.ts'
import type { JsonObject } from './documents.ts'
import { forbidden } from './service-error.ts'

/** The settings of a collection, and its upkeep. */
export class CollectionAdministration {
  /** The name by which users know it. */
  readonly database: string
  /** In the database of the server. */
  readonly name: string
  readonly #databases: Databases
  readonly #database: Database
  readonly #collection: Collection<JsonObject>

  /** @internal Use `gateway.administration`. */
  constructor(database: Database, databases: Databases, name: string, collection: Collection<JsonObject>) {
    this.database = name
    this.name = collection.name
    this.#databases = databases
    this.#database = database
    this.#collection = collection
  }

  /** Forgets what no reader needs, and writes everything to its place. */
  async compact(): Promise<void> {
    await this.#collection.compact()
    await this.#database.flush()
  }

  /** Forgets leaves of a document; gives those that were there. @throws ServiceError FORBIDDEN for a collection of the application */
  async purge(id: string, revs: readonly string[]): Promise<readonly string[]> {
    if (this.#databases.isOfApp(this.database))
      throw forbidden(`${this.database} is a collection of the application: its rules could not see a purge.`)
    return this.#databases.write(this.database, async (collection) => (await collection.purge(id, revs)).purged)
  }

  /** The users that may use it: CouchDB's `_security`. */
  setSecurity(security: JsonObject): Promise<void> {
    return this.#databases.setSecurity(this.database, security)
  }

  /** How many revisions of a document are remembered. */
  setRevisionsLimit(revisionsLimit: number): Promise<void> {
    return this.#databases.setRevisionsLimit(this.database, revisionsLimit)
  }

  /** Whether the content of replaced revisions is kept. @throws ServiceError FORBIDDEN for a collection of the server's own */
  setHistory(history: boolean): Promise<void> {
    return this.#databases.setHistory(this.database, history)
  }
}
