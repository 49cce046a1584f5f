/**
 * The server's own state: small documents in a collection whose name no CouchDB database can have. They are never
 * served.
 */
import { isPannierError } from 'pannier'
import type { Collection, Database } from 'pannier'
import type { JsonObject } from './documents.ts'

/** Where the server keeps its state: no CouchDB database can have this name. */
export const STATE_COLLECTION = '$server'

/** Small documents that are never served. */
export interface StateStore {
  get(id: string): Promise<JsonObject | undefined>
  set(id: string, content: JsonObject): Promise<void>
  /** Returns the document; writes and returns the result of `make` if there is none. */
  ensure(id: string, make: () => JsonObject): Promise<JsonObject>
}

export class ServerState implements StateStore {
  readonly #documents: Collection<JsonObject>

  constructor(database: Database) {
    this.#documents = database.collection<JsonObject>(STATE_COLLECTION)
  }

  async get(id: string): Promise<JsonObject | undefined> {
    return await this.#documents.get(id)
  }

  async set(id: string, content: JsonObject): Promise<void> {
    await this.#documents.upsert({ ...content, _id: id })
  }

  async delete(id: string): Promise<void> {
    await this.#documents.delete(id)
  }

  async ensure(id: string, make: () => JsonObject): Promise<JsonObject> {
    try {
      await this.#documents.insert({ ...make(), _id: id })
    } catch (error) {
      if (!isPannierError(error, 'PANNIER_CONFLICT')) throw error
    }
    return (await this.#documents.get(id))!
  }
}
