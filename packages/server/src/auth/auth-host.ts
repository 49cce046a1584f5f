/** What authentication asks of the server around it. */
import type { Collection, Database } from 'pannier'
import type { JsonObject } from '../http/request-body.ts'

/** Where the server keeps its state: no CouchDB database can have this name. */
export const STATE_COLLECTION = '$server'

/** Small documents that are never served. */
export interface StateStore {
  get(id: string): Promise<JsonObject | undefined>
  set(id: string, content: JsonObject): Promise<void>
  /** What is there, or else what `make` gives, which then is there. */
  ensure(id: string, make: () => JsonObject): Promise<JsonObject>
}

export interface AuthHost {
  readonly database: Database
  readonly state: StateStore
  /** The collection of the `_users` database. */
  readonly users: Collection<JsonObject>
  /** `_security` of a database as it was put; undefined if it never was. @throws HttpError 404 if there is no such database */
  security(database: string): Promise<JsonObject | undefined>
}
