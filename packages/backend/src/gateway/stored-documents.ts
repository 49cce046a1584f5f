/** Documents that guards may read of a collection, with the note that a later change was not seen. */
import type { Collection, TransactionCollection } from 'pannier'
import type { RevisionReadOptions } from 'pannier/types'
import type { JsonObject } from './documents.ts'
import type { StoredDocuments } from './guards.ts'

/** Notes from when it was read first: what has a later change was not seen. */
export class Stored implements StoredDocuments {
  readonly name: string
  readonly #collection: Collection<JsonObject>
  /** The last sequence number before anything was read; undefined: nothing was. */
  since: number | undefined

  constructor(collection: Collection<JsonObject>) {
    this.name = collection.name
    this.#collection = collection
  }

  async get(id: string, options?: RevisionReadOptions): Promise<JsonObject | undefined> {
    await this.#note()
    return options === undefined ? await this.#collection.get(id) : await this.#collection.get(id, options)
  }

  async leaves(id: string): Promise<JsonObject[]> {
    await this.#note()
    const leaves = await this.#collection.getRevisions(id, 'all')
    return leaves.flatMap((leaf) => ('ok' in leaf ? [leaf.ok as JsonObject] : []))
  }

  async wasDeleted(id: string): Promise<boolean> {
    await this.#note()
    const [row] = await this.#collection.list({ ids: [id] }).toArray()
    return row !== undefined && 'deleted' in row
  }

  /** The same documents, with the writes of a transaction so far. */
  within(records: Pick<TransactionCollection<JsonObject>, 'get'>): StoredDocuments {
    return {
      name: this.name,
      get: (id, options) => (options === undefined ? records.get(id) : this.get(id, options)),
      leaves: (id) => this.leaves(id),
      wasDeleted: (id) => this.wasDeleted(id),
    }
  }

  async #note(): Promise<void> {
    this.since ??= (await this.#collection.info()).lastSeq
  }
}
