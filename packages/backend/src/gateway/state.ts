/**
 * The server's own state: small documents in a collection whose name no CouchDB database can have. They are never
 * served.
 */
import { isPannierError } from 'pannier'
import type { Collection, Database } from 'pannier'
import type { JsonObject } from './documents.ts'

/** Where the server keeps its state: no CouchDB database can have this name. */
export const STATE_COLLECTION = '$server'

/** The state of the server: small documents that are never served. */
export class ServerState {
  readonly #documents: Collection<JsonObject>

  constructor(database: Database) {
    this.#documents = database.collection<JsonObject>(STATE_COLLECTION)
  }

  /** The document; undefined if it is missing. */
  async get(id: string): Promise<JsonObject | undefined> {
    return await this.#documents.get(id)
  }

  /** Writes the document in place of an older one. */
  async set(id: string, content: JsonObject): Promise<void> {
    await this.#documents.upsert({ ...content, _id: id })
  }

  /** Writes what `change` makes of the document, whatever other servers write meanwhile. `old`: {} if it is missing. */
  async change(id: string, change: (old: JsonObject) => JsonObject): Promise<void> {
    await this.ensure(id, () => ({}))
    await this.#documents.update(id, (old) => ({ ...change(old), _id: id, _rev: old['_rev'] }))
  }

  /** Deletes the document. */
  async delete(id: string): Promise<void> {
    await this.#documents.delete(id)
  }

  /** Writes the result of `make` unless the document is there; returns the document. */
  async ensure(id: string, make: () => JsonObject): Promise<JsonObject> {
    try {
      await this.#documents.insert({ ...make(), _id: id })
    } catch (error) {
      if (!isPannierError(error, 'PANNIER_CONFLICT')) throw error
    }
    return (await this.#documents.get(id))!
  }
}
