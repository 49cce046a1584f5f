/** The indexes of design documents as indexes of the collection. They are made when a query first has use for them. */
import { INDEX_FIELDS_MAX } from 'pannier/limits'
import type { IndexInput, JsonObject } from 'pannier'
import type { Place } from '../pouch.ts'
import { codeUnitOrder } from './code-unit-order.ts'

/** The meaning of selectors and the order of strings. */
interface Meaning {
  readonly dialect: 'couchdb'
  readonly collation: string
}

export function meaningOf(): Meaning {
  return { dialect: 'couchdb', collation: codeUnitOrder() }
}

/** An index as a design document defines it. */
export interface FindIndex {
  readonly fields: readonly string[]
  /** Only documents that it matches are in the index. */
  readonly filter: JsonObject | undefined
}

export class FindIndexes {
  readonly #place: Place
  /** By definition. Each resolves when the index is built, as far as it can be. */
  readonly #built = new Map<string, Promise<void>>()

  constructor(place: Place) {
    this.#place = place
  }

  /** Resolves when queries can use the index. One that the library refuses is not made, and queries scan. */
  built(index: FindIndex): Promise<void> {
    const name = nameOf(index)
    let building = this.#built.get(name)
    if (building === undefined) {
      building = this.#build(index)
      this.#built.set(name, building)
      building.catch(() => this.#built.delete(name))
    }
    return building
  }

  /** Drops indexes that no design document has. */
  async keep(wanted: readonly FindIndex[]): Promise<void> {
    const { docs } = this.#place
    const names = new Set(wanted.map((index) => nameOf({ ...index, fields: fieldsOf(index) })))
    for (const { name, fields, where: filter } of await docs.indexes()) {
      const paths = fields.map(({ path }) => path)
      if (!names.has(nameOf({ fields: paths, filter: filter as JsonObject | undefined }))) await docs.dropIndex(name)
    }
    this.#built.clear()
  }

  async #build(index: FindIndex): Promise<void> {
    const { db, docs } = this.#place
    const { filter: where } = index
    const made: IndexInput = { on: fieldsOf(index), ...meaningOf(), ...(where !== undefined && { where }) }
    try {
      db.collection<JsonObject>(docs.name, { indexes: [made] })
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
    }
    await docs.ready()
  }
}

/** Ids come after the fields, so that the index gives the order of ties too. More fields only order ties. */
function fieldsOf({ fields }: FindIndex): string[] {
  return [...new Set([...fields, '_id'])].slice(0, INDEX_FIELDS_MAX)
}

function nameOf({ fields, filter }: FindIndex): string {
  return JSON.stringify([fields, filter ?? null])
}
