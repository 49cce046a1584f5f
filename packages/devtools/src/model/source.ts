/** The databases that devtools show: those of the app, and those of accounts of clients. */
import type { Collection, Database, DatabaseChange, Replication } from 'pannier'
import type { Client, UntypedCollections } from '@pannier/client'
import { Model, messageOf } from './model.ts'

/** A database of `pannier`, whatever the types of its collections are. */
export type AnyDatabase = Pick<Database, 'name' | 'closed' | 'storage'>

type ShownClient = Client<UntypedCollections>

/** A client of `@pannier/client`, whatever the types of its collections are. */
export type AnyClient = Pick<ShownClient, 'account' | 'state' | 'token' | 'subscribeState' | 'subscribeRejected'>

/** The parts of an app that devtools show. */
export interface DevtoolsSources {
  /** Databases that the app has opened. */
  readonly databases?: readonly AnyDatabase[]
  /** Clients of a server. */
  readonly clients?: readonly AnyClient[]
  /** Replications, as `collection.sync` and `db.sync` return them. */
  readonly replications?: readonly Replication[]
}

/** A document as JSON. */
export type JsonObject = Readonly<Record<string, unknown>>

/** Fields that the library adds, which no write has. */
const ADDED = ['_id', '_rev', '$rev']

/** One database. */
export class Source {
  readonly name: string
  readonly db: Database
  /** The client whose account has the database. Its writes go through it. */
  readonly client: ShownClient | undefined
  /** Why the handle has ended; undefined: it is open. */
  ended: string | undefined

  constructor(db: AnyDatabase, client: AnyClient | undefined, onEnd: () => void) {
    this.name = db.name
    this.db = db as Database
    this.client = client as ShownClient | undefined
    void db.closed.then((reason) => {
      this.ended = reason === undefined ? 'The app has closed it.' : messageOf(reason)
      onEnd()
    })
  }

  /** Calls back after each commit. The function returned ends it. A database that is closed has no commits. */
  follow(listener: (change: DatabaseChange) => void): () => void {
    try {
      return this.db.subscribe(listener)
    } catch {
      return () => {}
    }
  }

  /** The collections for people. Those of a client that begin with `$` have its queue, and its session with the token. */
  async names(): Promise<string[]> {
    const names = await this.db.collections()
    return this.client === undefined ? names : names.filter((name) => !name.startsWith('$'))
  }

  collection(name: string): Collection<JsonObject> {
    return this.db.collection<JsonObject>(name)
  }

  /** Stores a document. `before`: the document as it was read; undefined: a new one. Gives its id. */
  async save(name: string, document: JsonObject, before: JsonObject | undefined): Promise<string> {
    if (this.client === undefined) {
      const collection = this.collection(name)
      return (await (before === undefined ? collection.insert(document) : collection.put(document))).id
    }
    const records = this.client.collection(name)
    if (before === undefined) return (await records.create(withoutAdded(document))).id
    const id = String(before['_id'])
    await records.update(id, changedFields(before, document))
    return id
  }

  async remove(name: string, document: JsonObject): Promise<void> {
    const _id = String(document['_id'])
    if (this.client === undefined) await this.collection(name).delete({ _id, _rev: String(document['_rev']) })
    else await this.client.collection(name).delete(_id)
  }
}

function withoutAdded(document: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(document).filter(([field]) => !ADDED.includes(field)))
}

/** The fields that differ. One that was removed is null. */
function changedFields(before: JsonObject, after: JsonObject): JsonObject {
  const fields = new Set(Object.keys({ ...before, ...after }).filter((field) => !ADDED.includes(field)))
  const changed = [...fields].filter((field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]))
  return Object.fromEntries(changed.map((field) => [field, after[field] ?? null]))
}

/** The account of a client, for people. */
export function accountName({ account }: AnyClient['state']): string {
  const email = account?.['email']
  return account === undefined ? 'A guest' : typeof email === 'string' && email !== '' ? email : account.id
}

/** All sources. Those of a client are others when another account signs in. */
export class SourceList extends Model {
  sources: readonly Source[] = []
  readonly #given: DevtoolsSources
  readonly #stops: readonly (() => void)[]

  constructor(given: DevtoolsSources) {
    super()
    this.#given = given
    this.#look()
    this.#stops = (given.clients ?? []).map((client) => client.subscribeState(() => this.#look()))
  }

  stop(): void {
    for (const stop of this.#stops) stop()
  }

  #look(): void {
    const { databases = [], clients = [] } = this.#given
    const found: readonly (readonly [AnyDatabase, AnyClient?])[] = [
      ...databases.map((db) => [db] as const),
      ...clients.flatMap((client) => {
        const db = databaseOf(client)
        return db === undefined ? [] : [[db, client] as const]
      }),
    ]
    const isSame = found.length === this.sources.length && found.every(([db], at) => this.sources[at]!.db === db)
    if (isSame) return
    this.sources = found.map(
      ([db, client]) => this.sources.find((source) => source.db === db) ?? new Source(db, client, () => this.changed()),
    )
    this.changed()
  }
}

/** The database of the account that is signed in. The client's types don't have it, so that no app writes past the client. */
function databaseOf(client: AnyClient): Database | undefined {
  return (client as unknown as { readonly db: Database | undefined }).db
}
