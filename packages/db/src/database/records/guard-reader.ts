/** Synchronous reads of all collections on one state, for guards and rules. Each may miss. */
import { PannierError } from '../../base/errors.ts'
import type { BodyView } from '../../document/body.ts'
import type { Catalog, CollectionState } from '../../document/catalog.ts'
import { DocumentReader, type StoredDocument } from '../../document/document-reader.ts'
import type { Snapshot } from '../../kv/key-value-store.ts'
import { referencesOf, Referrers } from '../../relations/references.ts'
import { servesRelation } from '../../relations/relation-index.ts'

/** Documents that one read gives. */
const READ_DOCUMENTS_MAX = 10_000

interface OpenCollection {
  readonly state: CollectionState
  readonly reader: DocumentReader
}

/**
 * Reads what a transaction sees, or what a snapshot has. A transaction sees what is committed, and what writes before it in its
 * group have written.
 */
export class GuardReader {
  readonly #snapshot: Snapshot
  readonly #catalog: Catalog
  readonly #collections = new Map<string, OpenCollection | undefined>()

  constructor(snapshot: Snapshot, catalog: Catalog) {
    this.#snapshot = snapshot
    this.#catalog = catalog
  }

  /** The document of that id; undefined if there is no such document or collection. */
  get(collection: string, id: string): StoredDocument | undefined {
    const reader = this.#open(collection)?.reader
    const body = reader?.get(id)
    return body && reader!.decode(body)
  }

  /** As `get` of each. What is missing in memory is fetched together. */
  getMany(collection: string, ids: readonly string[]): (StoredDocument | undefined)[] {
    const reader = this.#open(collection)?.reader
    if (reader === undefined) return ids.map(() => undefined)
    return reader.getMany(ids).map((body) => body && reader.decode(body))
  }

  /**
   * The documents whose field has the id, alone or in an array: by an index on the field, else of all documents. With `limit`
   * the first ones by creation.
   *
   * @throws PANNIER_LIMIT if there are too many.
   */
  via(collection: string, field: string, id: string, limit: number = Infinity): StoredDocument[] {
    const found = this.#open(collection)
    if (found === undefined) return []
    const { state, reader } = found
    for (const many of [false, true]) {
      const index = state.indexes.find((one) => one.builtTo === undefined && servesRelation(one, { field, many }))
      if (index === undefined) continue
      const referrers = new Referrers(this.#snapshot, state, { field, many }, index)
      if (limit > READ_DOCUMENTS_MAX)
        assertFew(referrers.count(id), `the field '${field}' of '${collection}' leads to '${id}'`)
      return referrers.of(id, limit).map((body) => reader.decode(body))
    }
    return this.#bodies(found)
      .toSorted((left, right) => left.number - right.number)
      .map((body) => reader.decode(body))
      .filter((document) => referencesOf({ many: true }, document[field]).includes(id))
      .slice(0, limit)
  }

  /**
   * All documents of a collection, in the order of their ids.
   *
   * @throws PANNIER_LIMIT if there are too many.
   */
  all(collection: string): StoredDocument[] {
    const found = this.#open(collection)
    return found === undefined ? [] : this.#bodies(found).map((body) => found.reader.decode(body))
  }

  #bodies({ state, reader }: OpenCollection): BodyView[] {
    const count = reader.count()
    assertFew(count, `all of '${state.name}' is read`)
    const numbers: number[] = []
    const cursor = reader.ids({}, { expected: count })
    while (cursor.next()) numbers.push(reader.numberAt(cursor))
    return reader.bodiesOf(numbers)
  }

  #open(name: string): OpenCollection | undefined {
    if (!this.#collections.has(name)) {
      const state = this.#catalog.collection(this.#snapshot, name)
      this.#collections.set(name, state && { state, reader: new DocumentReader(this.#snapshot, state) })
    }
    return this.#collections.get(name)
  }
}

function assertFew(count: number, what: string): void {
  if (count <= READ_DOCUMENTS_MAX) return
  const message = `A rule reads ${count} documents at once, as ${what}: at most ${READ_DOCUMENTS_MAX} are read.`
  throw new PannierError('PANNIER_LIMIT', message, { details: { count } })
}
