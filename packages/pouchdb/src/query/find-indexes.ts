/** The indexes of design documents as indexes of the collection. They are made when a query first has use for them. */
import { INDEX_FIELDS_MAX } from 'pannier/limits'
import type { IndexInfo, IndexInput, JsonObject } from 'pannier'
import type { Place } from '../pouch.ts'
import { CODE_UNIT_ORDER } from '../code-unit-order.ts'

/** The meaning of selectors and the order of strings. */
export const MEANING: { readonly dialect: 'couchdb'; readonly collation: string } = {
  dialect: 'couchdb',
  collation: CODE_UNIT_ORDER,
}

/** An index as a design document defines it. */
export interface FindIndex {
  readonly fields: readonly string[]
  /** Only documents that it matches are in the index. */
  readonly filter: JsonObject | undefined
}

export class FindIndexes {
  readonly #place: Place
  /** The definitions that the library refuses. */
  readonly #refused = new Set<string>()

  constructor(place: Place) {
    this.#place = place
  }

  /**
   * Resolves when queries can use the index. The collection says which there are, as other instances and tabs make and drop them too. One
   * that the library refuses is not made, and queries scan.
   */
  async built(index: FindIndex): Promise<void> {
    const name = nameOf(fieldsOf(index), index.filter)
    if (this.#refused.has(name)) return
    const { db, docs } = this.#place
    const stored = await docs.indexes()
    if (stored.some((each) => each.ready && nameOfStored(each) === name)) return
    const { filter: where } = index
    const made: IndexInput = { on: fieldsOf(index), ...MEANING, ...(where !== undefined && { where }) }
    try {
      db.collection<JsonObject>(docs.name, { indexes: [made] })
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
      this.#refused.add(name)
    }
    await docs.ready()
  }

  /** Drops indexes that no design document has. */
  async keep(wanted: readonly FindIndex[]): Promise<void> {
    const { docs } = this.#place
    const names = new Set(wanted.map((index) => nameOf(fieldsOf(index), index.filter)))
    for (const index of await docs.indexes()) if (!names.has(nameOfStored(index))) await docs.dropIndex(index.name)
  }
}

/** Ids come after the fields, so that the index gives the order of ties too. More fields only order ties. */
function fieldsOf({ fields }: FindIndex): string[] {
  return [...new Set([...fields, '_id'])].slice(0, INDEX_FIELDS_MAX)
}

function nameOf(fields: readonly string[], filter: unknown): string {
  return JSON.stringify([fields, filter ?? null])
}

function nameOfStored({ fields, where: filter }: IndexInfo): string {
  return nameOf(
    fields.map(({ path }) => path),
    filter,
  )
}
