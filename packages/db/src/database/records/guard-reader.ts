/** Synchronous reads of all collections on one state, for guards and rules. Each may miss. */
import { PannierError } from '../../base/errors.ts'
import { encodeIdKey, numberKey } from '../../codec/key-encoding.ts'
import { BodyView } from '../../document/body.ts'
import type { Catalog, CollectionState } from '../../document/catalog.ts'
import {
  BATCH_BYTES_MAX,
  DocumentReader,
  getInOrder,
  sequencesOf,
  type StoredDocument,
} from '../../document/document-reader.ts'
import type { Snapshot } from '../../kv/key-value-store.ts'
import { referencesOf, Referrers } from '../../relations/references.ts'
import { servesRelation } from '../../relations/relation-index.ts'

/** Documents that one read gives. */
const READ_DOCUMENTS_MAX = 10_000
/** Documents that `writtenAfter` gives at a time. */
const WRITTEN_MAX = 256

/** A document, and when it was written last. */
export interface WrittenDocument {
  /** The sequence of the commit. */
  readonly sequence: number
  /** By creation: it never changes. */
  readonly number: number
  /** As it was stored. */
  readonly document: StoredDocument
}

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

  /** As `get`, and when it was written last. */
  written(collection: string, id: string): WrittenDocument | undefined {
    return this.writtenMany(collection, [id])[0]
  }

  /** Whether each id has a document. It reads none of them. */
  has(collection: string, ids: readonly string[]): boolean[] {
    const numbers = this.#open(collection)?.reader.numbersOf(ids.map(encodeIdKey))
    return ids.map((_, at) => numbers?.[at] !== undefined)
  }

  /** As `written` of each. What is missing in memory is fetched together. */
  writtenMany(collection: string, ids: readonly string[]): (WrittenDocument | undefined)[] {
    const reader = this.#open(collection)?.reader
    if (reader === undefined) return ids.map(() => undefined)
    return reader.getMany(ids).map((body) => body && writtenOf(reader, body))
  }

  /** As `writtenMany`, of documents with these numbers. Tombstones have `_deleted`; undefined: it was purged. */
  numbered(collection: string, numbers: readonly number[]): (WrittenDocument | undefined)[] {
    const reader = this.#open(collection)?.reader
    if (reader === undefined) return numbers.map(() => undefined)
    const sequences = sequencesOf(reader, numbers)
    return getInOrder(reader.bodies, sequences.map(numberKey)).map(
      (bytes, at) => bytes && writtenOf(reader, new BodyView().load(bytes, sequences[at]!)),
    )
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
   * @throws PANNIER_LIMIT_EXCEEDED if there are too many.
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
      .toSorted(byCreation)
      .map((body) => reader.decode(body))
      .filter((document) => referencesOf({ many: true }, document[field]).includes(id))
      .slice(0, limit)
  }

  /**
   * All documents of a collection, in the order of their ids or of their creation.
   *
   * @throws PANNIER_LIMIT_EXCEEDED if there are too many.
   */
  all(collection: string, order: 'id' | 'created' = 'id'): StoredDocument[] {
    const found = this.#open(collection)
    if (found === undefined) return []
    const bodies = this.#bodies(found)
    if (order === 'created') bodies.sort(byCreation)
    return bodies.map((body) => found.reader.decode(body))
  }

  /** The sequence of the last write to a collection, and the number of the collection, which another one of its name does not have. */
  lastWrite(collection: string): Readonly<Record<'number' | 'sequence' | 'count', number>> | undefined {
    const { state, reader } = this.#open(collection) ?? {}
    return state && { number: state.number, sequence: reader!.bodies.lastNumber, count: reader!.bodies.count() }
  }

  /** The first documents of those that were written after a sequence, in the order of the last write. Tombstones have `_deleted`. */
  writtenAfter(collection: string, sequence: number): WrittenDocument[] {
    const reader = this.#open(collection)?.reader
    const written: WrittenDocument[] = []
    const cursor = reader?.bodies.cursor({ gte: numberKey(sequence + 1) })
    for (let bytes = 0; written.length < WRITTEN_MAX && bytes < BATCH_BYTES_MAX && cursor?.next() === true;) {
      const body = new BodyView().load(cursor.value, cursor.keyNumber)
      written.push(writtenOf(reader!, body))
      bytes += body.bytes.length
    }
    return written
  }

  /** Reads further state of a collection for the library; undefined without such a collection. */
  readState<T>(collection: string, read: (snapshot: Snapshot, state: CollectionState) => T): T | undefined {
    const found = this.#open(collection)
    return found && read(this.#snapshot, found.state)
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

function writtenOf(reader: DocumentReader, body: BodyView): WrittenDocument {
  return { sequence: body.sequence, number: body.number, document: reader.decode(body) }
}

function byCreation(left: BodyView, right: BodyView): number {
  return left.number - right.number
}

function assertFew(count: number, what: string): void {
  if (count <= READ_DOCUMENTS_MAX) return
  const message = `A rule reads ${count} documents at once, as ${what}: at most ${READ_DOCUMENTS_MAX} are read.`
  throw new PannierError('PANNIER_LIMIT_EXCEEDED', message, { details: { count } })
}
