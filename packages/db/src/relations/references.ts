/** Which ids a document refers to, and which documents refer to an id. */
import type { Key } from '../base/brand.ts'
import { decodeKey, prefixUpperBound } from '../codec/key-encoding.ts'
import type { BodyView } from '../document/body.ts'
import { indexTreeName, type CollectionState, type IndexDefinition } from '../document/catalog.ts'
import { DocumentReader, existingTree } from '../document/document-reader.ts'
import { encodeIndexValue, FieldReader } from '../index/index-key.ts'
import type { Snapshot, TreeReader } from '../kv/key-value-store.ts'
import { servesRelation } from './relation-index.ts'
import type { Relation } from './relation-graph.ts'

/** A field with ids of related documents. */
type IdField = Pick<Relation, 'field' | 'many'>

/** The ids in the value of a relation's field, as queries follow them. */
export function referencesOf({ many }: Pick<Relation, 'many'>, value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  if (!many || !Array.isArray(value)) return []
  return value.filter((one): one is string => typeof one === 'string')
}

/** The index that finds the documents which refer to an id; undefined while it is not built. */
export function indexOf(state: CollectionState, relation: Relation): IndexDefinition | undefined {
  return state.indexes.find((index) => index.builtTo === undefined && servesRelation(index, relation))
}

/** Finds documents by what one of their relations refers to. Reads may miss. */
export class Referrers<Followed extends IdField = Relation> {
  readonly relation: Followed
  readonly #reader: DocumentReader
  readonly #tree: TreeReader
  readonly #descending: boolean
  readonly #fields: FieldReader

  constructor(snapshot: Snapshot, state: CollectionState, relation: Followed, index: IndexDefinition) {
    this.relation = relation
    this.#reader = new DocumentReader(snapshot, state)
    this.#tree = existingTree(snapshot, indexTreeName(state.number, index.number))
    this.#descending = index.fields[0]!.descending
    this.#fields = new FieldReader(state.shapes)
  }

  /** Documents that refer to the id: all of them, or `limit`. */
  of(id: string, limit: number): BodyView[] {
    const found: BodyView[] = []
    const cursor = this.#tree.cursor(this.#rangeOf(id).range)
    for (let isMore = true; isMore && found.length < limit;) {
      const numbers: number[] = []
      while (numbers.length < limit - found.length && (isMore = cursor.next())) numbers.push(cursor.keyNumber)
      for (const body of this.#reader.bodiesOf(numbers)) if (this.idsIn(body).includes(id)) found.push(body)
    }
    return found
  }

  /** The ids to which the document refers. */
  idsIn(body: BodyView): readonly string[] {
    this.#fields.load(body)
    return referencesOf(this.relation, this.#fields.read(this.relation.field))
  }

  /** How many documents refer to the id. */
  count(id: string): number {
    const { range, isExact } = this.#rangeOf(id)
    return isExact ? this.#tree.count(range) : this.of(id, Infinity).length
  }

  /** Not exact: an index holds only the start of a long id, so other ids are in the range. */
  #rangeOf(id: string): { readonly range: { gte: Key; lt: Key | undefined }; readonly isExact: boolean } {
    const gte = encodeIndexValue(id, this.#descending) as Key
    return { range: { gte, lt: prefixUpperBound(gte) }, isExact: decodeKey(gte, 0, this.#descending).exact }
  }
}
