/** Synchronous reads of all collections on one state, for guards and rules. Each may miss. */
import { PannierError } from '../../base/errors.ts'
import type { Catalog, CollectionState } from '../../document/catalog.ts'
import { DocumentReader, type StoredDocument } from '../../document/document-reader.ts'
import type { Snapshot } from '../../kv/key-value-store.ts'
import { referencesOf, Referrers } from '../../relations/references.ts'
import { servesRelation } from '../../relations/relation-index.ts'

/** Documents that one read gives. */
export const READ_DOCUMENTS_MAX = 10_000

interface ReadCollection {
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
  readonly #collections = new Map<string, ReadCollection | undefined>()

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
   * All documents whose field has the id, alone or in an array: by an index on the field, else of all documents.
   *
   * @throws PANNIER_LIMIT if there are too many.
   */
  via(collection: string, field: string, id: string): StoredDocument[] {
    const found = this.#open(collection)
    if (found === undefined) return []
    const { state, reader } = found
    for (const many of [false, true]) {
      const index = state.indexes.find((one) => one.builtTo === undefined && servesRelation(one, { field, many }))
      if (index === undefined) continue
      const referrers = new Referrers(this.#snapshot, state, { field, many }, index)
      assertFew(referrers.count(id), `the field '${field}' of '${collection}' leads to '${id}'`)
      return referrers.of(id, READ_DOCUMENTS_MAX).map((body) => reader.decode(body))
    }
    return this.all(collection).filter((document) => referencesOf({ many: true }, document[field]).includes(id))
  }

  /**
   * All documents of a collection, in the order of their ids.
   *
   * @throws PANNIER_LIMIT if there are too many.
   */
  all(collection: string): StoredDocument[] {
    const reader = this.#open(collection)?.reader
    if (reader === undefined) return []
    const count = reader.count()
    assertFew(count, `all of '${collection}' is read`)
    const numbers: number[] = []
    const cursor = reader.ids({}, { expected: count })
    while (cursor.next()) numbers.push(reader.numberAt(cursor))
    return reader.bodiesOf(numbers).map((body) => reader.decode(body))
  }

  #open(name: string): ReadCollection | undefined {
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
