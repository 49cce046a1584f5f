/**
 * Keeps the indexes of collections as their design documents define them. These may come from `_index`, from a document
 * write or from a replication. After a commit, the next query checks for changed definitions.
 */
import type { Collection, Database } from 'pannier'
import type { Logger } from 'pino'
import type { Named } from '../../design/design-documents.ts'
import type { JsonObject } from '@pannier/backend/internal'
import { indexesOf, libraryIndex, libraryName } from './mango-definition.ts'
import type { MangoIndex } from './mango-definition.ts'

const PREFIX = '_design/'

export class MangoIndexes {
  readonly #database: Database
  readonly #log: Pick<Logger, 'warn'>
  /** By name of the collection: what its design documents say; missing when that may have changed. */
  readonly #settled = new Map<string, Promise<readonly MangoIndex[]>>()
  readonly #stopListening: () => void

  constructor(database: Database, log: Pick<Logger, 'warn'>) {
    this.#database = database
    this.#log = log
    this.#stopListening = database.subscribe(({ collections }) => {
      for (const [name, { ids, dropped }] of collections) {
        if (dropped || ids === undefined || ids.some((id) => id.startsWith(PREFIX))) this.#settled.delete(name)
      }
    })
  }

  /** The indexes of a database, which the collection has from now on; those that are new may still be being built. */
  settled({ name }: Named): Promise<readonly MangoIndex[]> {
    const known = this.#settled.get(name)
    if (known !== undefined) return known
    const settling = this.#settle(this.#database.collection<JsonObject>(name))
    this.#settled.set(name, settling)
    settling.catch(() => this.#settled.delete(name))
    return settling
  }

  /** Resolves when the indexes are built, as far as they can be: queries use them from then on. */
  async built(collection: Named): Promise<void> {
    await this.settled(collection)
    try {
      await this.#database.collection(collection.name).ready()
    } catch (error) {
      this.#log.warn({ err: error, collection: collection.name }, 'a Mango index could not be built')
    }
  }

  /** A design document was written by the caller, who does not wait for the news of it. */
  changed({ name }: Named): void {
    this.#settled.delete(name)
  }

  close(): void {
    this.#stopListening()
  }

  async #settle(collection: Collection<JsonObject>): Promise<readonly MangoIndex[]> {
    const rows = await collection.list({ prefix: PREFIX, docs: true }).toArray()
    const wanted = rows.flatMap(({ doc }) => indexesOf(doc as JsonObject))
    const names = new Set(wanted.map(libraryName))
    for (const { name } of await collection.indexes()) {
      if (name.startsWith(PREFIX) && !names.has(name)) await collection.dropIndex(name)
    }
    for (const index of wanted) await this.#declare(collection, index)
    return wanted
  }

  /** A definition that the library refuses makes no index, and queries scan. */
  async #declare(collection: Collection<JsonObject>, index: MangoIndex): Promise<void> {
    const declare = (): void =>
      void this.#database.collection<JsonObject>(collection.name, { indexes: [libraryIndex(index)] })
    try {
      try {
        declare()
      } catch {
        await collection.dropIndex(libraryName(index))
        declare()
      }
    } catch (error) {
      this.#log.warn({ err: error, index: libraryName(index) }, 'a Mango index could not be made')
    }
  }
}
