/** `check: true`: refuses writes that refer to documents which do not exist. It stands before the unique indexes. */
import { PannierError } from '../base/errors.ts'
import { together } from '../base/miss.ts'
import { idKey } from '../query/columns/collection-rows.ts'
import type { Key } from '../base/brand.ts'
import type { Catalog, CollectionState } from '../document/catalog.ts'
import { DocumentReader } from '../document/document-reader.ts'
import { DocumentWrite, type IndexMaintenance, type PreparedWork, type Refusals } from '../document/document-write.ts'
import { FieldReader } from '../index/index-key.ts'
import type { WriteTransaction } from '../kv/key-value-store.ts'
import { referencesOf } from './references.ts'
import type { Relation } from './relation-graph.ts'

/** The ids that a write begins to refer to. */
interface NewReferences {
  readonly write: DocumentWrite
  readonly relation: Relation
  readonly ids: readonly string[]
}

/** `inner` with checks before it. `relations`: those of the collection that are checked. */
export class CheckedMaintenance implements IndexMaintenance {
  readonly #inner: IndexMaintenance
  readonly #catalog: Catalog
  readonly #relations: readonly Relation[]

  constructor(inner: IndexMaintenance, catalog: Catalog, relations: readonly Relation[]) {
    this.#inner = inner
    this.#catalog = catalog
    this.#relations = relations
  }

  prepare(transaction: WriteTransaction, collection: CollectionState | undefined, work: PreparedWork): Refusals {
    if (!work.isRefusable) return this.#inner.prepare(transaction, collection, work)
    const news = this.#newReferences(collection, work)
    const missing = this.#missing(transaction, collection, news)
    const refused = new Map<DocumentWrite, PannierError>()
    // A refused document keeps what it has in unique indexes, and is not there for those that refer to it.
    for (;;) {
      const before = refused.size
      for (const [write, error] of dangling(news, missing, work, refused)) refused.set(write, error)
      const left = { ...work, writes: work.writes.filter((write) => !refused.has(write)) }
      const duplicates = this.#inner.prepare(transaction, collection, left)
      for (const [write, error] of duplicates) refused.set(write, error)
      if (refused.size === before) return refused
    }
  }

  apply(transaction: WriteTransaction, collection: CollectionState, writes: readonly DocumentWrite[]): void {
    this.#inner.apply(transaction, collection, writes)
  }

  /**
   * References that are new in a write. Earlier references are not checked again, so that a document can be changed whatever is missing.
   */
  #newReferences(collection: CollectionState | undefined, { writes, shapes }: PreparedWork): NewReferences[] {
    const stored = new FieldReader(collection?.shapes ?? shapes)
    const written = new FieldReader(shapes)
    const news: NewReferences[] = []
    for (const write of writes) {
      const { old, live } = write
      if (live === undefined) continue
      const fields = live instanceof DocumentWrite ? written : stored
      fields.load(live)
      const values = this.#relations.map(({ field }) => fields.read(field))
      if (old !== undefined && !old.deleted) stored.load(old)
      for (const [at, relation] of this.#relations.entries()) {
        const known = old === undefined || old.deleted ? [] : referencesOf(relation, stored.read(relation.field))
        const ids = referencesOf(relation, values[at]).filter((id) => !known.includes(id))
        if (ids.length > 0) news.push({ write, relation, ids })
      }
    }
    return news
  }

  /** Ids that no stored document has, by collection. */
  #missing(
    transaction: WriteTransaction,
    collection: CollectionState | undefined,
    news: readonly NewReferences[],
  ): ReadonlyMap<string, ReadonlySet<string>> {
    const wanted = new Map<string, Set<string>>()
    for (const { relation, ids } of news) {
      const all = wanted.get(relation.to) ?? new Set()
      for (const id of ids) all.add(id)
      wanted.set(relation.to, all)
    }
    const found = together([...wanted], ([name, ids]) => {
      const isOwn = this.#relations[0]!.from === name
      const state = isOwn ? collection : this.#catalog.collection(transaction, name)
      return [name, state === undefined ? ids : withoutStored(new DocumentReader(transaction, state), ids)] as const
    })
    return new Map(found)
  }
}

function withoutStored(reader: DocumentReader, ids: ReadonlySet<string>): ReadonlySet<string> {
  const keys = new Map<Key, string>()
  const missing = new Set<string>()
  for (const id of ids) {
    const key = idKey(id)
    if (key === undefined) missing.add(id)
    else keys.set(key, id)
  }
  const sorted = [...keys.keys()].sort()
  reader.numbersOf(sorted).forEach((number, at) => {
    if (number === undefined) missing.add(keys.get(sorted[at]!)!)
  })
  return missing
}

/** Writes that are not refused yet whose references lead nowhere. Documents of the batch count in their own collection. */
function dangling(
  news: readonly NewReferences[],
  missing: ReadonlyMap<string, ReadonlySet<string>>,
  { writes }: PreparedWork,
  refused: Refusals,
): Refusals {
  const found = new Map<DocumentWrite, PannierError>()
  for (let before = -1; before < found.size;) {
    before = found.size
    const isLeft = (write: DocumentWrite): boolean => !refused.has(write) && !found.has(write)
    const batch = new Map(writes.filter(isLeft).map((write) => [write.id, write.live !== undefined]))
    for (const { write, relation, ids } of news) {
      if (!isLeft(write)) continue
      const isOwn = relation.from === relation.to
      const nowhere = ids.filter((id) => !((isOwn ? batch.get(id) : undefined) ?? !missing.get(relation.to)!.has(id)))
      if (nowhere.length > 0) found.set(write, leadsNowhere(relation, write.id, nowhere))
    }
  }
  return found
}

function leadsNowhere({ from, field, to }: Relation, id: string, missing: readonly string[]): PannierError {
  const message = `The relation '${field}' of '${from}' leads from '${id}' to '${missing[0]}', and there is no such document in '${to}'.`
  return new PannierError('PANNIER_RELATION_BROKEN', message, { details: { id, relation: field, missing } })
}
